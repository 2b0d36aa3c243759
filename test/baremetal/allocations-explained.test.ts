// Why an allocation got no node: in its last_error, in counts, and what is in the way now.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Baremetal, classInPlacement, eachMetal, NEWEST, newClass, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

interface Cause {
  cause: string
  count: number
  sample: { uuid: string; name: string | null }[]
  traits?: string[]
}

interface Explanation {
  allocation: { uuid: string }
  state: string
  decided: { at: string; considered: number; causes: Cause[]; relaxations: unknown[] } | null
  now: { at: string; considered: number; causes: Cause[]; relaxations: unknown[] }
}

async function explain(api: Baremetal, ident: string): Promise<Explanation> {
  return expectStatus(await api.operator('GET', `/explain/allocations/${ident}`), 200).body
}

const counts = ({ causes }: { causes: Cause[] }) => Object.fromEntries(causes.map(({ cause, count }) => [cause, count]))

eachMetal('why there was no node', api => {
  const resource_class = newClass()
  const wanted = { resource_class, traits: ['CUSTOM_NVLINK', 'CUSTOM_FAST'] }
  const nodes: Record<string, string[]> = {}

  before(async () => {
    const make = (attributes: object = {}, state: Parameters<Baremetal['node']>[1] = 'available') =>
      api.node({ resource_class, name: `n-${uuid()}`, ...attributes }, state)
    nodes['allocated'] = [
      await make({ instance_uuid: uuid() }),
      await make({ instance_uuid: uuid() }, 'active'),
      await make(),
    ]
    await api.allocated({ resource_class, candidate_nodes: [nodes['allocated'][2]] })
    nodes['reserved'] = [await make(), await make()]
    for (const node of nodes['reserved']) await api.hold([node])
    nodes['claimed'] = [await make()]
    const amounts = { [classInPlacement(resource_class)]: 1 }
    expectStatus(await api.placement.claim(uuid(), { [nodes['claimed'][0]!]: amounts }), 204)
    nodes['maintenance'] = [await make(), await make()]
    for (const node of nodes['maintenance']) expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    nodes['not available'] = [await make({}, 'enroll'), await make({}, 'manageable')]
    const { body } = await api.post('/v1/nodes', { driver: 'fake-hardware' }, { version: '1.10' })
    expectStatus(await api.change(body.uuid, 'resource_class', resource_class), 200)
    nodes['no power state'] = [body.uuid]
    nodes['missing traits'] = [await make(), await make()]
    for (const node of nodes['missing traits']) expectStatus(await api.put(`/v1/nodes/${node}/traits/CUSTOM_FAST`), 204)
  })

  const expected = () => Object.fromEntries(Object.entries(nodes).map(([cause, of]) => [cause, of.length]))
  const total = () => Object.values(nodes).flat().length

  void test('last_error counts the causes', async () => {
    const { uuid: id, last_error } = await api.refused(wanted)
    assert.ok(last_error.startsWith(`Failed to process allocation ${id}: `), last_error)
    assert.ok(last_error.includes(`${total()} of class ${resource_class}: `), last_error)
    for (const words of [
      '3 allocated',
      '2 reserved',
      '2 in maintenance',
      '2 not available',
      '2 without CUSTOM_NVLINK',
    ]) {
      assert.ok(last_error.includes(words), `${words} is not in: ${last_error}`)
    }
  })

  void test('each node has one cause; samples name nodes that have it', async () => {
    const { uuid: id } = await api.refused(wanted)
    const explained = await explain(api, id)
    assert.deepEqual([explained.allocation.uuid, explained.state], [id, 'error'])
    for (const moment of [explained.decided!, explained.now]) {
      assert.equal(moment.considered, total())
      assert.deepEqual(counts(moment), expected())
      assert.ok(!Number.isNaN(Date.parse(moment.at)), moment.at)
      for (const { cause, count, sample } of moment.causes) {
        assert.ok(sample.length > 0 && sample.length <= count)
        for (const { uuid: node, name } of sample) {
          assert.ok(nodes[cause]!.includes(node), `${node} for ${cause}`)
          assert.equal(name, (await api.show(node)).name)
        }
      }
      const missing = moment.causes.find(({ cause }) => cause === 'missing traits')
      assert.deepEqual(missing?.traits, ['CUSTOM_NVLINK'])
    }
  })

  void test('a smaller wish that would be granted is proposed', async () => {
    const { uuid: id } = await api.refused(wanted)
    const { decided, now } = await explain(api, id)
    assert.ok(decided!.relaxations.length > 0)
    assert.match(JSON.stringify(now.relaxations), /CUSTOM_NVLINK/)
    const hopeless = await api.refused({ resource_class: newClass() })
    const { considered, causes, relaxations } = (await explain(api, hopeless.uuid)).now
    assert.deepEqual([considered, causes, relaxations], [0, [], []])
  })

  void test('what was then stays as it was; what is now changes', async () => {
    const [resource_class, name] = [newClass(), `a-${uuid()}`]
    const node = await api.node({ resource_class }, 'available')
    const other = await api.node({ resource_class }, 'manageable')
    const { uuid: holder } = await api.allocated({ resource_class })
    await api.refused({ resource_class, name })
    const { decided, now } = await explain(api, name)
    assert.deepEqual(counts(now), { allocated: 1, 'not available': 1 })
    expectStatus(await api.del(`/v1/allocations/${holder}`), 204)
    expectStatus(await api.del(`/v1/nodes/${other}`), 204)
    const later = await explain(api, name)
    assert.deepEqual(later.decided, decided)
    assert.equal(later.now.considered, 1)
    assert.deepEqual(counts(later.now), {})
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    assert.deepEqual(counts((await explain(api, name)).now), { maintenance: 1 })
  })

  void test('a node that is busy for a moment is said to be busy, beforehand and afterwards', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    expectStatus(await api.change(node, 'driver_info/fake_delay', 60), 200)
    expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'power on' }, NEWEST), 202)
    const told = expectStatus(await api.operator('POST', '/explain/allocations', { resource_class }), 200).body
    assert.deepEqual([told.fits, told.reasons.available, counts(told.reasons)], [false, 0, { busy: 1 }])
    const { uuid: id } = await api.allocate({ resource_class })
    assert.deepEqual(counts((await explain(api, id)).now), { busy: 1 })
    const { last_error } = await api.settled(id)
    assert.match(last_error, /1 of class \S+: 1 locked by a power change or the like, for a moment: try again\.$/)
  })

  void test('not being a candidate is a cause too', async () => {
    const resource_class = newClass()
    const other = await api.node({ resource_class }, 'available')
    const candidate = await api.node({ resource_class }, 'manageable')
    const { uuid: id } = await api.refused({ resource_class, candidate_nodes: [candidate] })
    const { causes, relaxations } = (await explain(api, id)).now
    assert.deepEqual(counts({ causes }), { 'not a candidate': 1, 'not available': 1 })
    assert.equal(causes.find(({ cause }) => cause === 'not a candidate')!.sample[0]!.uuid, other)
    assert.match(JSON.stringify(relaxations), /candidate_nodes/)
  })

  void test('nodes of others are not told of, not even their number', async () => {
    const resource_class = newClass()
    const owner = `owner-${uuid()}`
    await api.node({ resource_class, owner: 'somebody' }, 'available')
    const { uuid: id, last_error } = await api.refused({ resource_class, owner })
    const { considered, causes } = (await explain(api, id)).now
    assert.deepEqual([considered, causes], [0, []])
    assert.ok(!last_error.includes('1 '), last_error)
    await api.node({ resource_class, owner }, 'manageable')
    assert.deepEqual(counts((await explain(api, id)).now), { 'not available': 1 })
  })

  void test('while it waits there is no decision yet', async () => {
    const resource_class = newClass()
    await api.node({ resource_class })
    const { uuid: id } = await api.allocate({ resource_class, wait_until: '1h' })
    const { state, decided, now } = await explain(api, id)
    assert.deepEqual([state, decided, counts(now)], ['allocating', null, { 'not available': 1 }])
    expectStatus(await api.del(`/v1/allocations/${id}`), 204)
  })

  void test('one that has its node can be asked about too; an unknown one is 404', async () => {
    const resource_class = newClass()
    await api.node({ resource_class }, 'available')
    const { uuid: id } = await api.allocated({ resource_class })
    assert.equal((await explain(api, id)).state, 'active')
    for (const ident of [uuid(), 'nobody', '%00', 'x'.repeat(300)]) {
      expectStatus(await api.operator('GET', `/explain/allocations/${ident}`), 400, 404)
    }
  })
})
