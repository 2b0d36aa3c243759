// The whole ledger is read in pages: the same, whatever their size, as provider by provider.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { Mirror } from '../../src/ledger/mirror.ts'
import { loadAll } from '../../src/ledger/load.ts'
import { createProvider } from '../../src/ledger/new-provider.ts'
import { deleteProvider, type Provider } from '../../src/ledger/providers.ts'
import { type RevisedSnapshot, snapshotsOf } from '../../src/ledger/snapshot.ts'
import { migrateStore } from '../../src/process/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { command } from '../../src/store/statement.ts'
import type { Store } from '../../src/store/store.ts'
import { run } from '../../src/store/transaction.ts'
import { sharedPostgres } from '../support/postgres.ts'

const addTrait = command((db, a: { provider: number; trait: number; origin: string }) =>
  db
    .insertInto('provider_traits')
    .values({ provider_id: sql`${a.provider}`, trait_id: sql`${a.trait}`, origin: sql`${a.origin}` } as never),
)
const addAggregate = command((db, a: { provider: number; aggregate: string }) =>
  db.insertInto('provider_aggregates').values({ provider_id: sql`${a.provider}`, aggregate: a.aggregate } as never),
)
const addInventory = command((db, a: { provider: number; total: number }) =>
  db.insertInto('inventories').values({
    provider_id: sql`${a.provider}`,
    class_id: 1,
    total: a.total,
    reserved: 0,
    min_unit: 1,
    max_unit: a.total,
    step_size: 1,
    allocation_ratio: 1.5,
    capacity: a.total,
    ceiling: a.total,
    created_at: 0,
  } as never),
)
const rename = command((db, a: { id: number; name: string }) =>
  db
    .updateTable('providers')
    .set({ name: a.name })
    .where('id', '=', a.id as never),
)

for (const [name, open] of [
  ['SQLite', async () => ({ url: 'sqlite::memory:', stop: async () => {} })],
  [
    'PostgreSQL',
    async () => {
      const postgres = await sharedPostgres()
      return { url: await postgres.createEmpty(), stop: () => postgres.stop() }
    },
  ],
] as const) {
  describe(`a load of everything on ${name}`, () => {
    let store: Store
    let stop: () => Promise<void>
    const providers: Provider[] = []

    before(async () => {
      const opened = await open()
      stop = opened.stop
      store = openStore(opened.url)
      await migrateStore(store)
      for (let i = 0; i < 9; i++) {
        const parentUuid = i % 3 === 2 ? providers[i - 2]!.uuid : null
        const uuid = randomUUID()
        const wanted = { uuid, name: `"host", \\ ${i} ü`, parentUuid }
        const made = await store.write(() => createProvider(wanted, 1))
        providers.push(made)
        const provider = made.id
        await store.write(function* () {
          if (i % 2 === 0) yield* run(addInventory({ provider, total: 7 + i }))
          if (i % 2 === 0) yield* run(addTrait({ provider, trait: 3, origin: 'placement' }))
          if (i % 4 === 0) yield* run(addTrait({ provider, trait: 1, origin: 'placement' }))
          for (let n = 0; n < i % 3; n++) yield* run(addAggregate({ provider, aggregate: randomUUID() }))
        })
      }
      const [gone] = providers.splice(4, 1)
      await store.write(() => deleteProvider(gone!.uuid))
    })
    after(async () => {
      await store.close()
      await stop()
    })

    test('gives the same in pages of any size', async () => {
      const expected = await store.read(() => snapshotsOf(providers.map(({ id }) => id)))
      expected.sort((a, b) => a.id - b.id)
      assert.equal(expected.length, 8)
      assert.ok(expected.some(({ traits, aggregates }) => traits.length === 2 && aggregates.length > 0))
      for (const size of [1, 2, 3, 7, 8, 9, 100]) {
        const found: RevisedSnapshot[] = []
        await store.read(() => loadAll(page => void found.push(...page), size))
        assert.deepEqual(found, expected, `pages of ${size}`)
      }
    })

    test('changes a table in use only where it differs, and forgets what is gone', async () => {
      const mirror = new Mirror(store, error => assert.fail(String(error)))
      await mirror.load()
      const { version } = mirror.table
      await mirror.load()
      assert.equal(mirror.table.version, version)
      const [first, second] = providers as [Provider, Provider]
      await store.write(() => run(rename({ id: first.id, name: 'another' })))
      await store.write(() => deleteProvider(second.uuid))
      await mirror.load()
      assert.equal(mirror.table.version, version + 1)
      assert.equal(mirror.table.name[mirror.table.rowOfId(first.id)], 'another')
      assert.equal(mirror.table.rowOfId(second.id), -1)
      assert.equal(mirror.table.size, 7)
    })
  })
}
