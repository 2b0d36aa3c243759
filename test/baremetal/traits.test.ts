// Traits of nodes, every sentence of them, and the filters by traits.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const many = (count: number) => Array.from({ length: count }, (_, i) => `CUSTOM_T${i}`)

eachMetal('traits', api => {
  const traits = async (node: string) => expectStatus(await api.get(`/v1/nodes/${node}/traits`), 200).body.traits
  const set = (node: string, names: unknown, version = '1.82') =>
    api.put(`/v1/nodes/${node}/traits`, { traits: names }, { version })

  void test('all are set at once, sorted and without doubles: 204, and from 1.83 on 200 with the list', async () => {
    const node = await api.node()
    const answer = await set(node, ['CUSTOM_B', 'CUSTOM_A', 'CUSTOM_B'])
    assert.deepEqual([answer.status, answer.body], [204, null])
    assert.deepEqual(await traits(node), ['CUSTOM_A', 'CUSTOM_B'])
    const { status, body } = await set(node, ['CUSTOM_C'], '1.83')
    assert.deepEqual([status, body], [200, { traits: ['CUSTOM_C'] }])
    expectStatus(await set(node, []), 204)
    assert.deepEqual(await traits(node), [])
  })

  void test('one is added with no body or {}, and again', async () => {
    const node = await api.node({ name: `n-${uuid()}` })
    for (const body of [undefined, {}, undefined]) {
      const { status, headers } = await api.put(`/v1/nodes/${node}/traits/CUSTOM_A`, body)
      assert.equal(status, 204)
      assert.equal(headers.location, `${api.origin}/baremetal/v1/nodes/${node}/traits/CUSTOM_A`)
    }
    expectFault(await api.put(`/v1/nodes/${node}/traits/CUSTOM_B`, { a: 1 }), 400)
    assert.deepEqual(await traits(node), ['CUSTOM_A'])
  })

  void test('one is removed; one that is not there is 404; all are removed, also none', async () => {
    const node = await api.node()
    await set(node, ['CUSTOM_A', 'CUSTOM_B', 'HW_CPU_X86_VMX'])
    expectStatus(await api.del(`/v1/nodes/${node}/traits/CUSTOM_A`), 204)
    expectFault(await api.del(`/v1/nodes/${node}/traits/CUSTOM_A`), 404)
    expectFault(await api.del(`/v1/nodes/${node}/traits/not-a-trait`), 404)
    for (let i = 0; i < 2; i++) {
      const { status, body } = await api.del(`/v1/nodes/${node}/traits`)
      assert.deepEqual([status, body], [204, null])
    }
    assert.deepEqual(await traits(node), [])
  })

  void test('GET of one and POST are 405; an unknown node is 404', async () => {
    const node = await api.node()
    expectStatus(await api.get(`/v1/nodes/${node}/traits/CUSTOM_A`), 405)
    expectStatus(await api.post(`/v1/nodes/${node}/traits`, { traits: [] }), 405)
    expectFault(await api.get(`/v1/nodes/${uuid()}/traits`), 404)
    expectFault(await set(uuid(), []), 404)
  })

  void test('a name is of os-traits or CUSTOM_, of at most 255 characters; else 400 and nothing is stored', async () => {
    const node = await api.node()
    await set(node, ['CUSTOM_A'])
    const wrong = ['custom_a', 'CUSTOM_', 'CUSTOM_a', 'CUSTOM_A-B', 'HW_NONSENSE', 'A', '', `CUSTOM_${'A'.repeat(249)}`]
    for (const name of wrong) {
      expectFault(await set(node, ['CUSTOM_B', name]), 400)
      if (name !== '') expectFault(await api.put(`/v1/nodes/${node}/traits/${name}`), 400)
    }
    assert.deepEqual(await traits(node), ['CUSTOM_A'])
    expectStatus(await set(node, ['HW_CPU_X86_AVX2', 'COMPUTE_NODE', `CUSTOM_${'A'.repeat(248)}`]), 204)
    for (const body of [{}, { traits: 'CUSTOM_A' }, { traits: [1] }, { traits: null }, { traits: [], more: 1 }, []]) {
      expectFault(await api.put(`/v1/nodes/${node}/traits`, body), 400)
    }
  })

  void test('50 at most after the change', async () => {
    const node = await api.node()
    expectFault(await set(node, many(51)), 400)
    expectStatus(await set(node, many(50)), 204)
    expectFault(await api.put(`/v1/nodes/${node}/traits/CUSTOM_ONE_MORE`), 400)
    expectStatus(await api.put(`/v1/nodes/${node}/traits/CUSTOM_T7`), 204)
    assert.equal((await traits(node)).length, 50)
  })

  void test('neither a state nor a lock matters', async () => {
    const node = await api.node({ driver_info: { fake_delay: { deploy: 0.3 } } }, 'available')
    expectStatus(await api.provision(node, 'active'), 202)
    expectStatus(await api.put(`/v1/nodes/${node}/traits/CUSTOM_A`), 204)
    await api.until(node, 'active')
    assert.deepEqual(await traits(node), ['CUSTOM_A'])
    expectStatus(await api.del(`/v1/nodes/${node}/traits`), 204)
  })

  void test('they are in the node, in its detail and among its fields, and are neither patched nor posted', async () => {
    const node = await api.node()
    await set(node, ['CUSTOM_SHOWN'])
    assert.deepEqual((await api.show(node)).traits, ['CUSTOM_SHOWN'])
    const mine = (body: { nodes: { uuid: string; traits: string[] }[] }) =>
      body.nodes.find(n => n.uuid === node)!.traits
    assert.deepEqual(mine((await api.get('/v1/nodes/detail')).body), ['CUSTOM_SHOWN'])
    assert.deepEqual(mine((await api.get('/v1/nodes/?fields=uuid,traits')).body), ['CUSTOM_SHOWN'])
    expectFault(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/traits', value: ['CUSTOM_X'] }]), 400)
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', traits: ['CUSTOM_X'] }), 400)
  })

  void test("they are the provider's, at once, and Placement can't change them", async () => {
    const node = await api.node()
    const before = await api.placement.generation(node)
    await set(node, ['CUSTOM_NEW_ONE', 'HW_CPU_X86_VMX'])
    const shown = await api.placement.get(`/resource_providers/${node}/traits`)
    assert.deepEqual(shown.body.traits, ['CUSTOM_NEW_ONE', 'HW_CPU_X86_VMX'])
    assert.equal(shown.body.resource_provider_generation, before + 1)
    await set(node, ['CUSTOM_NEW_ONE', 'HW_CPU_X86_VMX'])
    assert.equal(await api.placement.generation(node), before + 1)
    const put = { resource_provider_generation: before + 1, traits: [] }
    const refused = expectStatus(await api.placement.put(`/resource_providers/${node}/traits`, put), 409)
    assert.match(refused.body.errors[0].detail, /baremetal/)
    expectStatus(await api.placement.del(`/resource_providers/${node}/traits`), 409)
    expectStatus(await api.placement.del('/traits/CUSTOM_NEW_ONE'), 409)
  })

  void test('validate and deploy refuse instance traits that the node lacks', async () => {
    const node = await api.node({}, 'available')
    await set(node, ['CUSTOM_A'])
    const want = (value: unknown) =>
      api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/instance_info/traits', value }])
    const deployable = async () => (await api.get(`/v1/nodes/${node}/validate`)).body.deploy
    for (const wrong of ['CUSTOM_A', [1], { a: 1 }]) {
      expectStatus(await want(wrong), 200)
      assert.equal((await deployable()).result, false)
      expectFault(await api.provision(node, 'active'), 400)
    }
    expectStatus(await want(['CUSTOM_A', 'CUSTOM_B']), 200)
    const message = `Cannot specify instance traits that are not also set on the node. Node ${node} is missing traits CUSTOM_B`
    assert.deepEqual(await deployable(), { result: false, reason: message })
    expectFault(await api.provision(node, 'active'), 400, new RegExp(message))
    assert.equal((await api.show(node)).provision_state, 'available')
    expectStatus(await want(['CUSTOM_A']), 200)
    assert.deepEqual(await deployable(), { result: true })
    await api.go(node, 'active', 'active')
  })
})

eachMetal('filters by traits', api => {
  before(async () => {
    const traits = {
      red: ['CUSTOM_RED'],
      blue: ['CUSTOM_BLUE'],
      both: ['CUSTOM_RED', 'CUSTOM_BLUE'],
      none: [] as string[],
    }
    for (const [name, names] of Object.entries(traits)) {
      const node = await api.node({ name, resource_class: name === 'both' ? 'x' : 'y' })
      await api.put(`/v1/nodes/${node}/traits`, { traits: names })
    }
    // A provider with the same trait that is no node.
    const provider = await api.placement.provider()
    await api.placement.put('/traits/CUSTOM_RED')
    const body = { resource_provider_generation: 0, traits: ['CUSTOM_RED'] }
    expectStatus(await api.placement.put(`/resource_providers/${provider}/traits`, body), 200)
  })

  const names = async (query: string, version = '1.82') => {
    const { body } = expectStatus(await api.get(`/v1/nodes?fields=name&${query}`, { version }), 200)
    return body.nodes.map((node: { name: string }) => node.name)
  }

  void test('all of, any of, not all of, none of, and combinations', async () => {
    const pair = 'CUSTOM_RED,CUSTOM_BLUE'
    assert.deepEqual(await names('traits=CUSTOM_RED'), ['red', 'both'])
    assert.deepEqual(await names(`traits=${pair}`), ['both'])
    assert.deepEqual(await names(`traits-any=${pair}`), ['red', 'blue', 'both'])
    assert.deepEqual(await names(`not-traits=${pair}`), ['red', 'blue', 'none'])
    assert.deepEqual(await names(`not-traits-any=${pair}`), ['none'])
    assert.deepEqual(await names('not-traits=CUSTOM_RED&traits=CUSTOM_BLUE'), ['blue'])
    assert.deepEqual(await names(`traits=CUSTOM_RED&traits-any=${pair}&not-traits-any=CUSTOM_BLUE`), ['red'])
    assert.deepEqual(await names('traits=CUSTOM_NOBODY_HAS'), [])
    assert.deepEqual(await names('not-traits=CUSTOM_NOBODY_HAS'), ['red', 'blue', 'both', 'none'])
    assert.deepEqual(await names('traits=CUSTOM_RED&resource_class=x'), ['both'])
    assert.deepEqual(await names('traits=CUSTOM_RED', '1.37'), ['red', 'both'])
    assert.deepEqual(await names('traits=CUSTOM_RED&sort_key=name'), ['both', 'red'])
  })

  void test('pages keep them', async () => {
    const { body } = await api.get(
      '/v1/nodes?fields=name&limit=1&traits-any=CUSTOM_RED,CUSTOM_BLUE&not-traits=CUSTOM_RED',
    )
    assert.deepEqual([body.nodes[0].name, body.next], ['blue', undefined])
    const first = await api.get('/v1/nodes?fields=name&limit=1&traits=CUSTOM_RED')
    assert.equal(first.body.nodes[0].name, 'red')
    const next = await api.get(first.body.next.slice(`${api.origin}/baremetal`.length))
    assert.deepEqual([next.body.nodes.length, next.body.nodes[0].name, next.body.next], [1, 'both', undefined])
  })

  void test('malformed values are 400, and older versions do not have them', async () => {
    for (const filter of ['traits', 'not-traits', 'traits-any', 'not-traits-any']) {
      for (const value of ['', ',', 'CUSTOM_A,', 'custom', 'CUSTOM_A CUSTOM_B', 'HW_NONSENSE']) {
        expectFault(await api.get(`/v1/nodes?${filter}=${encodeURIComponent(value)}`), 400)
      }
      expectFault(await api.get(`/v1/nodes?${filter}=CUSTOM_A`, { version: '1.36' }), 406, /1\.37/)
    }
    expectFault(await api.get('/v1/nodes?traits=CUSTOM_A&traits=CUSTOM_B'), 400)
    expectStatus(await api.get('/v1/nodes/detail?traits=CUSTOM_RED'), 200)
  })
})
