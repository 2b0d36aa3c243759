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

  test('says of the traits that are there whose they are: the node’s, or Placement’s', async () => {
    const store = openStore(await databases.createEmpty())
    await migrateBefore(store, '0036')
    await store.script(async run => {
      await run(`insert into providers (id, uuid, name, root_id, managed_by, created_at)
        values (1, 'n', 'n', 1, 'baremetal', 0), (2, 'h', 'h', 2, null, 0), (3, 'c', 'c', 3, 'leases', 0)`)
      await run("insert into traits (id, name, created_at) values (1, 'A', 0)")
      await run('insert into provider_traits values (1, 1), (2, 1), (3, 1)')
    })
    await migrate(store, 0)
    const after = await store.script(run => run('select origin from provider_traits order by provider_id'))
    assert.deepEqual(
      after.map(({ origin }) => origin),
      ['baremetal', 'placement', 'placement'],
    )
    await store.close()
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

  test('keeps the reservations and their bookings when their types grow by one', async () => {
    const store = openStore(await databases.createEmpty())
    await migrateBefore(store, '0037')
    await store.script(async run => {
      await run(`insert into leases (id, name, project_id, user_id, start_at, end_at, status, degraded, created_at)
        values ('l', 'l', 'p', 'u', 0, 9, 'PENDING', 0, 0)`)
      await run(`insert into providers (id, uuid, name, root_id, generation, created_at, updated_at)
        values (1, 'u1', 'h1', 1, 0, 0, 0)`)
      await run(`insert into leasables (provider_id, kind, name, reservation_provider, reservable, vcpus_ceiling,
        memory_mb_ceiling, disk_gb_ceiling, created_at) values (1, 'host', 'h1', 'c1', 1, 4, 4, 4, 0)`)
      for (const [position, type] of ['virtual:instance', 'physical:host'].entries()) {
        await run(`insert into lease_reservations (id, lease_id, position, resource_type, status, terms,
          missing_resources, resources_changed, created_at) values ('r${position}', 'l', ${position}, '${type}', 'pending', '{}', 0, 0, 0)`)
      }
      await run(`insert into bookings (reservation_id, provider_id, lease_id, slots, is_whole, vcpus, memory_mb, disk_gb,
        start_at, end_at, free_at) values ('r0', 1, 'l', 1, 0, 1, 1, 1, 0, 9, 9)`)
    })
    await migrate(store, 0)
    const insert = (id: string, type: string) =>
      store.script(run =>
        run(`insert into lease_reservations (id, lease_id, position, resource_type, status, terms, missing_resources,
          resources_changed, created_at) values ('${id}', 'l', 9, '${type}', 'pending', '{}', 0, 0, 0)`),
      )
    await assert.rejects(insert('x', 'virtual:nothing'))
    await insert('r2', 'flavor:instance')
    const found = await store.script(run => run('select id, resource_type from lease_reservations order by id'))
    assert.deepEqual(
      found.map(row => [row['id'], row['resource_type']]),
      [
        ['r0', 'virtual:instance'],
        ['r1', 'physical:host'],
        ['r2', 'flavor:instance'],
      ],
    )
    const [booking] = await store.script(run => run('select reservation_id, extras from bookings'))
    assert.deepEqual({ ...booking }, { reservation_id: 'r0', extras: null })
    await assert.rejects(store.script(run => run("delete from lease_reservations where id = 'r0'")))
    await store.close()
  })
})
