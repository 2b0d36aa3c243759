// Allocations: which node is found for a request, what that changes, and what it is to Placement.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Baremetal,
  classInPlacement,
  eachMetal,
  expectFault,
  NEWEST,
  newClass,
  uuid,
  waitFor,
} from '../support/baremetal.ts'
import { expectStatus, isFull } from '../support/placement.ts'

const FIELDS = [
  'candidate_nodes',
  'created_at',
  'extra',
  'last_error',
  'links',
  'name',
  'node_uuid',
  'owner',
  'resource_class',
  'state',
  'traits',
  'updated_at',
  'uuid',
]

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/

/** A node that nobody has, of a class that no other node has. */
async function freeNode(api: Baremetal, attributes: object = {}) {
  const resource_class = newClass()
  return { resource_class, node: await api.node({ resource_class, ...attributes }, 'available') }
}

eachMetal('allocations', api => {
  const { placement } = api

  void test('a request is accepted at once, without a node, and then gets one', async () => {
    const { resource_class, node } = await freeNode(api)
    const answer = expectStatus(await api.post('/v1/allocations', { resource_class }), 201)
    const { body } = answer
    assert.deepEqual(Object.keys(body).sort(), FIELDS)
    assert.equal(answer.headers.location, `${api.origin}/baremetal/v1/allocations/${body.uuid}`)
    const { uuid: _, created_at, links, owner: __, updated_at: ___, ...rest } = body
    assert.deepEqual(rest, {
      name: null,
      node_uuid: null,
      resource_class,
      state: 'allocating',
      last_error: null,
      traits: [],
      candidate_nodes: [],
      extra: {},
    })
    assert.match(created_at, TIME)
    assert.deepEqual(links, [
      { href: `${api.origin}/baremetal/v1/allocations/${body.uuid}`, rel: 'self' },
      { href: `${api.origin}/baremetal/allocations/${body.uuid}`, rel: 'bookmark' },
    ])
    const settled = await api.settled(body.uuid)
    assert.deepEqual([settled.state, settled.node_uuid, settled.last_error], ['active', node, null])
    assert.match(settled.updated_at, TIME)
  })

  void test('the node then has the allocation as its instance, and the traits that were asked for', async () => {
    const { resource_class, node } = await freeNode(api, { instance_info: { note: 'x' } })
    await api.put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_A', 'CUSTOM_B', 'HW_CPU_X86_VMX'] })
    const traits = ['HW_CPU_X86_VMX', 'CUSTOM_A']
    const allocation = await api.allocated({ resource_class, traits })
    const shown = await api.show(node)
    assert.deepEqual([shown.instance_uuid, shown.allocation_uuid], [allocation.uuid, allocation.uuid])
    assert.deepEqual(shown.instance_info.traits.toSorted(), traits.toSorted())
    assert.equal(shown.instance_info.note, 'x')
    assert.equal(shown.provision_state, 'available')
    assert.deepEqual(allocation.traits.toSorted(), traits.toSorted())
    await api.go(node, 'active', 'active')
  })

  void test('without traits the instance is told that it has none', async () => {
    const { resource_class, node } = await freeNode(api)
    await api.allocated({ resource_class })
    assert.deepEqual((await api.show(node)).instance_info.traits, [])
  })

  void test('to Placement the allocation is a consumer of that type, which only bare metal can release', async () => {
    const { resource_class, node } = await freeNode(api)
    const amounts = { [classInPlacement(resource_class)]: 1 }
    const allocation = await api.allocated({ resource_class })
    assert.deepEqual(await placement.claims(allocation.uuid), { [node]: amounts })
    assert.equal((await placement.get(`/allocations/${allocation.uuid}`)).body.consumer_type, 'ALLOCATION')
    assert.deepEqual(await placement.usages(node), amounts)
    assert.ok(isFull(await placement.claim(uuid(), { [node]: amounts })))
    expectStatus(await placement.del(`/allocations/${allocation.uuid}`), 409)
    expectStatus(await api.del(`/v1/allocations/${allocation.uuid}`), 204)
    assert.deepEqual(await placement.claims(allocation.uuid), {})
    expectStatus(await placement.claim(uuid(), { [node]: amounts }), 204)
  })

  void test('only a node that is available, powered, nobody’s and not in maintenance is taken', async () => {
    const resource_class = newClass()
    const make = (attributes: object, state?: Parameters<Baremetal['node']>[1]) =>
      api.node({ resource_class, ...attributes }, state)
    await make({})
    await make({}, 'manageable')
    await make({}, 'active')
    await make({ instance_uuid: uuid() }, 'available')
    const claimed = await make({}, 'available')
    expectStatus(await placement.claim(uuid(), { [claimed]: { [classInPlacement(resource_class)]: 1 } }), 204)
    const inMaintenance = await make({}, 'available')
    expectStatus(await api.put(`/v1/nodes/${inMaintenance}/maintenance`), 202)
    const held = await make({}, 'available')
    await api.hold([held])
    // As very old clients make them: available from the start, their power never read.
    const { body } = await api.post('/v1/nodes', { driver: 'fake-hardware' }, { version: '1.10' })
    expectStatus(await api.change(body.uuid, 'resource_class', resource_class), 200)
    const unread = await api.show(body.uuid)
    assert.deepEqual([unread.provision_state, unread.power_state], ['available', null])

    await api.refused({ resource_class })
    expectStatus(await api.put(`/v1/nodes/${body.uuid}/states/power`, { target: 'power on' }), 202)
    await api.until(body.uuid, 'available')
    assert.equal((await api.allocated({ resource_class })).node_uuid, body.uuid)
    await api.refused({ resource_class })
  })

  void test('the class must be the same, letter by letter', async () => {
    const { resource_class, node } = await freeNode(api)
    for (const other of [resource_class.toUpperCase(), `${resource_class}x`, resource_class.replaceAll('-', '_')]) {
      await api.refused({ resource_class: other })
    }
    assert.equal((await api.allocated({ resource_class })).node_uuid, node)
  })

  void test('the node must have all traits that are asked for, and may have more', async () => {
    const { resource_class, node } = await freeNode(api)
    const some = await api.node({ resource_class }, 'available')
    await api.put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C'] })
    await api.put(`/v1/nodes/${some}/traits`, { traits: ['CUSTOM_A'] })
    await api.refused({ resource_class, traits: ['CUSTOM_A', 'CUSTOM_D'] })
    assert.equal((await api.allocated({ resource_class, traits: ['CUSTOM_B', 'CUSTOM_A'] })).node_uuid, node)
    assert.equal((await api.allocated({ resource_class, traits: ['CUSTOM_A'] })).node_uuid, some)
  })

  void test('candidates, by uuid or name, are the only ones, and are told as uuids in the order given', async () => {
    const resource_class = newClass()
    const name = `candidate-${uuid()}`
    const [named, other, third] = await Promise.all([
      api.node({ resource_class, name }, 'available'),
      api.node({ resource_class }, 'available'),
      api.node({ resource_class }, 'available'),
    ])
    const allocation = await api.allocated({ resource_class, candidate_nodes: [other, name] })
    assert.deepEqual(allocation.candidate_nodes, [other, named])
    assert.ok([named, other].includes(allocation.node_uuid))
    const second = await api.allocated({ resource_class, candidate_nodes: [name, other] })
    assert.deepEqual(second.candidate_nodes, [named, other])
    await api.refused({ resource_class, candidate_nodes: [name, other] })
    assert.equal((await api.allocated({ resource_class })).node_uuid, third)
  })

  void test('a candidate of another class is not taken', async () => {
    const { node } = await freeNode(api)
    await api.refused({ resource_class: newClass(), candidate_nodes: [node] })
  })

  void test('with an owner only nodes that the owner owns or leases', async () => {
    const resource_class = newClass()
    const [owner, other] = [`owner-${uuid()}`, `owner-${uuid()}`]
    const owned = await api.node({ resource_class, owner }, 'available')
    const leased = await api.node({ resource_class, owner: other, lessee: owner }, 'available')
    const foreign = await api.node({ resource_class, owner: other }, 'available')
    const nobodys = await api.node({ resource_class }, 'available')
    const got = [await api.allocated({ resource_class, owner }), await api.allocated({ resource_class, owner })]
    assert.deepEqual(new Set(got.map(allocation => allocation.node_uuid)), new Set([owned, leased]))
    assert.equal(got[0].owner, owner)
    await api.refused({ resource_class, owner })
    assert.equal((await api.allocated({ resource_class, owner: other })).node_uuid, foreign)
    assert.equal((await api.allocated({ resource_class })).node_uuid, nobodys)
  })

  void test('the node that is called like the allocation comes first', async () => {
    const resource_class = newClass()
    const names = Array.from({ length: 6 }, () => `host-${uuid()}`)
    const nodes = await Promise.all(names.map(name => api.node({ resource_class, name }, 'available')))
    for (const i of [4, 1, 5]) {
      assert.equal((await api.allocated({ resource_class, name: names[i] })).node_uuid, nodes[i])
    }
    // Whatever the version, and if it can't be had another will do.
    const { body } = await api.post('/v1/allocations', { resource_class, name: names[2] }, { version: '1.52' })
    assert.equal((await api.settled(body.uuid)).node_uuid, nodes[2])
    await api.put(`/v1/nodes/${nodes[0]}/maintenance`)
    assert.equal((await api.allocated({ resource_class, name: names[0] })).node_uuid, nodes[3])
  })

  void test('the choice is not always the same', async () => {
    const resource_class = newClass()
    await Promise.all(Array.from({ length: 8 }, () => api.node({ resource_class }, 'available')))
    const chosen = new Set<string>()
    for (let i = 0; i < 24 && chosen.size < 2; i++) {
      const { uuid, node_uuid } = await api.allocated({ resource_class })
      chosen.add(node_uuid)
      expectStatus(await api.del(`/v1/allocations/${uuid}`), 204)
    }
    assert.ok(chosen.size > 1, 'one of eight was chosen 24 times')
  })

  void test('a node that is locked at that moment is skipped for the next', async () => {
    const resource_class = newClass()
    const slow = await api.node({ resource_class, driver_info: { fake_delay: { rebooting: 30 } } }, 'available')
    const free = await api.node({ resource_class }, 'available')
    expectStatus(await api.put(`/v1/nodes/${slow}/states/power`, { target: 'rebooting' }), 202)
    await waitFor('it is locked', async () => (await api.show(slow)).reservation !== null)
    assert.equal((await api.allocated({ resource_class })).node_uuid, free)
  })

  void test('when all that is left is locked, it is waited for a moment', async () => {
    const { resource_class, node } = await freeNode(api, { driver_info: { fake_delay: { rebooting: 0.5 } } })
    expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'rebooting' }), 202)
    await waitFor('it is locked', async () => (await api.show(node)).reservation !== null)
    assert.equal((await api.allocated({ resource_class })).node_uuid, node)
  })

  void test('in vain: the allocation stays in error, says why, and has no node until it is deleted', async () => {
    const { resource_class, node } = await freeNode(api)
    const missing = newClass()
    const cases: [object, RegExp][] = [
      [{ resource_class: missing }, new RegExp(`no available nodes match the resource class ${missing}`)],
      [{ resource_class, traits: ['CUSTOM_RARE'] }, /no suitable nodes have the requested traits .*CUSTOM_RARE/],
      [
        { resource_class: missing, candidate_nodes: [node] },
        new RegExp(`none of the requested nodes are available and match the resource class ${missing}`),
      ],
    ]
    for (const [body, why] of cases) {
      const allocation = await api.refused(body)
      assert.ok(allocation.last_error.startsWith(`Failed to process allocation ${allocation.uuid}: `))
      assert.match(allocation.last_error, why)
      assert.equal(allocation.node_uuid, null)
      expectStatus(await api.del(`/v1/allocations/${allocation.uuid}`), 204)
      expectStatus(await api.get(`/v1/allocations/${allocation.uuid}`), 404)
    }
    assert.equal((await api.show(node)).instance_uuid, null)
  })

  void test('a uuid, a name and extra of one’s own; null counts as not given', async () => {
    const { resource_class, node } = await freeNode(api)
    const given = { uuid: uuid(), name: `a-${uuid()}`, extra: { a: { b: [1, null] } } }
    const nulls = { candidate_nodes: null, traits: null, owner: null, node: null }
    const allocation = await api.allocated({ resource_class, ...given, ...nulls })
    const { uuid: id, name, extra } = allocation
    assert.deepEqual({ uuid: id, name, extra }, given)
    assert.equal((await api.show(node)).instance_uuid, given.uuid)
    assert.deepEqual(await api.allocation(name), allocation)
    const another = await api.allocate({ resource_class, uuid: null, name: null, extra: null })
    assert.deepEqual([another.name, another.extra], [null, {}])
  })

  void test('it is named like a node: not as a uuid, which could hide another one, nor with a word of the API', async () => {
    const resource_class = newClass()
    const { uuid: id } = await api.allocate({ resource_class })
    for (const name of [id, uuid(), 'detail', 'a b', 'not/a/name', '']) {
      expectFault(
        await api.post('/v1/allocations', { resource_class, name }, NEWEST),
        400,
        /invalid name.*does not match|no UUID/,
      )
      const patch = [{ op: 'add', path: '/name', value: name }]
      expectFault(await api.patch(`/v1/allocations/${id}`, patch, NEWEST), 400, /Expected a name/)
    }
    assert.equal((await api.allocation(id)).name, null)
  })

  void test('an instance that is set by hand makes no allocation', async () => {
    const { node } = await freeNode(api)
    expectStatus(await api.change(node, 'instance_uuid', uuid()), 200)
    assert.equal((await api.show(node)).allocation_uuid, null)
    assert.deepEqual((await api.get(`/v1/allocations?node=${node}`, NEWEST)).body.allocations, [])
  })
})
