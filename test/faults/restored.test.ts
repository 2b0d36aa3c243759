// PostgreSQL is put back to an older state under living processes, without a word to them: they serve what it has now.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../candidates/questions.ts'
import { differingMemory } from '../failover/service.ts'
import { Baremetal, NEWEST } from '../support/baremetal.ts'
import { migrateDatabase } from '../support/templates.ts'
import { expectStatus } from '../support/placement.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { instances, Reservation } from '../support/reservation.ts'
import { type Server, startServer } from '../support/server.ts'

const CLASS = 'restored'
const HOUR_MS = 3_600_000

describe('processes whose PostgreSQL is restored in place', { timeout: 300_000 }, () => {
  let postgres: Postgres
  let database = ''
  const servers: Server[] = []
  const metal = new Baremetal()
  const leases = new Reservation()
  const { placement } = metal

  before(async () => {
    postgres = await startPostgres()
    database = await postgres.createDatabase('ledger')
    await migrateDatabase(database)
    for (const role of ['serve', 'api'] as const) servers.push(await startServer(database, {}, role))
    metal.origins = placement.origins = [servers[0]!.origin]
    leases.at(servers[0]!.origin)
  })
  after(async () => {
    metal.close()
    leases.close()
    for (const server of servers) await server.stop()
    await postgres?.stop()
  })

  const ready = () =>
    eventually(
      async () => Promise.all(servers.map(async ({ origin }) => (await fetch(`${origin}/readyz`)).status)),
      found => found.every(status => status === 200),
    )
  const copy = (from: string, to: string) => {
    rmSync(to, { recursive: true, force: true })
    execFileSync('cp', ['-a', from, to])
  }
  const allocated = async () => {
    const uuid = randomUUID()
    expectStatus(await metal.post('/v1/allocations', { uuid, resource_class: CLASS }, NEWEST), 201)
    const shown = await eventually(
      async () => (await metal.get(`/v1/allocations/${uuid}`, NEWEST)).body,
      ({ state }) => state !== 'allocating',
    )
    return [shown.state, shown.last_error]
  }
  const date = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  const start = Date.now() + 24 * HOUR_MS
  const booked = async () => {
    const dates = { start_date: date(start), end_date: date(start + HOUR_MS) }
    const wish = instances({ amount: 4, affinity: null, resource_properties: '' })
    return leases.post('/leases', { name: randomUUID(), ...dates, reservations: [wish] })
  }

  test('have in memory what the database has, and grant what is free again', async () => {
    const provider = await placement.provider({ VCPU: 5 })
    await metal.nodes(2, { resource_class: CLASS })
    await leases.host('host-0', { vcpus: 4 })
    const backup = `${postgres.data}.backup`
    await postgres.restart('fast', () => copy(postgres.data, backup))
    await ready()
    // What will be lost: some of all that is kept in memory, and revisions that the database reaches again only later.
    const consumers = Array.from({ length: 5 }, () => randomUUID())
    for (const consumer of consumers) expectStatus(await placement.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
    for (let i = 0; i < 2; i++) assert.deepEqual(await allocated(), ['active', null])
    expectStatus(await booked(), 201)
    const lost = await placement.provider({ VCPU: 1 })
    const looks = servers.map(({ origin }) =>
      fetch(`${origin}/holdfast/v1/status`, { headers: { 'x-auth-token': 'admin' } }),
    )
    for (const look of await Promise.all(looks)) assert.equal(look.status, 200)
    const { cursor } = (await newest(servers[0]!.origin)) as { cursor: string }
    await postgres.restart('immediate', () => copy(backup, postgres.data))
    await ready()
    const window = [start, start + 24 * HOUR_MS].map(at => new Date(at).toISOString()).join('/')
    const fresh = () => startServer(database, {}, 'api')
    assert.deepEqual(await differingMemory({ apis: servers, fresh }, window), [])
    for (const { origin } of servers) {
      const here = new Baremetal(origin)
      assert.deepEqual(await here.placement.usages(provider), { VCPU: 0 })
      expectStatus(await here.placement.get(`/resource_providers/${lost}`), 404)
      const { nodes } = expectStatus(await here.get('/v1/nodes?fields=instance_uuid', NEWEST), 200).body
      assert.deepEqual(
        nodes.map((node: { instance_uuid: string | null }) => node.instance_uuid),
        [null, null],
      )
      here.close()
      assert.match(await (await fetch(`${origin}/metrics`)).text(), /^holdfast_store_fallbacks_total [1-9]/m)
      const answer = await fetch(`${origin}/holdfast/v1/events?after=${encodeURIComponent(cursor)}`, {
        headers: { 'x-auth-token': 'admin' },
      })
      assert.equal(answer.status, 410)
    }
    for (const consumer of consumers) expectStatus(await placement.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
    for (let i = 0; i < 2; i++) assert.deepEqual(await allocated(), ['active', null])
    expectStatus(await booked(), 201)
    await placement.fsck()
  })
})

async function newest(origin: string): Promise<unknown> {
  const answer = await fetch(`${origin}/holdfast/v1/events`, { headers: { 'x-auth-token': 'admin' } })
  return answer.json()
}
