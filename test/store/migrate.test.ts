// holdfast migrate, and who insists on it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checkAudit } from '../../src/audit/fsck.ts'
import { type AuditRow, entriesFrom, logEnds } from '../../src/audit/order.ts'
import { sealNext, sealOf } from '../../src/audit/seals.ts'
import { jsonText } from '../../src/shared/json.ts'
import { migrate, migrationsOf } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { log } from '../../src/store/transaction.ts'
import { Placement } from '../support/placement.ts'
import { runHoldfast, spawnServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

/** As a version left it that knew nothing of this migration and what came after. */
function migrateBefore(store: Store, end: string): Promise<void> {
  const folder = new URL('../../src/store/migrations/', import.meta.url)
  return store.script(async run => {
    await run('create table migrations (name text primary key, applied_at text not null)')
    for (const name of migrationsOf(store.dialect).filter(name => name < end)) {
      await run(readFileSync(new URL(`${name}.${store.dialect}.sql`, folder), 'utf8'))
      await run(`insert into migrations values ('${name}', '')`)
    }
  })
}

eachDatabase('holdfast migrate', databases => {
  test('is what `api` and `fsck` ask for, may be run twice, and makes them content', async () => {
    const database = await databases.createEmpty()
    for (const command of ['api', 'fsck']) {
      const refused = await runHoldfast([command, '--port', '0', '--database', database]).exit
      assert.equal(refused.code, 2, refused.stderr)
      assert.match(refused.stderr, /^holdfast: .*run: holdfast migrate/)
    }

    const first = await runHoldfast(['migrate', '--database', database]).exit
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /0001-ledger/)
    const second = await runHoldfast(['migrate', '--database', database]).exit
    assert.equal(second.code, 0)
    assert.match(second.stdout, /was up to date/)

    const server = await spawnServer(database, [], 'api')
    const api = new Placement(server.origin)
    await api.provider({ VCPU: 1 })
    api.close()
    assert.equal((await server.terminate()).code, 0)
    assert.equal((await runHoldfast(['fsck', '--database', database]).exit).code, 0)
  })

  test('from two processes at once brings the database up once', async () => {
    const database = await databases.createEmpty()
    const both = [1, 2].map(() => runHoldfast(['migrate', '--database', database]).exit)
    const exits = await Promise.all(both)
    for (const { code, stderr } of exits) assert.equal(code, 0, stderr)
    assert.equal(exits.filter(({ stdout }) => stdout.includes('0001-ledger')).length, 1)
  })

  test('makes the audit a log with an order; its seals hold, and what had none yet is sealed next', async () => {
    const store = openStore(await databases.createEmpty())
    await migrateBefore(store, '0021')
    const row = (id: number, user: string): AuditRow => ({
      id,
      at: id,
      request_id: null,
      user_id: user,
      project_id: null,
      roles: '',
      address: '',
      action: 'a',
      objects: jsonText([]),
      outcome: 'done',
    })
    const sealed = [[row(5, 'x'), row(7, 'y')], [row(8, 'z')]]
    await store.script(async run => {
      let seal = 'pruned'
      for (const [i, rows] of sealed.entries()) {
        seal = sealOf(seal, rows)
        await run(`insert into audit_seals values (${i + 3}, ${rows.length}, '${seal}', 0)`)
        for (const { id, user_id } of rows) {
          await run(
            `insert into audit values (${id}, ${id}, null, '${user_id}', null, '', '', 'a', '[]', 'done', ${i + 3})`,
          )
        }
      }
      await run("insert into audit values (9, 9, null, 'fresh', null, '', '', 'a', '[]', 'done', null)")
      await run(`update audit_chain set anchor_id = 2, anchor_seal = 'pruned', head_id = 4, head_seal = '${seal}'`)
    })
    await migrate(store, 0)
    assert.equal((await checkAudit(store)).violations, 0)
    const { oldest, newest } = await store.read(() => logEnds())
    const users = async () => (await store.read(() => entriesFrom(oldest, 100))).map(entry => entry.user_id)
    assert.deepEqual(await users(), ['x', 'y', 'z', 'fresh'])
    assert.equal(await store.write(() => sealNext(0)), 1)
    assert.equal((await checkAudit(store)).violations, 0)
    await store.write(() => log([row(0, 'next')]))
    await store.ordered()
    assert.deepEqual(await users(), ['x', 'y', 'z', 'fresh', 'next'])
    assert.equal((await store.read(() => logEnds())).newest, newest + 1)
    await store.close()
  })

  test('gives whole hosts that are leased their flavor, also where someone has made one of that id or name', async () => {
    const store = openStore(await databases.createEmpty())
    await migrateBefore(store, '0014')
    await store.script(async run => {
      await run("insert into leases values ('l', 'l', 'p', 'u', 0, 9, 'ACTIVE', 0, 0, 0, null)")
      for (const [position, id] of ['plain', 'sameid', 'samename'].entries()) {
        await run(`insert into lease_reservations
          values ('${id}', 'l', ${position}, 'physical:host', 'active', '{}', 0, 0, 0, null)`)
      }
      for (const [id, name] of [
        ['sameid', 'by hand'],
        ['other', 'reservation:samename'],
      ]) {
        await run(`insert into flavors values ('${id}', '${name}', 9, 9, 9, 0, 0, 1, 1, 0, '{}', null, 0)`)
      }
      await run("insert into flavor_access values ('sameid', 'p'), ('sameid', 'q')")
    })
    await migrate(store, 0)
    const [flavors, access] = await store.script(async run => [
      await run('select id, name, is_public, managed_by from flavors order by id'),
      await run('select flavor_id, project_id from flavor_access order by flavor_id'),
    ])
    const ours = (id: string) => ({ id, name: `reservation:${id}`, is_public: 0, managed_by: 'leases' })
    const other = { id: 'other', name: 'reservation:samename of other', is_public: 1, managed_by: null }
    assert.deepEqual(
      flavors.map(row => ({ ...row })),
      [other, ours('plain'), ours('sameid'), ours('samename')],
    )
    assert.deepEqual(
      access.map(row => ({ ...row })),
      ['plain', 'sameid', 'samename'].map(flavor_id => ({ flavor_id, project_id: 'p' })),
    )
    await store.close()
  })
})
