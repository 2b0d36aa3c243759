// physical:node, ours: bare metal nodes for a window, booked by the calendar and allocated while the lease runs.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { Baremetal, expectFault } from '../support/baremetal.ts'
import type { Answer } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { as, dateAt, eachReservation, expectError, type Shown } from '../support/reservation.ts'

const alice = as('alice', 'p1')

eachReservation('leases of nodes', api => {
  const metal = new Baremetal()
  before(() => (metal.origins = metal.placement.origins = api.origins))
  after(() => metal.close())

  let classes = 0
  /** Available nodes of a class of their own, enrolled for leasing. */
  async function enrolled(count: number, traits: readonly string[] = []) {
    const resource_class = `class-${++classes}`
    const nodes: string[] = []
    for (let i = 0; i < count; i++) {
      const node = await metal.node({ resource_class }, 'available')
      if (traits.length > 0) expectStatus(await metal.put(`/v1/nodes/${node}/traits`, { traits }), 200, 204)
      expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201, 204)
      nodes.push(node)
    }
    return { resource_class, nodes }
  }
  const wanted = (resource_class: string, more: object = {}) => [
    { resource_type: 'physical:node', resource_class, min: 1, max: 1, ...more },
  ]
  const nodesOf = (lease: Shown): string[] => lease.reservations[0].nodes.map((each: Shown) => each.node)
  const allocate = async (body: object): Promise<Shown> => {
    const options = { version: '1.83' }
    const created: Answer = expectStatus(await metal.post('/v1/allocations', body, options), 201)
    const deadline = performance.now() + 10_000
    for (;;) {
      const { body: shown } = await metal.get(`/v1/allocations/${created.body.uuid}`, options)
      if (shown.state !== 'allocating') return shown
      assert.ok(performance.now() < deadline, 'still allocating')
    }
  }

  void test('a lease books nodes of a class, and shows which', async () => {
    const { resource_class, nodes } = await enrolled(2)
    const lease = await api.lease(wanted(resource_class, { max: 3 }))
    const [reservation] = lease.reservations
    assert.equal(reservation.resource_type, 'physical:node')
    assert.deepEqual(
      [reservation.resource_class, reservation.traits, reservation.min, reservation.max],
      [resource_class, [], 1, 3],
    )
    const shown = await api.show(lease.id)
    assert.deepEqual(lease, shown)
    assert.deepEqual(nodesOf(shown).toSorted(), nodes.toSorted())
    assert.deepEqual(
      shown.reservations[0].nodes.map((each: Shown) => each.allocation),
      [null, null],
    )
    expectError(await api.tryLease(wanted(resource_class)), 409)
    await api.end(lease.id)
  })

  void test('only enrolled nodes can be booked, with the traits that are asked for', async () => {
    const { resource_class, nodes } = await enrolled(1, ['CUSTOM_RED'])
    await metal.node({ resource_class }, 'available')
    expectError(await api.tryLease(wanted(resource_class, { min: 2, max: 2 })), 409)
    expectError(await api.tryLease(wanted(resource_class, { traits: ['CUSTOM_BLUE'] })), 409)
    expectError(await api.tryLease(wanted('no-such-class')), 409)
    const lease = await api.lease(wanted(resource_class, { traits: ['CUSTOM_RED'] }))
    assert.deepEqual(nodesOf(await api.show(lease.id)), nodes)
    await api.end(lease.id)
  })

  void test('back to back, and never twice at once', async () => {
    const { resource_class } = await enrolled(1)
    const now = await api.now()
    const window = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const leases = [
      await api.lease(wanted(resource_class), window(60, 120)),
      await api.lease(wanted(resource_class), window(120, 180)),
    ]
    expectError(await api.tryLease(wanted(resource_class), window(119, 121)), 409)
    for (const { id } of leases) await api.end(id)
  })

  void test('while it runs the nodes are allocated to its project, and free again at the end', async () => {
    const { resource_class, nodes } = await enrolled(1)
    const [node] = nodes as [string]
    const lease = await api.lease(wanted(resource_class), { from: 10, to: 70 }, alice)
    assert.equal((await metal.show(node)).instance_uuid, null)
    await api.advance(11)
    const active = await api.until(lease.id, 'ACTIVE')
    const [{ allocation }] = active.reservations[0].nodes
    assert.equal((await metal.show(node)).instance_uuid, allocation)
    const { body } = expectStatus(await metal.get(`/v1/allocations/${allocation}`), 200)
    assert.deepEqual([body.state, body.node_uuid, body.owner], ['active', node, 'p1'])
    await api.fsck()
    await api.advance(60)
    await api.until(lease.id, 'TERMINATED')
    assert.equal((await metal.show(node)).instance_uuid, null)
    expectStatus(await metal.get(`/v1/allocations/${allocation}`), 404)
    await api.end(lease.id)
  })

  void test('a running lease keeps its nodes when its end moves, and gives them back at the new one', async () => {
    const { resource_class, nodes } = await enrolled(1)
    const [node] = nodes as [string]
    const lease = await api.lease(wanted(resource_class), { from: 10, to: 70 }, alice)
    await api.advance(11)
    const before = (await api.until(lease.id, 'ACTIVE')).reservations[0].nodes
    for (const minutes of [120, 40]) {
      const end_date = dateAt(await api.now(), minutes)
      expectStatus(await api.put(`/leases/${lease.id}`, { end_date }), 200)
      assert.deepEqual((await api.show(lease.id)).reservations[0].nodes, before)
      await api.fsck()
    }
    expectStatus(await api.put(`/leases/${lease.id}`, { end_date: 'now' }), 200)
    await api.until(lease.id, 'TERMINATED')
    assert.equal((await metal.show(node)).instance_uuid, null)
    await api.end(lease.id)
  })

  void test('a node in use at the end is torn down first', async () => {
    const { resource_class, nodes } = await enrolled(1)
    const [node] = nodes as [string]
    const lease = await api.lease(wanted(resource_class), { from: 10, to: 70 })
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    await metal.go(node, 'active', 'active')
    await api.advance(60)
    await api.until(lease.id, 'TERMINATED')
    assert.equal((await metal.until(node, 'available')).instance_uuid, null)
    await api.end(lease.id)
  })

  void test('an allocation without an end never gets an enrolled node; one with an end, before the next booking', async () => {
    const { resource_class, nodes } = await enrolled(1)
    const [node] = nodes as [string]
    const lease = await api.lease(wanted(resource_class), { from: 60, to: 120 })
    assert.equal((await allocate({ resource_class })).state, 'error')
    assert.equal((await allocate({ resource_class, expires_at: '2h' })).state, 'error')
    const short = await allocate({ resource_class, expires_at: '10m' })
    assert.deepEqual([short.state, short.node_uuid], ['active', node])
    expectStatus(await metal.del(`/v1/allocations/${short.uuid}`), 204)
    await api.end(lease.id)
  })

  void test('a hold is refused on an enrolled node, since an instance without an end could never have it', async () => {
    const { nodes } = await enrolled(1)
    const body = { instance_uuid: randomUUID(), node_uuid: nodes, expires_at: '10m' }
    const refused = await metal.post('/v1/reservations', body, { version: '1.83' })
    expectFault(refused, 409, /enrolled for leasing/)
  })

  void test('who asks for a node that someone has is told until when, and of no booking that never was', async () => {
    const { resource_class } = await enrolled(1)
    const had = await allocate({ resource_class, expires_at: '2h' })
    assert.equal(had.state, 'active', had.last_error)
    const refused = expectError(await api.tryLease(wanted(resource_class), { from: 1, to: 60 }), 409)
    assert.match(JSON.stringify(refused.body), /in use until 20/)
    assert.doesNotMatch(JSON.stringify(refused.body), /1970/)
    expectStatus(await metal.del(`/v1/allocations/${had.uuid}`), 204)
  })

  void test('a retired node is not booked', async () => {
    const { resource_class, nodes } = await enrolled(1)
    await metal.go(nodes[0]!, 'manage', 'manageable')
    expectStatus(await metal.change(nodes[0]!, 'retired', true), 200)
    expectError(await api.tryLease(wanted(resource_class)), 409)
  })

  void test('an enrolled node stays enrolled while it is booked', async () => {
    const { resource_class, nodes } = await enrolled(1)
    const [node] = nodes as [string]
    expectStatus(await api.operate('GET', `/leasable-nodes/${node}`), 200)
    const lease = await api.lease(wanted(resource_class))
    expectStatus(await api.operate('DELETE', `/leasable-nodes/${node}`), 409)
    await api.end(lease.id)
    expectStatus(await api.operate('DELETE', `/leasable-nodes/${node}`), 204)
    expectStatus(await api.operate('GET', `/leasable-nodes/${node}`), 404)
    expectError(await api.tryLease(wanted(resource_class)), 409)
    expectStatus(await api.operate('PUT', '/leasable-nodes/no-such-node'), 404)
  })
})
