// Claims that are decided on memory and written to SQLite without a reading: whatever memory doesn't know, the rows decide.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Entry } from '../../src/audit/entry.ts'
import { recordAll } from '../../src/audit/record.ts'
import { systemClock } from '../../src/clock/clock.ts'
import type { ClaimRequest } from '../../src/ledger/claims/claim.ts'
import { ClaimQueue } from '../../src/ledger/claims/queue.ts'
import { Mirror } from '../../src/ledger/mirror.ts'
import { checkEverything } from '../../src/measure/fsck.ts'
import { Problem } from '../../src/problems/problem.ts'
import { migrateStore } from '../../src/process/migrate.ts'
import { SqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from '../candidates/questions.ts'
import { chance, clients } from './clients.ts'

const ENTRY: Entry = {
  at: 1,
  requestId: 'req-1',
  user: 'u',
  project: null,
  roles: '',
  address: '::1',
  action: 'allocations:update',
  outcome: 'done',
}

describe('claims decided on memory, on sqlite', () => {
  let folder: string
  let outside: DatabaseSync
  let store: SqliteStore
  let mirror: Mirror
  let queue: ClaimQueue<Entry>
  /** Transactions of the queue. */
  let writes: number

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-on-memory-'))
    const file = join(folder, 'ledger.db')
    store = new SqliteStore(file)
    await migrateStore(store)
    outside = new DatabaseSync(file, { timeout: 5_000 })
    mirror = new Mirror(store, () => {})
    store.onCommit(({ changes }) => mirror.absorb(changes))
    writes = 0
    const counted: Store = Object.assign(Object.create(store) as Store, {
      write: (work: Parameters<Store['write']>[0], options: Parameters<Store['write']>[1]) => {
        writes++
        return store.write(work, options)
      },
    })
    queue = new ClaimQueue<Entry>(counted, systemClock, { record: recordAll, onMemory: mirror })
  })
  afterEach(async () => {
    const findings = await checkEverything(store)
    outside.close()
    await store.close()
    rmSync(folder, { recursive: true })
    assert.deepEqual(
      findings.filter(({ violations }) => violations > 0),
      [],
    )
  })

  async function addProvider(total: number): Promise<string> {
    const uuid = randomUUID()
    outside.exec(`
      insert into providers (uuid, name, created_at) values ('${uuid}', '${uuid}', 0);
      update providers set root_id = id where uuid = '${uuid}';
      insert into inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio,
        capacity, ceiling, created_at)
      select p.id, c.id, ${total}, 0, 1, ${total}, 1, 1, ${total}, ${total}, 0 from providers p, resource_classes c
        where p.uuid = '${uuid}' and c.name in ('VCPU', 'MEMORY_MB')`)
    await mirror.load()
    return uuid
  }

  const claim = (provider: string, amount = 1, consumer: string = randomUUID()) => {
    const amounts = new Map([
      ['VCPU', amount],
      ['MEMORY_MB', amount],
    ])
    const who = { consumer, projectId: 'p', userId: 'u', type: 'INSTANCE', generation: null }
    const consumers = [{ ...who, resources: new Map([[provider, amounts]]) }]
    return { kind: 'replace', owner: null, consumers } satisfies ClaimRequest
  }
  const release = (consumer: string): ClaimRequest => ({ kind: 'release', consumer, owner: null })
  const rowOf = (provider: string) => {
    const found = outside
      .prepare(
        `select generation, used from providers p join inventories i on i.provider_id = p.id
           join resource_classes c on c.id = class_id where c.name = 'VCPU' and p.uuid = ?`,
      )
      .get(provider)
    return { ...found }
  }
  const remembered = (provider: string) => {
    const row = mirror.table.rowOfUuid(provider)
    return { generation: mirror.table.generation[row], used: mirror.table.column('VCPU')!.usedAt(row) }
  }
  const refusal = (kind: string) => (error: unknown) => error instanceof Problem && error.kind === kind
  const entries = () => outside.prepare('select count(*) as entries from log').get()!['entries']

  test('are one transaction with their neighbours, each with its entry, and memory follows', async () => {
    const provider = await addProvider(100)
    const consumer = randomUUID()
    await queue.submit(claim(provider, 3, consumer), ENTRY)
    const outcomes = await Promise.allSettled([
      queue.submit(claim(provider, 2), ENTRY),
      queue.submit(release(consumer), ENTRY),
      queue.submit(claim(provider, 200), ENTRY),
      queue.submit(claim(provider, 4), ENTRY),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal(writes, 2)
    assert.equal(entries(), 4)
    assert.deepEqual(rowOf(provider), { generation: 3, used: 6 })
    assert.deepEqual(remembered(provider), { generation: 3, used: 6 })
  })

  test('what memory does not know of a provider is found, each request is judged on the rows, and memory reads', async () => {
    const changes: [string, string | null][] = [
      ['update inventories set min_unit = 3, max_unit = 50', 'claim_violates_units'],
      ['update inventories set step_size = 7', 'claim_violates_units'],
      ['update inventories set max_unit = 1', 'claim_violates_units'],
      ['update inventories set blocked = 1', 'claim_exceeds_capacity'],
      ['update inventories set total = 1, capacity = 1, ceiling = 1', 'claim_exceeds_capacity'],
      [`update providers set dedicated_to = 'leases'`, 'claim_on_dedicated_provider'],
      ['delete from inventories', 'claim_without_inventory'],
      ['update providers set generation = generation + 1, revision = revision + 1', null],
    ]
    for (const [change, problem] of changes) {
      const provider = await addProvider(100)
      const which = `(select id from providers where uuid = '${provider}')`
      outside.exec(`${change} where ${change.includes('inventories') ? 'provider_id' : 'id'} = ${which}`)
      writes = 0
      const submitted = queue.submit(claim(provider, 2), ENTRY)
      if (problem) await assert.rejects(submitted, refusal(problem), change)
      else await submitted
      assert.equal(writes, 2, change)
      const isRoom = problem === null || problem === 'claim_on_dedicated_provider'
      await eventually(
        async () => mirror.table.column('VCPU')!.fits(mirror.table.rowOfUuid(provider), 2),
        fits => fits === isRoom,
      )
      outside.exec('update providers set dedicated_to = null')
    }
  })

  test('a consumer that is not new is refused, and its neighbours are granted', async () => {
    const provider = await addProvider(100)
    const consumer = randomUUID()
    await queue.submit(claim(provider, 1, consumer), ENTRY)
    const outcomes = await Promise.allSettled([
      queue.submit(claim(provider, 1, consumer), ENTRY),
      queue.submit(claim(provider), ENTRY),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    )
    assert.deepEqual(remembered(provider), { generation: 2, used: 2 })
    assert.equal(entries(), 2)
  })

  test('with changes from outside between them oversell nothing, and lose nothing', async () => {
    const capacity = 16
    const providers: string[] = []
    for (let i = 0; i < 6; i++) providers.push(await addProvider(capacity))
    const known: string[] = []
    let granted = 0
    await clients(32, async index => {
      const next = chance(index + 1)
      for (let i = 0; i < 25; i++) {
        const mine = known.length > 0 && next(3) === 0 ? known[next(known.length)]! : randomUUID()
        const isRelease = next(3) === 0
        const wanted = claim(providers[next(6)]!, 1 + next(2), mine)
        if (next(4) === 0) wanted.consumers.push(...claim(providers[next(6)]!).consumers)
        if (next(20) === 0) outside.exec('update providers set revision = revision + 1')
        try {
          await queue.submit(isRelease ? release(mine) : wanted, ENTRY)
          granted++
          if (!isRelease) known.push(mine)
        } catch (error) {
          assert.ok(error instanceof Problem, String(error))
        }
      }
    })
    assert.equal(entries(), granted)
    await mirror.load()
    for (const provider of providers) {
      assert.deepEqual(remembered(provider), rowOf(provider))
      assert.ok(remembered(provider).used! <= capacity)
    }
  })
})
