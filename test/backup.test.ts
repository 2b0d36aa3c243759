// A copy of the database taken while clients are at it is a ledger in order, from which service goes on.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { connect } from '../src/client/index.ts'
import { until } from './support/identity.ts'
import { expectStatus, Placement } from './support/placement.ts'
import { sharedPostgres } from './support/postgres.ts'
import { runHoldfast, spawnServer, startServer } from './support/server.ts'

const CLIENTS = 8

describe('a backup of SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-backup-'))
  const [file, copy] = [join(folder, 'holdfast.db'), join(folder, 'copy.db')]
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('under load has all that was granted before it began, and fsck finds nothing', async () => {
    const server = await spawnServer(`sqlite:${file}`)
    const api = new Placement(server.origin)
    const provider = await api.provider({ VCPU: 100_000 })
    const granted: string[] = []
    const over = new AbortController()
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!over.signal.aborted) {
        const consumer = randomUUID()
        expectStatus(await api.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
        granted.push(consumer)
      }
    })
    await sleep(300)
    const before = [...granted]
    const reader = new DatabaseSync(file)
    reader.exec(`vacuum into '${copy}'`)
    reader.close()
    await sleep(100)
    over.abort()
    await Promise.all(clients)
    assert.ok(granted.length > before.length, 'the load went on')
    await server.stop()
    api.close()

    const { code, stdout } = await runHoldfast(['fsck', '--database', `sqlite:${copy}`]).exit
    assert.equal(code, 0, stdout)
    const restored = await startServer(`sqlite:${copy}`)
    const again = new Placement(restored.origin)
    for (const consumer of before) {
      const { body } = await again.get(`/allocations/${consumer}`)
      assert.deepEqual(Object.keys(body.allocations), [provider])
    }
    expectStatus(await again.claim(randomUUID(), { [provider]: { VCPU: 1 } }), 204)
    again.close()
    await restored.stop()
  })

  test('restored after a lease should have ended, ends it', async () => {
    const [first, later] = [join(folder, 'lease.db'), join(folder, 'later.db')]
    const settings = { auth: 'none', placementPolicy: 'open' } as const
    const server = await startServer(`sqlite:${first}`, settings)
    const { nodes, leases } = await connect({ url: server.origin, env: {} })
    const { uuid } = await nodes.create({ driver: 'fake-hardware', name: 'n1', resource_class: 'gpu' })
    for (const [verb, state] of [
      ['manage', 'manageable'],
      ['provide', 'available'],
    ] as const) {
      await nodes.provision(uuid, verb)
      await until(
        () => nodes.show(uuid),
        node => node.provision_state === state,
      )
    }
    await fetch(`${server.origin}/holdfast/v1/leasable-nodes/n1`, { method: 'PUT' })
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16).replace('T', ' ')
    const reservation = { resource_type: 'physical:node', resource_class: 'gpu', min: 1, max: 1 }
    const { id } = await leases.create({
      name: 'x',
      start_date: 'now',
      end_date: inAnHour,
      reservations: [reservation],
    })
    const active = await until(
      () => leases.show(id),
      lease => lease.status === 'ACTIVE',
    )
    assert.equal(active.status, 'ACTIVE')
    new DatabaseSync(first).exec(`vacuum into '${later}'`)
    await server.stop()

    const database = new DatabaseSync(later)
    database.exec('update test_clock set ahead_ms = 2 * 3600000')
    database.close()
    const restored = await startServer(`sqlite:${later}`, { ...settings, testClock: true })
    const after = await connect({ url: restored.origin, env: {} })
    const ended = await until(
      () => after.leases.show(id),
      lease => lease.status === 'TERMINATED',
    )
    assert.equal(ended.status, 'TERMINATED')
    const { instance_uuid: instance } = await after.nodes.show(uuid)
    assert.equal(instance, null)
    assert.equal((await after.fsck()).violations, 0)
    await restored.stop()
  })
})

test('a database restored into another PostgreSQL, whose transactions count from elsewhere, is followed as any other', async () => {
  const postgres = await sharedPostgres()
  const database = await postgres.createDatabase()
  const first = await startServer(database)
  await first.stop()
  const sql = new Client({ connectionString: database })
  await sql.connect()
  // As a dump brings them: entries and a horizon from a server that had seen many more transactions.
  const insert = `insert into log (xid, at, user_id, roles, address, action, objects, outcome, providers, origin)`
  await sql.query(`${insert} values ('4000000000000', 0, '', '', '', '', '[]', 'done', '{1}', 'elsewhere'),
    ('3999999999999', 1, 'placed', '', '', 'x', '[]', 'done', '{1}', 'elsewhere'),
    ('4000000000001', 2, 'not placed', '', '', 'x', '[]', 'done', '{1}', 'elsewhere')`)
  const cursor = "'4000000000000:4000000000000:'::pg_snapshot"
  await sql.query(
    `insert into log_order select last + 1, last + 1, array[id], id, ${cursor} from log_head, log where user_id = 'placed'`,
  )
  await sql.query(`update log_start set cursor = ${cursor}, pruned = ${cursor}`)
  const [one, two] = [await startServer(database), await startServer(database)]
  const { rows } = await sql.query<{ user_id: string }>(
    `select user_id from log_order, unnest(entries) as entry, log where id = entry and origin = 'elsewhere' order by first`,
  )
  assert.deepEqual(rows, [{ user_id: 'placed' }, { user_id: 'not placed' }], 'each has one place')
  const [writer, reader] = [new Placement(one.origin), new Placement(two.origin)]
  await writer.provider({ VCPU: 4 })
  const { body } = await until(
    () => reader.get('/allocation_candidates?resources=VCPU:4'),
    answer => answer.body.allocation_requests.length === 1,
  )
  assert.equal(body.allocation_requests.length, 1)
  for (const api of [writer, reader]) api.close()
  for (const server of [one, two]) await server.stop()
  await sql.end()
  await postgres.stop()
})
