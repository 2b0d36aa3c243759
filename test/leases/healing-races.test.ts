// Two conductors that heal at the same time, on PostgreSQL: what is lost is made good once, and never with more than was booked.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Baremetal, waitFor } from '../support/baremetal.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { expectStatus } from '../support/placement.ts'
import { classOf, instances, Reservation, type Shown } from '../support/reservation.ts'
import { type Server, spawnServer } from '../support/server.ts'

const ROUNDS = 3

describe('two conductors that heal at once', () => {
  const [one, two, metal] = [new Reservation(), new Reservation(), new Baremetal()]
  const servers: Server[] = []
  let databases: Awaited<ReturnType<typeof sharedPostgres>> | null = null
  before(async () => {
    databases = await sharedPostgres()
    const database = await databases.createDatabase()
    for (const name of ['one', 'two']) {
      servers.push(await spawnServer(database, ['--test-clock', '--conductor-name', name]))
    }
    one.at(servers[0]!.origin)
    two.at(servers[1]!.origin)
    metal.origins = metal.placement.origins = one.origins
  })
  after(async () => {
    for (const client of [one, two, metal]) client.close()
    for (const server of servers) await server.stop()
    await databases?.stop()
  })
  const heal = () => Promise.all([one.advance(0), two.advance(0)])

  void test('move slots once, while servers are started and deleted on them', async () => {
    const amount = 3
    const pool = await one.pool(4)
    const wish = instances({ amount, resource_properties: pool.only })
    const lease = await one.lease([wish], { from: 1, to: 6_000 })
    await one.advance(2)
    await one.until(lease.id, 'ACTIVE')
    const [{ id }] = lease.reservations
    const turn = async (name: string, state: 'up' | 'down') =>
      expectStatus(await one.operate('POST', '/hypervisor-state', { name, state }), 200)
    for (let round = 0; round < ROUNDS; round++) {
      const running = (await Promise.all([one.server(id), two.server(id)])).filter(({ status }) => status === 'ACTIVE')
      const down: string = running[0]['OS-EXT-SRV-ATTR:hypervisor_hostname']
      await turn(down, 'down')
      const [, more] = await Promise.all([heal(), one.server(id)])
      await heal()
      const slots = Object.values(await one.slots()).map(on => on[id] ?? 0)
      assert.equal(
        slots.reduce((sum, count) => sum + count, 0),
        amount,
      )
      const totals: number[] = []
      for (const name of pool.names) totals.push((await one.inventories(name))[classOf(id)]?.total ?? 0)
      assert.ok(totals.reduce((sum, total) => sum + total, 0) <= amount, totals.join())
      await one.fsck()
      await turn(down, 'up')
      for (const { id: server } of [...running, more]) await one.compute.del(`/servers/${server}`, { version: null })
      await heal()
    }
    await one.end(lease.id)
  })

  void test('exchange a node once, and give another in its place', async () => {
    const resource_class = 'raced'
    for (let i = 0; i < 5; i++) {
      const node = await metal.node({ resource_class }, 'available')
      expectStatus(await one.operate('PUT', `/leasable-nodes/${node}`), 200, 201)
    }
    const wish = { resource_type: 'physical:node', resource_class, min: 1, max: 2 }
    const lease = await one.lease([wish], { from: 1, to: 6_000 })
    await one.advance(2)
    await one.until(lease.id, 'ACTIVE')
    const given = (shown: Shown): { node: string; allocation: string | null }[] => shown.reservations[0].nodes
    for (let round = 0; round < 2; round++) {
      const broken = given(await one.show(lease.id)).map(({ node }) => node)
      for (const node of broken) expectStatus(await metal.put(`/v1/nodes/${node}/maintenance`, {}), 202)
      const after = await waitFor('both are exchanged', async () => {
        await heal()
        const now = given(await one.show(lease.id))
        assert.equal(now.length, 2)
        return now.every(({ node, allocation }) => !broken.includes(node) && allocation !== null) && now
      })
      assert.equal((await metal.allocationsOf(resource_class)).length, after.length)
      await one.fsck()
      for (const node of broken) expectStatus(await metal.del(`/v1/nodes/${node}/maintenance`), 202)
    }
    await one.end(lease.id)
  })
})
