// One ledger: what a node is to Placement, and who has it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { expectStatus, isFull } from '../support/placement.ts'

eachMetal('nodes in the ledger', api => {
  const { placement } = api
  const inventories = async (node: string) =>
    expectStatus(await placement.get(`/resource_providers/${node}/inventories`), 200).body.inventories
  const offered = async (node: string, name: string) => {
    const found = (await inventories(node))[name]
    return found && found.total - found.reserved
  }
  const setInstance = (node: string, value: string) =>
    api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/instance_uuid', value }])
  const unsetInstance = (node: string) => api.patch(`/v1/nodes/${node}`, [{ op: 'remove', path: '/instance_uuid' }])
  const claim = (consumer: string, node: string, name = 'CUSTOM_BOX') =>
    placement.claim(consumer, { [node]: { [name]: 1 } })
  const candidates = async (name: string) =>
    (await placement.get(`/allocation_candidates?resources=${name}:1`)).body.allocation_requests.length

  void test('a node is a provider with its uuid and one of its class', async () => {
    const node = await api.node({ resource_class: 'gpu-a.1', name: `n-${uuid()}` })
    const provider = expectStatus(await placement.get(`/resource_providers/${node}`), 200).body
    assert.deepEqual([provider.uuid, provider.name], [node, node])
    const { CUSTOM_GPU_A_1: found, ...others } = await inventories(node)
    assert.deepEqual([found.total, found.reserved, found.max_unit, others], [1, 1, 1, {}])
    const plain = await api.node()
    assert.deepEqual(Object.keys(await inventories(plain)), ['CUSTOM_NODE'])
  })

  void test('it can be had only while it is available and not in maintenance', async () => {
    const node = await api.node({ resource_class: 'only' })
    assert.equal(await offered(node, 'CUSTOM_ONLY'), 0)
    assert.equal(await candidates('CUSTOM_ONLY'), 0)
    await api.go(node, 'manage', 'manageable')
    assert.equal(await offered(node, 'CUSTOM_ONLY'), 0)
    await api.go(node, 'provide', 'available')
    assert.equal(await offered(node, 'CUSTOM_ONLY'), 1)
    assert.equal(await candidates('CUSTOM_ONLY'), 1)
    await api.put(`/v1/nodes/${node}/maintenance`)
    assert.equal(await candidates('CUSTOM_ONLY'), 0)
    assert.ok(isFull(await claim(uuid(), node, 'CUSTOM_ONLY')))
    await api.del(`/v1/nodes/${node}/maintenance`)
    assert.equal(await candidates('CUSTOM_ONLY'), 1)
    await api.go(node, 'active', 'active')
    assert.equal(await candidates('CUSTOM_ONLY'), 0)
    assert.ok(isFull(await claim(uuid(), node, 'CUSTOM_ONLY')))
  })

  void test('the generation grows by one with each change, and only with a change', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const generation = await placement.generation(node)
    const patch = (path: string, value: unknown) => api.patch(`/v1/nodes/${node}`, [{ op: 'add', path, value }])
    await patch('/extra/a', 1)
    assert.equal(await placement.generation(node), generation)
    await patch('/resource_class', 'box2')
    assert.equal(await placement.generation(node), generation + 1)
    await patch('/resource_class', 'box.2'.replace('.', ''))
    assert.equal(await placement.generation(node), generation + 1)
    await api.put(`/v1/nodes/${node}/maintenance`)
    assert.equal(await placement.generation(node), generation + 2)
    await api.put(`/v1/nodes/${node}/maintenance`)
    assert.equal(await placement.generation(node), generation + 2)
  })

  void test('an instance is a claim: made with it, shown to Placement, gone with it', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const instance = uuid()
    expectStatus(await setInstance(node, instance), 200)
    assert.deepEqual(await placement.claims(instance), { [node]: { CUSTOM_BOX: 1 } })
    assert.deepEqual(await placement.usages(node), { CUSTOM_BOX: 1 })
    assert.equal((await placement.get(`/allocations/${instance}`)).body.consumer_type, 'INSTANCE')
    assert.ok(isFull(await claim(uuid(), node)))
    await api.go(node, 'active', 'active')
    const found = (await inventories(node)).CUSTOM_BOX
    assert.equal(found.reserved, 0)
    await api.go(node, 'undeploy', 'available')
    assert.deepEqual(await placement.claims(instance), {})
    assert.equal(await offered(node, 'CUSTOM_BOX'), 1)
  })

  void test('an instance can be set on a node that is blocked', async () => {
    const node = await api.node({ resource_class: 'box' })
    expectStatus(await setInstance(node, uuid()), 200)
    assert.deepEqual(await placement.usages(node), { CUSTOM_BOX: 1 })
    expectFault(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/resource_class', value: 'other' }]), 409)
    expectStatus(await unsetInstance(node), 200)
    assert.deepEqual(await placement.usages(node), { CUSTOM_BOX: 0 })
  })

  void test('claim, set, deploy: the order of Nova; from then on the claim is not Placement’s to change', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const instance = uuid()
    expectStatus(await claim(instance, node), 204)
    expectStatus(await setInstance(node, instance), 200)
    const refused = expectStatus(await placement.del(`/allocations/${instance}`), 409)
    assert.match(refused.body.errors[0].detail, /baremetal/)
    expectStatus(await placement.claim(instance, { [node]: { CUSTOM_BOX: 1 } }, 1), 409)
    await api.go(node, 'active', 'active')
    await api.go(node, 'undeploy', 'available')
    assert.deepEqual(await placement.claims(instance), {})
    expectStatus(await placement.del(`/allocations/${instance}`), 404)
  })

  void test('a claim made in Placement makes the node unavailable to everyone else', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const consumer = uuid()
    expectStatus(await claim(consumer, node), 204)
    expectFault(await setInstance(node, uuid()), 409, new RegExp(consumer))
    expectFault(await api.provision(node, 'active'), 409, new RegExp(consumer))
    expectFault(await api.del(`/v1/nodes/${node}`), 409, new RegExp(consumer))
    await api.put(`/v1/nodes/${node}/maintenance`)
    expectFault(await api.del(`/v1/nodes/${node}`), 409)
    expectFault(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/resource_class', value: 'other' }]), 409)
    expectStatus(await placement.del(`/allocations/${consumer}`), 204)
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
  })

  void test('what else the consumer has stays its own', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const other = await placement.provider({ VCPU: 4 })
    const instance = uuid()
    expectStatus(await placement.claim(instance, { [other]: { VCPU: 2 } }), 204)
    expectStatus(await setInstance(node, instance), 200)
    assert.deepEqual(await placement.claims(instance), { [other]: { VCPU: 2 }, [node]: { CUSTOM_BOX: 1 } })
    expectStatus(await unsetInstance(node), 200)
    assert.deepEqual(await placement.claims(instance), { [other]: { VCPU: 2 } })
    expectStatus(await placement.del(`/allocations/${instance}`), 204)
  })

  void test('what Placement may not do to a node is 409 and says whose it is; aggregates are free', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const generation = await placement.generation(node)
    const path = `/resource_providers/${node}`
    const terms = { total: 5, resource_provider_generation: generation }
    const root = await placement.provider()
    const refusals = [
      await placement.put(`${path}/inventories`, { resource_provider_generation: generation, inventories: {} }),
      await placement.put(`${path}/inventories/CUSTOM_BOX`, terms),
      await placement.post(`${path}/inventories`, { resource_class: 'VCPU', total: 1 }),
      await placement.del(`${path}/inventories`),
      await placement.del(`${path}/inventories/CUSTOM_BOX`),
      await placement.put(`${path}/traits`, { resource_provider_generation: generation, traits: [] }),
      await placement.put(path, { name: 'renamed' }),
      await placement.put(path, { name: node, parent_provider_uuid: root }),
      await placement.del(path),
      await placement.post('/reshaper', {
        inventories: { [node]: { resource_provider_generation: generation, inventories: {} } },
        allocations: {},
      }),
    ]
    for (const refused of refusals) {
      expectStatus(refused, 409)
      assert.match(refused.body.errors[0].detail, /belongs to baremetal/)
    }
    const aggregates = { resource_provider_generation: generation, aggregates: [uuid()] }
    expectStatus(await placement.put(`${path}/aggregates`, aggregates), 200)
  })

  void test('a uuid that is a provider already is 409', async () => {
    const provider = await placement.provider()
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', uuid: provider }), 409)
  })
})
