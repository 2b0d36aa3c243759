// What Placement's clients may say of a node: traits of the compute service that looks after it, and what is reserved.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, NEWEST, uuid } from '../support/baremetal.ts'
import { errorCode, expectStatus } from '../support/placement.ts'

const NOVAS = ['COMPUTE_IMAGE_TYPE_RAW', 'COMPUTE_NODE']

eachMetal('traits that Placement’s clients add to a node', api => {
  const { placement } = api
  const path = (node: string) => `/resource_providers/${node}/traits`
  const put = async (node: string, traits: readonly string[], generation?: number) =>
    placement.put(path(node), {
      traits,
      resource_provider_generation: generation ?? (await placement.generation(node)),
    })
  const seen = async (node: string): Promise<string[]> =>
    expectStatus(await placement.get(path(node)), 200).body.traits.sort()
  const own = async (node: string): Promise<string[]> => (await api.show(node)).traits
  const setOwn = async (node: string, traits: readonly string[]) =>
    expectStatus(await api.put(`/v1/nodes/${node}/traits`, { traits }), 204)
  const refuses = async (node: string, traits: readonly string[]) => {
    const refused = expectStatus(await put(node, traits), 409)
    assert.match(refused.body.errors[0].detail, /belongs to baremetal, which is where to change its traits/)
  }
  /** A node with traits of its own and of a Nova. */
  const looked = async (resource_class = `c${uuid().slice(0, 8)}`) => {
    const node = await api.node({ resource_class }, 'available')
    await setOwn(node, ['CUSTOM_A'])
    expectStatus(await put(node, ['CUSTOM_A', ...NOVAS]), 200)
    return node
  }

  void test('are merged in Placement, and the bare metal API does not know them', async () => {
    const node = await api.node({ resource_class: 'merged' }, 'available')
    await setOwn(node, ['CUSTOM_A'])
    const generation = await placement.generation(node)
    const { body } = expectStatus(await put(node, ['CUSTOM_A', ...NOVAS]), 200)
    const all = [...NOVAS, 'CUSTOM_A'].sort()
    assert.deepEqual([body.traits, body.resource_provider_generation], [all, generation + 1])
    assert.deepEqual([await seen(node), await own(node)], [all, ['CUSTOM_A']])
    const traits = expectStatus(await api.get(`/v1/nodes/${node}/traits`), 200).body.traits
    assert.deepEqual(traits, ['CUSTOM_A'])
    const byTrait = expectStatus(await api.get('/v1/nodes?traits=COMPUTE_NODE', NEWEST), 200)
    assert.deepEqual(byTrait.body.nodes, [])
    const search = await placement.get(
      '/allocation_candidates?resources=CUSTOM_MERGED:1&required=COMPUTE_NODE,CUSTOM_A',
    )
    assert.deepEqual(search.body.provider_summaries[node].traits.sort(), all)
    expectStatus(await placement.get('/resource_providers?required=COMPUTE_NODE'), 200)
  })

  void test('come and go one by one; the same set again changes nothing, and an old generation is refused', async () => {
    const node = await looked()
    const generation = await placement.generation(node)
    assert.equal((await put(node, ['CUSTOM_A', ...NOVAS])).body.resource_provider_generation, generation)
    const stale = expectStatus(await put(node, ['CUSTOM_A', 'COMPUTE_NODE'], generation - 1), 409)
    assert.equal(errorCode(stale), 'placement.concurrent_update')
    expectStatus(await put(node, ['CUSTOM_A', 'COMPUTE_NODE', 'COMPUTE_STATUS_DISABLED']), 200)
    assert.deepEqual(await seen(node), ['COMPUTE_NODE', 'COMPUTE_STATUS_DISABLED', 'CUSTOM_A'])
    expectStatus(await put(node, ['CUSTOM_A']), 200)
    expectStatus(await put(node, ['CUSTOM_A']), 200)
    assert.deepEqual([await seen(node), await own(node)], [['CUSTOM_A'], ['CUSTOM_A']])
    assert.equal(await placement.generation(node), generation + 2)
  })

  void test('a disabled compute service hides its nodes from Nova', async () => {
    const node = await looked('hidden')
    const query = '/allocation_candidates?resources=CUSTOM_HIDDEN:1&root_required=!COMPUTE_STATUS_DISABLED'
    const found = async () => (await placement.get(query)).body.allocation_requests.length
    assert.equal(await found(), 1)
    expectStatus(await put(node, ['CUSTOM_A', ...NOVAS, 'COMPUTE_STATUS_DISABLED']), 200)
    assert.equal(await found(), 0)
    expectStatus(await put(node, ['CUSTOM_A', ...NOVAS]), 200)
    assert.equal(await found(), 1)
  })

  void test('all other differences are the node’s to make, and change nothing', async () => {
    const node = await looked()
    const generation = await placement.generation(node)
    expectStatus(await placement.put('/traits/CUSTOM_B'), 201, 204)
    const all = ['CUSTOM_A', ...NOVAS]
    await refuses(node, NOVAS)
    await refuses(node, [...all, 'CUSTOM_B'])
    await refuses(node, [...all, 'HW_CPU_X86_VMX'])
    await refuses(node, [...all, 'CUSTOM_COMPUTE_NODE'])
    await refuses(node, [])
    expectStatus(await placement.del(path(node)), 409)
    expectStatus(await put(node, [...all, 'COMPUTE_NO_SUCH_TRAIT']), 400)
    assert.deepEqual([await seen(node), await placement.generation(node)], [all.sort(), generation])
  })

  void test('all of them are deleted at once only where the node has none of its own', async () => {
    const node = await api.node()
    await refuses(node, [])
    expectStatus(await placement.del(path(node)), 409)
    expectStatus(await put(node, NOVAS), 200)
    expectStatus(await placement.del(path(node)), 204)
    assert.deepEqual(await seen(node), [])
    expectStatus(await put(node, NOVAS), 200)
    expectStatus(await put(node, []), 200)
    assert.deepEqual(await seen(node), [])
  })

  void test('stay when the node’s own change', async () => {
    const node = await looked()
    await setOwn(node, ['CUSTOM_B', 'HW_CPU_X86_VMX'])
    assert.deepEqual(await seen(node), [...NOVAS, 'CUSTOM_B', 'HW_CPU_X86_VMX'].sort())
    expectStatus(await api.del(`/v1/nodes/${node}/traits`), 204)
    assert.deepEqual([await seen(node), await own(node)], [NOVAS, []])
    expectFault(await api.del(`/v1/nodes/${node}/traits/COMPUTE_NODE`), 404)
  })

  void test('one that both have stays until both have let go', async () => {
    const node = await looked()
    const generation = await placement.generation(node)
    await setOwn(node, ['COMPUTE_NODE', 'CUSTOM_A'])
    assert.equal(await placement.generation(node), generation, 'Placement’s clients see the same as before')
    await refuses(node, ['CUSTOM_A', 'COMPUTE_IMAGE_TYPE_RAW'])
    await setOwn(node, ['CUSTOM_A'])
    assert.deepEqual([await seen(node), await own(node)], [[...NOVAS, 'CUSTOM_A'].sort(), ['CUSTOM_A']])
    // The other way round: the node had it first.
    const other = await api.node()
    await setOwn(other, ['COMPUTE_NODE'])
    expectStatus(await put(other, ['COMPUTE_NODE']), 200)
    await setOwn(other, [])
    assert.deepEqual([await seen(other), await own(other)], [['COMPUTE_NODE'], []])
    expectStatus(await put(other, []), 200)
    assert.deepEqual(await seen(other), [])
  })

  void test('an allocation asks for traits of the node, not for these', async () => {
    const node = await looked('wished')
    const ask = async (traits: string[]) => api.settled((await api.allocate({ resource_class: 'wished', traits })).uuid)
    const refused = await ask(['COMPUTE_NODE'])
    assert.match(String(refused.last_error), /no suitable nodes have the requested traits COMPUTE_NODE/)
    // Once both have it, it is the node's too; the other way round it is not.
    await setOwn(node, ['COMPUTE_NODE', 'CUSTOM_A'])
    const given = await ask(['COMPUTE_NODE'])
    assert.deepEqual([given.state, given.node_uuid], ['active', node])
    expectStatus(await api.del(`/v1/allocations/${given.uuid}`), 204)
    await setOwn(node, ['CUSTOM_A'])
    assert.equal((await ask(['COMPUTE_NODE'])).state, 'error')
  })

  void test('a deployment asks for traits of the node, not for these', async () => {
    const node = await looked()
    const value = { traits: ['COMPUTE_NODE'] }
    expectStatus(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/instance_info', value }]), 200)
    const { deploy } = expectStatus(await api.get(`/v1/nodes/${node}/validate`), 200).body
    assert.match(deploy.reason, /is missing traits COMPUTE_NODE/)
  })

  void test('do not count as the node’s', async () => {
    const node = await api.node()
    const many = Array.from({ length: 50 }, (_, i) => `CUSTOM_T${i}`)
    await setOwn(node, many)
    expectStatus(await put(node, [...many, ...NOVAS]), 200)
    await api.fsck()
  })

  void test('a provider that a Nova has marked outlives its node, empty, until Nova deletes it', async () => {
    const node = await looked('outlived')
    const child = await placement.provider({}, { parent: node })
    expectStatus(await api.del(`/v1/nodes/${node}`), 409)
    expectStatus(await placement.del(`/resource_providers/${child}`), 204)
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
    expectFault(await api.get(`/v1/nodes/${node}`), 404)
    assert.deepEqual(await seen(node), [...NOVAS].sort())
    const inventories = (await placement.get(`/resource_providers/${node}/inventories`)).body.inventories
    assert.deepEqual(inventories, {})
    const search = await placement.get('/allocation_candidates?resources=CUSTOM_OUTLIVED:1')
    assert.deepEqual(search.body.allocation_requests, [])
    await api.fsck()
    expectStatus(await placement.del(`/resource_providers/${node}`), 204)
    expectStatus(await placement.get(path(node)), 404)
    const plain = await api.node()
    expectStatus(await api.del(`/v1/nodes/${plain}`), 204)
    expectStatus(await placement.get(path(plain)), 404)
  })

  void test('a node that comes back before Nova has noticed has its provider again', async () => {
    const node = await looked('returned')
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
    await api.node({ uuid: node, resource_class: 'returned' }, 'available')
    expectStatus(await placement.del(`/resource_providers/${node}`), 409)
    assert.deepEqual([await seen(node), await own(node)], [[...NOVAS].sort(), []])
    const search = await placement.get('/allocation_candidates?resources=CUSTOM_RETURNED:1&required=COMPUTE_NODE')
    assert.equal(search.body.allocation_requests.length, 1)
  })
})

eachMetal('the inventory of a node, as Placement’s clients set it', api => {
  const { placement } = api
  const ONE = { total: 1, reserved: 0, min_unit: 1, max_unit: 1, step_size: 1, allocation_ratio: 1 }
  const path = (node: string) => `/resource_providers/${node}/inventories`
  const put = async (node: string, inventories: object, generation?: number) =>
    placement.put(path(node), {
      inventories,
      resource_provider_generation: generation ?? (await placement.generation(node)),
    })
  const putOne = async (node: string, terms: object, generation?: number) =>
    placement.put(`${path(node)}/CUSTOM_BOX`, {
      ...terms,
      resource_provider_generation: generation ?? (await placement.generation(node)),
    })

  void test('reserved may be said, and the answer is the truth', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    for (const reserved of [0, 1]) {
      const generation = await placement.generation(node)
      const all = expectStatus(await put(node, { CUSTOM_BOX: { ...ONE, reserved } }), 200)
      assert.deepEqual(all.body, { inventories: { CUSTOM_BOX: ONE }, resource_provider_generation: generation })
      const one = expectStatus(await putOne(node, { ...ONE, reserved }), 200)
      assert.deepEqual(one.body, { ...ONE, resource_provider_generation: generation })
    }
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    const { body } = expectStatus(await put(node, { CUSTOM_BOX: ONE }), 200)
    assert.equal(body.inventories.CUSTOM_BOX.reserved, 1)
    assert.deepEqual(body, (await placement.get(path(node))).body)
  })

  void test('a node in use is used 1 of 1, whatever a client calls reserved', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const server = uuid()
    expectStatus(await placement.claim(server, { [node]: { CUSTOM_BOX: 1 } }), 204)
    const value = [{ op: 'add', path: '/instance_uuid', value: server }]
    expectStatus(await api.patch(`/v1/nodes/${node}`, value), 200)
    await api.go(node, 'active', 'active')
    const { body } = expectStatus(await put(node, { CUSTOM_BOX: { ...ONE, reserved: 1 } }), 200)
    assert.deepEqual(body.inventories, { CUSTOM_BOX: ONE })
    assert.deepEqual(await placement.usages(node), { CUSTOM_BOX: 1 })
  })

  void test('an old generation is a concurrent update', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const stale = (await placement.generation(node)) - 1
    for (const answer of [await put(node, { CUSTOM_BOX: ONE }, stale), await putOne(node, ONE, stale)]) {
      assert.equal(errorCode(expectStatus(answer, 409)), 'placement.concurrent_update')
    }
  })

  void test('all other differences are the node’s to make', async () => {
    const node = await api.node({ resource_class: 'box' }, 'available')
    const before = (await placement.get(path(node))).body
    const wrong = [
      { total: 2, max_unit: 2 },
      { max_unit: 2 },
      { step_size: 2, max_unit: 2 },
      { allocation_ratio: 2 },
      { total: 2, reserved: 1 },
    ]
    const answers = [
      await put(node, {}),
      await put(node, { VCPU: ONE }),
      await put(node, { CUSTOM_BOX: ONE, VCPU: ONE }),
      await put(node, { CUSTOM_BOX: { total: 1 } }),
      await placement.put(`${path(node)}/VCPU`, {
        ...ONE,
        resource_provider_generation: before.resource_provider_generation,
      }),
    ]
    for (const terms of wrong) {
      answers.push(await put(node, { CUSTOM_BOX: { ...ONE, ...terms } }), await putOne(node, { ...ONE, ...terms }))
    }
    for (const answer of answers) {
      assert.match(expectStatus(answer, 409).body.errors[0].detail, /belongs to baremetal/)
    }
    expectStatus(await put(node, { CUSTOM_BOX: { ...ONE, reserved: 2 } }), 400)
    assert.deepEqual((await placement.get(path(node))).body, before)
  })

  void test('its class is there already', async () => {
    await api.node({ resource_class: 'box' }, 'available')
    expectStatus(await placement.put('/resource_classes/CUSTOM_BOX', undefined, { version: '1.7' }), 204)
  })
})
