// Commands on the nodes of a lease: whoever ends the lease early asks first. The lease's own end is promised to all.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Baremetal, expectFault, NEWEST, waitFor } from '../support/baremetal.ts'
import type { Answer } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { as, eachReservation, type Shown } from '../support/reservation.ts'

const alice = as('alice', 'p1')
const KEEPER = 'alice@laptop/0123456789abcdef'
const OTHER = 'alice@desk/0123456789abcdef'

let classes = 0

eachReservation('commands on leased nodes', api => {
  const metal = new Baremetal()
  before(() => (metal.origins = metal.placement.origins = api.origins))
  after(() => metal.close())

  const keep = (allocation: string, until: unknown, keeper = KEEPER) =>
    api.operate('POST', `/allocations/${allocation}/keep`, { keeper, until })
  const isRefused = (answer: Answer, why: RegExp) => assert.match(expectStatus(answer, 409).body.error.message, why)
  const letGo = (allocation: string, keeper = KEEPER) =>
    metal.del(`/v1/allocations/${allocation}?keeper=${encodeURIComponent(keeper)}`, NEWEST)
  const isOver = (id: string) =>
    waitFor('the lease is over', async () => {
      await api.advance(0)
      return (await api.get(`/leases/${id}`, alice)).status === 404
    })

  /** A running lease with one node, on which a command runs. */
  async function begun(until: unknown = '1m') {
    const resource_class = `commands-${++classes}`
    const node = await metal.node({ resource_class }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201, 204)
    const wanted = [{ resource_type: 'physical:node', resource_class, min: 1, max: 1 }]
    const { id } = await api.lease(wanted, { from: 5, to: 600 }, alice)
    await api.advance(6)
    const lease = await api.until(id, 'ACTIVE')
    const { allocation } = lease.reservations[0].nodes[0]
    const { body } = expectStatus(await keep(allocation, until), 200)
    assert.deepEqual([body.keeper, body.expires_at, body.ending], ['alice@laptop', null, null])
    return { id, node, allocation: allocation as string }
  }

  void test('the lease ends early when the keeper lets go, and not before', async () => {
    const { id, node, allocation } = await begun()
    isRefused(await keep(allocation, '1m', OTHER), /kept by alice@laptop/)
    expectFault(await letGo(allocation, OTHER), 409, /another keeper/)
    expectStatus(await keep(allocation, '2m'), 200)
    expectStatus(await api.del(`/leases/${id}`, alice), 200, 204)
    const { ending } = await metal.allocation(allocation)
    assert.match(ending.message, /^lease .* ends$/)
    await api.advance(0)
    const shown = await metal.show(node)
    assert.deepEqual([shown.instance_uuid, shown.lessee], [allocation, 'p1'], 'it is as it was')
    isRefused(await keep(allocation, '3m'), /ends allocation/)
    expectStatus(await letGo(allocation), 204)
    expectStatus(await letGo(allocation), 204)
    isRefused(await keep(allocation, '1m', OTHER), /its lease is ending/)
    await api.advance(2)
    await isOver(id)
    assert.equal((await metal.show(node)).instance_uuid, null)
  })

  void test('however long it waited for a command, the lease ends soon after the keeper has let go', async () => {
    const { id, node, allocation } = await begun('2h')
    expectStatus(await api.del(`/leases/${id}`, alice), 200, 204)
    for (let tried = 0; tried < 10; tried++) await api.advance(2)
    assert.equal((await metal.show(node)).instance_uuid, allocation)
    expectStatus(await letGo(allocation), 204)
    await waitFor('the node is free', async () => (await metal.show(node)).instance_uuid === null)
  })

  void test('each node is taken back when its keeper has let go, and that is told', async () => {
    const resource_class = `commands-${++classes}`
    for (let i = 0; i < 2; i++) {
      const node = await metal.node({ resource_class }, 'available')
      expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201, 204)
    }
    const wanted = [{ resource_type: 'physical:node', resource_class, min: 2, max: 2 }]
    const { id } = await api.lease(wanted, { from: 5, to: 600 }, alice)
    await api.advance(6)
    const [first, second] = (await api.until(id, 'ACTIVE')).reservations[0].nodes as [Shown, Shown]
    for (const { allocation } of [first, second]) expectStatus(await keep(allocation, '2h'), 200)
    expectStatus(await api.del(`/leases/${id}`, alice), 200, 204)
    await api.advance(2)
    for (const { node, allocation } of [first, second]) {
      await metal.fsck()
      expectStatus(await letGo(allocation), 204)
      await waitFor('the node is free', async () => (await metal.show(node)).instance_uuid === null)
      const { body } = expectStatus(await api.operate('GET', `/events?object=allocation/${allocation}&after=0`), 200)
      const told = (body.events as { type: string }[]).map(({ type }) => type.split('.').at(-1))
      assert.deepEqual(told, ['created', 'active', 'changed', 'ending', 'changed', 'ended'])
    }
    await isOver(id)
  })

  void test('a keeper who is gone keeps it no longer than was promised', async () => {
    const { id, node, allocation } = await begun()
    expectStatus(await api.del(`/leases/${id}`, alice), 200, 204)
    await api.advance(0)
    assert.equal((await metal.show(node)).instance_uuid, allocation)
    await api.advance(2)
    await isOver(id)
    assert.equal((await metal.show(node)).instance_uuid, null)
  })

  void test('nobody keeps it beyond the lease, and one command follows another', async () => {
    const { allocation, node } = await begun()
    isRefused(await keep(allocation, '11h'), /ends with its lease/)
    expectFault(await metal.del(`/v1/allocations/${allocation}`, NEWEST), 409, /ends with the lease/)
    expectStatus(await letGo(allocation), 204)
    const { keeper, state } = await metal.allocation(allocation)
    assert.deepEqual([keeper, state], [null, 'active'], 'the lease goes on')
    expectStatus(await keep(allocation, '1m', OTHER), 200)
    await api.advance(2)
    expectStatus(await keep(allocation, '1m'), 200)
    assert.equal((await metal.show(node)).instance_uuid, allocation)
    for (const body of [
      {},
      { keeper: KEEPER },
      { until: '1m' },
      { keeper: 'x', until: '1m' },
      { keeper: KEEPER, until: 'x' },
    ])
      expectStatus(await api.operate('POST', `/allocations/${allocation}/keep`, body), 400)
    const resource_class = `commands-${++classes}`
    await metal.node({ resource_class }, 'available')
    const plain = await metal.allocated({ resource_class })
    isRefused(await keep(plain.uuid, '1m'), /was not given by a lease/)
  })

  void test('healing leaves a node alone while a command runs there, and exchanges the others', async () => {
    const resource_class = `commands-${++classes}`
    const enrolled = async () => {
      const node = await metal.node({ resource_class }, 'available')
      expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201, 204)
      return node
    }
    await enrolled()
    await enrolled()
    const wanted = [{ resource_type: 'physical:node', resource_class, min: 2, max: 2 }]
    const { id } = await api.lease(wanted, { from: 5, to: 600 }, alice)
    await api.advance(6)
    const nodesOf = async () => (await api.show(id)).reservations[0].nodes as { node: string; allocation: string }[]
    await api.until(id, 'ACTIVE')
    const [used, idle] = (await nodesOf()) as [Shown, Shown]
    expectStatus(await keep(used['allocation'], '1h'), 200)
    const [spare] = [await enrolled(), await enrolled()]
    for (const { node } of [used, idle]) expectStatus(await metal.put(`/v1/nodes/${node}/maintenance`, {}), 202)
    await waitFor('the idle one is exchanged', async () => {
      await api.advance(1)
      return (await nodesOf()).every(({ node }) => node !== idle['node'])
    })
    assert.ok(
      (await nodesOf()).some(({ allocation }) => allocation === used['allocation']),
      `not ${spare}`,
    )
    assert.equal((await metal.show(used['node'])).instance_uuid, used['allocation'])
  })
})
