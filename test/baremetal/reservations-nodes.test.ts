// What a hold is to its node: who may deploy it, and what else may be done with it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classInPlacement, eachMetal, expectFault, NEWEST, newClass, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

eachMetal('nodes that are held', api => {
  const { placement } = api
  const isHeld = async (id: string) => (await api.get(`/v1/reservations/${id}`, NEWEST)).status === 200
  const show = async (node: string) => expectStatus(await api.get(`/v1/nodes/${node}`, NEWEST), 200).body

  async function heldNode(attributes: object = {}) {
    const resource_class = newClass()
    const node = await api.node({ resource_class, ...attributes }, 'available')
    const amounts = { [classInPlacement(resource_class)]: 1 }
    return { node, resource_class, amounts, hold: await api.hold([node]) }
  }

  void test('are deployed by who names the hold: the claim passes to its instance, and the hold ends', async () => {
    for (const member of ['reservation_uuid', 'reservation_id']) {
      const { node, amounts, hold } = await heldNode()
      expectStatus(await api.provision(node, 'active', { [member]: hold.uuid }, NEWEST), 202)
      assert.ok(!(await isHeld(hold.uuid)))
      const shown = await api.until(node, 'active')
      assert.equal(shown.instance_uuid, hold.instance_uuid)
      assert.equal((await show(node)).reservation_uuid, null)
      assert.deepEqual(await placement.claims(hold.uuid), {})
      assert.deepEqual(await placement.claims(hold.instance_uuid), { [node]: amounts })
      assert.equal((await placement.get(`/allocations/${hold.instance_uuid}`)).body.consumer_type, 'INSTANCE')
      await api.go(node, 'deleted', 'available')
      assert.deepEqual(await placement.claims(hold.instance_uuid), {})
    }
  })

  void test('the verb deploy means the same', async () => {
    const { node, hold } = await heldNode()
    expectFault(await api.provision(node, 'deploy', {}, NEWEST), 409)
    expectStatus(await api.provision(node, 'deploy', { reservation_uuid: hold.uuid }, NEWEST), 202)
    await api.until(node, 'active')
  })

  void test('are not deployed by who does not: 409 at every version, and nothing changes', async () => {
    const { node, hold } = await heldNode()
    const another = await heldNode()
    const before = await show(node)
    for (const version of ['1.1', '1.37', '1.76', '1.82', '1.83']) {
      expectFault(await api.provision(node, 'active', {}, { version }), 409, /reserv/i)
    }
    for (const reservation_uuid of [uuid(), another.hold.uuid, hold.instance_uuid]) {
      expectFault(await api.provision(node, 'active', { reservation_uuid }, NEWEST), 409)
    }
    for (const reservation_uuid of [7, {}, [], '']) {
      expectStatus(await api.provision(node, 'active', { reservation_uuid }, NEWEST), 400, 409)
    }
    const named = { reservation_uuid: hold.uuid }
    expectStatus(await api.provision(node, 'active', named, { version: '1.82' }), 400, 406)
    assert.deepEqual(await show(node), before)
    assert.ok(await isHeld(hold.uuid))
  })

  void test('a hold is for its own node alone', async () => {
    const { node, hold } = await heldNode()
    const free = await api.node({}, 'available')
    expectFault(await api.provision(free, 'active', { reservation_uuid: hold.uuid }, NEWEST), 409)
    assert.equal((await show(free)).provision_state, 'available')
    assert.equal((await show(node)).reservation_uuid, hold.uuid)
  })

  void test('nodes that are not held deploy as ever', async () => {
    const node = await api.node({}, 'available')
    await api.go(node, 'active', 'active')
    const other = await api.node({ instance_uuid: uuid() }, 'available')
    expectStatus(await api.provision(other, 'active', {}, NEWEST), 202)
    await api.until(other, 'active')
  })

  void test('a deployment that is refused for another reason leaves the hold', async () => {
    const { node, hold } = await heldNode()
    expectStatus(await api.change(node, 'instance_info', { traits: ['CUSTOM_LACKING'] }), 200)
    expectFault(await api.provision(node, 'active', { reservation_uuid: hold.uuid }, NEWEST), 400, /CUSTOM_LACKING/)
    assert.ok(await isHeld(hold.uuid))
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    expectFault(await api.provision(node, 'active', { reservation_uuid: hold.uuid }, NEWEST), 400)
    assert.ok(await isHeld(hold.uuid))
  })

  void test('get their instance by PATCH only if it is the one they are held for; then the hold ends', async () => {
    const { node, amounts, hold } = await heldNode()
    expectFault(await api.change(node, 'instance_uuid', uuid()), 409)
    assert.ok(await isHeld(hold.uuid))
    expectStatus(await api.change(node, 'instance_uuid', hold.instance_uuid), 200)
    assert.ok(!(await isHeld(hold.uuid)))
    const shown = await show(node)
    assert.deepEqual([shown.instance_uuid, shown.reservation_uuid], [hold.instance_uuid, null])
    assert.deepEqual(await placement.claims(hold.instance_uuid), { [node]: amounts })
    assert.deepEqual(await placement.claims(hold.uuid), {})
    await api.go(node, 'active', 'active')
  })

  void test('are not allocated', async () => {
    const { node, resource_class, hold } = await heldNode()
    await api.refused({ resource_class })
    await api.refused({ resource_class, candidate_nodes: [node] })
    expectStatus(await api.del(`/v1/reservations/${hold.uuid}`, NEWEST), 204)
    assert.equal((await api.allocated({ resource_class })).node_uuid, node)
  })

  void test('stay available: manage is 409', async () => {
    const { node, hold } = await heldNode()
    expectFault(await api.provision(node, 'manage'), 409)
    assert.equal((await show(node)).provision_state, 'available')
    expectStatus(await api.del(`/v1/reservations/${hold.uuid}`, NEWEST), 204)
    await api.go(node, 'manage', 'manageable')
  })

  void test('may go into maintenance and back, and stay held', async () => {
    const { node, hold } = await heldNode()
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    assert.equal((await show(node)).reservation_uuid, hold.uuid)
    expectStatus(await api.del(`/v1/nodes/${node}/maintenance`), 202)
    assert.equal((await show(node)).reservation_uuid, hold.uuid)
    expectStatus(await api.provision(node, 'active', { reservation_uuid: hold.uuid }, NEWEST), 202)
    await api.until(node, 'active')
  })

  void test('are deleted only in maintenance, and the hold goes with them', async () => {
    const { node, hold } = await heldNode()
    expectFault(await api.del(`/v1/nodes/${node}`), 409)
    assert.ok(await isHeld(hold.uuid))
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
    assert.ok(!(await isHeld(hold.uuid)))
    assert.deepEqual(await placement.claims(hold.uuid), {})
  })

  void test('tell of the hold, but not by PATCH', async () => {
    const { node, hold } = await heldNode()
    for (const patch of [{ op: 'add', value: uuid() }, { op: 'remove' }]) {
      expectFault(await api.patch(`/v1/nodes/${node}`, [{ ...patch, path: '/reservation_uuid' }], NEWEST), 400)
    }
    assert.equal((await show(node)).reservation_uuid, hold.uuid)
    expectStatus(await api.change(node, 'extra', { a: 1 }), 200)
    expectFault(await api.change(node, 'resource_class', newClass()), 409)
  })
})
