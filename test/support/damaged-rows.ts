// What a server does when JSON in the database can't be read: of one row of each table, and then of all of them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { JSON_COLUMNS } from '../../src/store/schema/json-columns.ts'
import { Baremetal, NEWEST } from './baremetal.ts'
import { as } from './callers.ts'
import type { Answer } from './client.ts'
import { expectStatus } from './placement.ts'
import { instances, Reservation } from './reservation.ts'
import { type Server, startServer } from './server.ts'
import type { Kind } from './stores.ts'

const ME = as('admin', 'p1')
const TABLES = Object.entries(JSON_COLUMNS).map(([table, columns]) => ({ table, columns: Object.keys(columns) }))
const node = (name: string) => `name = '${name}'`

/** The row of each table that is damaged while the others are whole. */
const ONE: Partial<Record<string, string>> = {
  nodes: node('free'),
  allocations: node('waits'),
  lease_reservations: `lease_id = (select id from leases where ${node('promised')})`,
  bookings: `lease_id = (select id from leases where ${node('promised')})`,
  flavors: `managed_by is null and ${node('gpu')}`,
  servers: 'id = (select min(id) from servers)',
  webhooks: 'id = (select min(id) from webhooks)',
  calendars: `kind = 'node'`,
  // They belong to what is whole, or are written anew.
  leasables: 'provider_id < 0',
  conductors: 'id < 0',
  log: 'id < 0',
}

const damage = (table: string, columns: readonly string[], where = '1 = 1') =>
  `update ${table} set ${columns.map(column => `${column} = 'x'`).join()} where ${where}`

const LISTS = {
  metal: [
    '/v1/nodes',
    '/v1/nodes/detail',
    '/v1/allocations',
    '/v1/reservations',
    '/v1/ports/detail',
    '/v1/portgroups/detail',
    '/v1/chassis/detail',
    '/v1/conductors?detail=True',
    '/v1/drivers?detail=True',
    '/v1/deploy_templates?detail=True',
    '/v1/volume/connectors?detail=True',
    '/v1/volume/targets?detail=True',
  ],
  compute: [
    '/servers/detail',
    '/flavors/detail',
    '/os-hypervisors/detail',
    '/limits',
    '/os-simple-tenant-usage?detailed=1',
    '/os-migrations',
  ],
  leases: ['/leases', '/os-hosts', '/os-hosts/allocations'],
  operator: [
    '/status',
    '/queue',
    '/queue/projects',
    '/audit',
    '/webhooks',
    '/calendars',
    '/capacity',
    '/health',
    '/quotas/p1',
    '/leasable-nodes',
    '/fsck',
  ],
  placement: ['/resource_providers', '/allocation_candidates?resources=VCPU:1'],
}

export function answersAndGoesOn(address: () => string, kind: Kind): void {
  let server: Server
  const [api, metal] = [new Reservation(), new Baremetal()]

  async function start(): Promise<void> {
    server = await startServer(address(), { testClock: true, webhookAllow: '127.0.0.1' })
    api.at(server.origin)
    metal.origins = metal.placement.origins = [server.origin]
  }
  async function write(statements: readonly string[]): Promise<void> {
    const store = openStore(address())
    await store.script(async run => {
      // Which a trigger would refuse.
      const [trigger] = kind === 'sqlite' ? await run("select sql from sqlite_master where name = 'bookings_stay'") : []
      await run(trigger ? 'drop trigger bookings_stay' : 'set local session_replication_role = replica')
      for (const sql of statements) await run(sql)
      if (trigger) await run(String(trigger['sql']))
    })
    await store.close()
  }
  before(async () => {
    // With work that nobody can read, the node would be locked.
    const some = (columns: readonly string[]) => columns.filter(column => column !== 'transition')
    await write(TABLES.map(({ table, columns }) => damage(table, some(columns), ONE[table])))
    await start()
  })
  after(async () => {
    api.close()
    metal.close()
    await server.stop()
  })

  const asked = (): [string, Promise<Answer>][] =>
    Object.entries(LISTS).flatMap(([name, paths]) =>
      paths.map((path): [string, Promise<Answer>] => [`${name} ${path}`, ask(name, path)]),
    )
  function ask(name: string, path: string): Promise<Answer> {
    if (name === 'metal') return metal.get(path, { ...NEWEST, ...ME })
    if (name === 'compute') return api.compute.get(path, ME)
    if (name === 'leases') return api.get(path, ME)
    return name === 'operator' ? api.operate('GET', path, undefined, ME) : api.placement.get(path, ME)
  }
  async function failures(): Promise<string[]> {
    const found: string[] = []
    for (const [name, answer] of asked()) {
      const { status, body } = await answer
      if (status !== 200) found.push(`${name}: ${status} ${JSON.stringify(body).slice(0, 300)}`)
    }
    return found
  }

  test('a row that can’t be read hides no list: it is there, with what can be read', async () => {
    assert.deepEqual(await failures(), [])
    const { allocations } = expectStatus(await metal.get('/v1/allocations', NEWEST), 200).body
    const waits = allocations.find(({ name }: { name: string }) => name === 'waits')
    assert.deepEqual([waits.traits, waits.candidate_nodes, waits.extra], [[], [], {}])
    assert.ok(allocations.some(({ name }: { name: string }) => name === 'had'))
    const { nodes } = expectStatus(await metal.get('/v1/nodes/detail', NEWEST), 200).body
    assert.deepEqual(nodes.find(({ name }: { name: string }) => name === 'free').extra, {})
    assert.deepEqual(nodes.find(({ name }: { name: string }) => name === 'had').extra, { rack: 'r1' })
    const { leases } = expectStatus(await api.get('/leases', ME), 200).body
    const promised = leases.find(({ name }: { name: string }) => name === 'promised')
    assert.equal(promised.reservations[0].min, 0)
  })

  test('it is told: by fsck with its key, and counted', async () => {
    const { invariants } = expectStatus(await api.operate('GET', '/fsck', undefined, ME), 200).body
    const told = invariants.filter(({ violations }: { violations: number }) => violations > 0)
    const names: string[] = told.map(({ invariant }: { invariant: string }) => invariant)
    assert.ok(
      names.some(name => /JSON text of allocations .*\(not traits of \d+; candidate_nodes of \d+/.test(name)),
      names.join('\n'),
    )
    const metrics = await (await fetch(`${server.origin}/metrics`)).text()
    assert.match(metrics, /holdfast_unreadable_texts_total\{what="a list of texts"\} [1-9]/)
  })

  test('what would decide by it refuses in words, and changes nothing', async () => {
    const { leases } = expectStatus(await api.get('/leases', ME), 200).body
    const { id } = leases.find(({ name }: { name: string }) => name === 'promised')
    const said = expectStatus(await api.del(`/leases/${id}`, ME), 409).body
    assert.match(JSON.stringify(said), /damaged in the database: what is stored is not the terms of a reservation/)
    expectStatus(await api.get(`/leases/${id}`, ME), 200)
    const patch = [{ op: 'add', path: '/extra/a', value: 1 }]
    const answer = await metal.patch('/v1/nodes/free', patch, NEWEST)
    assert.match(JSON.stringify(expectStatus(answer, 409).body), /damaged in the database/)
  })

  test('the others go on: allocations are given, leases end, webhooks are told', async () => {
    const wish = { name: 'new', resource_class: 'metal', expires_at: '1h' }
    expectStatus(await metal.post('/v1/allocations', wish, { ...NEWEST, ...ME }), 201)
    assert.equal((await metal.settled('new')).state, 'active')
    const { id } = await api.lease([instances()], { from: 1, to: 10, name: 'short' }, ME)
    await api.advance(12)
    await api.until(id, 'TERMINATED')
    // Nobody knows what this one asked for, so it is refused when its time to wait is over.
    await api.advance(21 * 60)
    const refused = await metal.settled('waits')
    assert.match(refused.last_error, /its row in the database is damaged/)
    const { leases } = expectStatus(await api.get('/leases', ME), 200).body
    const statusOf = (name: string) => leases.find((one: { name: string }) => one.name === name).status
    assert.deepEqual([statusOf('running'), statusOf('promised')], ['TERMINATED', 'PENDING'])
  })

  test('an end that is written beside an allocation’s claims takes nothing from it', async () => {
    const { uuid: had } = await metal.allocation('had')
    await write([`update consumers set expires_at = 1 where uuid = '${had}'`])
    const before = await metal.placement.claims(had)
    await api.advance(1)
    // Someone who finds no room looks for those who have lapsed.
    const wish = { name: 'greedy', resource_class: 'metal', expires_at: '1h', traits: ['CUSTOM_FAST'] }
    expectStatus(await metal.post('/v1/allocations', wish, { ...NEWEST, ...ME }), 201)
    assert.equal((await metal.settled('greedy')).state, 'error')
    assert.deepEqual(await metal.placement.claims(had), before)
    assert.ok(Object.keys(before).length > 0)
  })

  test('if nothing at all can be read, still no answer is 500', async () => {
    await server.stop()
    const all = TABLES.filter(({ table }) => table !== 'log')
    await write(all.map(({ table, columns }) => damage(table, columns)))
    await start()
    assert.deepEqual(await failures(), [])
  })
}
