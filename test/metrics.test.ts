// What Prometheus is told about what there is: nodes, allocations, reservations, leases, servers, conductors.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gauges } from '../src/measure/census.ts'
import { until, usersText } from './support/identity.ts'
import { sharedPostgres } from './support/postgres.ts'
import { runHoldfast, spawnServer, startServer } from './support/server.ts'
import { eachShell } from './cli/person.ts'

const metricsAt = async (origin: string) => (await fetch(`${origin}/metrics`)).text()

/** The number behind a name and its labels, as they stand in the text. */
function valueOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find(each => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

eachShell('metrics', person => {
  test('count nodes, allocations, reservations, leases, servers and conductors by state, with a zero for what could be', async () => {
    const holdfast = await person.library()
    for (const name of ['m1', 'm2', 'm3']) await person.node(name)
    await holdfast.nodes.create({ driver: 'fake-hardware', name: 'm4', resource_class: 'gpu' })
    await holdfast.allocations.create({ resource_class: 'gpu', candidate_nodes: ['m1'] })
    await holdfast.allocations.create({ resource_class: 'none-of-it', name: 'in-vain' })
    await holdfast.allocations.create({ resource_class: 'none-of-it', wait_until: '10m' })
    await holdfast.reservations.create({ instance_uuid: crypto.randomUUID(), node_uuid: ['m2'] })
    await until(
      () => holdfast.allocations.show('in-vain'),
      ({ state }) => state === 'error',
    )
    const text = await metricsAt(person.origin)
    for (const name of Object.keys(gauges)) assert.match(text, new RegExp(`^${name}[ {]`, 'm'), name)
    for (const [series, value] of [
      ['holdfast_nodes{provision_state="available",maintenance="false"}', 3],
      ['holdfast_nodes{provision_state="enroll",maintenance="false"}', 1],
      ['holdfast_allocations{state="active"}', 1],
      ['holdfast_allocations{state="error"}', 1],
      ['holdfast_allocations{state="allocating"}', 1],
      ['holdfast_allocation_seconds_count{outcome="active"}', 1],
      ['holdfast_allocation_seconds_count{outcome="error"}', 1],
      ['holdfast_reservations{state="active"}', 1],
      ['holdfast_reservations{state="expired"}', 0],
      ['holdfast_conductors{state="alive"}', 1],
      ['holdfast_conductors{state="silent"}', 0],
      ['holdfast_servers{status="ERROR"}', 0],
      ['holdfast_leases{status="ACTIVE"}', 0],
      ['holdfast_leases_overdue', 0],
      ['holdfast_lease_events_late', 0],
    ] as const) {
      assert.equal(valueOf(text, series), value, series)
    }
    assert.ok(valueOf(text, 'holdfast_allocation_oldest_seconds')! > 0)
  })

  test('what is counted in the database is counted anew only after a while', async () => {
    const { nodes, allocations } = await person.library()
    const before = valueOf(await metricsAt(person.origin), 'holdfast_allocations{state="error"}')
    await allocations.delete('in-vain')
    await nodes.startMaintenance('m4')
    const text = await metricsAt(person.origin)
    assert.equal(valueOf(text, 'holdfast_allocations{state="error"}'), before)
    assert.equal(
      valueOf(text, 'holdfast_nodes{provision_state="enroll",maintenance="true"}'),
      1,
      'memory is up to date',
    )
  })

  test('count what clients were refused, by kind', async () => {
    const before = valueOf(await metricsAt(person.origin), 'holdfast_problems_total{kind="metal_not_found"}') ?? 0
    await assert.rejects((await person.library()).nodes.show('nobody'))
    assert.equal(valueOf(await metricsAt(person.origin), 'holdfast_problems_total{kind="metal_not_found"}'), before + 1)
  })

  test('measure how late leases begin', async () => {
    const { leases } = await person.library()
    const enrolled = await fetch(`${person.origin}/holdfast/v1/leasable-nodes/m3`, { method: 'PUT' })
    assert.equal(enrolled.status, 200)
    const reservation = { resource_type: 'physical:node', resource_class: 'gpu', min: 1, max: 1 }
    await leases.create({ name: 'now', start_date: 'now', end_date: '2090-01-01 00:00', reservations: [reservation] })
    const series = 'holdfast_lease_event_late_seconds_count{event="start_lease"}'
    const text = await until(
      () => metricsAt(person.origin),
      each => valueOf(each, series) === 1,
    )
    assert.equal(valueOf(text, series), 1)
    assert.ok(valueOf(text, series.replace('_count', '_sum'))! < 60)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

test('a conductor by itself says how it is where it is told to, and what it took over', async () => {
  const postgres = await sharedPostgres()
  const database = await postgres.createDatabase()
  const server = await spawnServer(database, ['--take-over-ms', '3000', '--auth', 'none'])
  const words = [
    'conductor',
    '--database',
    database,
    '--conductor-port',
    String(await freePort()),
    '--take-over-ms',
    '3000',
  ]
  const conductor = runHoldfast([...words, '--conductor-name', 'second'])
  try {
    const said = await until(
      async () => conductor.stdout(),
      text => text.includes('/metrics'),
    )
    const origin = /(http\S+)\/metrics/.exec(said)![1]!
    assert.equal((await fetch(`${origin}/healthz`)).status, 200)
    assert.equal((await fetch(`${origin}/readyz`)).status, 200)
    assert.ok(valueOf(await metricsAt(origin), 'holdfast_conductors{state="alive"}')! > 0)
    assert.equal((await fetch(`${origin}/placement/`)).status, 404)
    await server.kill9()
    const text = await until(
      () => metricsAt(origin),
      each => (valueOf(each, 'holdfast_take_overs_total{what="conductor"}') ?? 0) > 0,
    )
    assert.ok(valueOf(text, 'holdfast_take_overs_total{what="conductor"}')! > 0)
  } finally {
    await server.kill9()
    conductor.child.kill('SIGTERM')
    await conductor.exit
    await postgres.stop()
  }
})

test('what strangers ask for makes no new series', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-metrics-'))
  const users = join(folder, 'users.yaml')
  writeFileSync(users, await usersText())
  const server = await startServer('sqlite::memory:', { auth: 'password', users })
  t.after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })
  const lines = async () =>
    (await metricsAt(server.origin))
      .split('\n')
      .filter(line => line.includes('_count{method=') && !line.includes('/metrics'))
  for (const method of ['GET', 'PROPFIND', 'MKCOL']) {
    await fetch(`${server.origin}/baremetal/v1/nodes`, { method, headers: { 'x-auth-token': 'junk' } })
  }
  const before = (await lines()).length
  for (const path of ['nodes/a', 'nodes/a/ports', 'chassis', 'ports', 'allocations', 'drivers', 'conductors']) {
    for (const method of ['GET', 'PROPFIND', 'LOCK', 'SEARCH']) {
      await fetch(`${server.origin}/baremetal/v1/${path}`, { method })
    }
  }
  assert.equal((await lines()).length, before)
})

test('metrics can have a port of their own, and ask for a token', async () => {
  const port = await freePort()
  const server = await startServer('sqlite::memory:', { metricsPort: port, metricsToken: 's3cret' })
  const status = async (url: string, token?: string) =>
    (await fetch(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })).status
  const aside = `http://127.0.0.1:${port}`
  assert.equal(await status(`${server.origin}/metrics`, 's3cret'), 404)
  assert.deepEqual([await status(`${aside}/metrics`), await status(`${aside}/metrics`, 'wrong')], [401, 401])
  assert.equal(await status(`${aside}/metrics`, 's3cret'), 200)
  assert.deepEqual([await status(`${aside}/healthz`), await status(`${aside}/readyz`)], [200, 200])
  await server.stop()
  await assert.rejects(fetch(`${aside}/healthz`))
})
