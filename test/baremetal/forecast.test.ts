// What would come of an allocation, a reservation or a deletion: the truth of the moment, for those who may do it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, NEWEST, newClass, uuid } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import type { Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'

eachMetal('what would come of it', api => {
  const forecast = (body: object, options: Options = {}) => api.operator('POST', '/explain/allocations', body, options)
  const fits = async (body: object, options: Options = {}) => expectStatus(await forecast(body, options), 200).body

  void test('an allocation would get any node that an allocation gets, and what it gets is then taken', async () => {
    const resource_class = newClass()
    const nodes = await api.nodes(2, { resource_class })
    const before = await fits({ resource_class })
    assert.deepEqual([before.fits, before.count, before.promised], [true, 2, 0])
    assert.deepEqual(before.nodes.map((node: { uuid: string }) => node.uuid).toSorted(), nodes.toSorted())
    await api.allocated({ resource_class })
    assert.equal((await fits({ resource_class })).count, 1)
    await api.allocated({ resource_class })
    const none = await fits({ resource_class })
    assert.deepEqual([none.fits, none.nodes, none.reasons.causes[0].cause], [false, [], 'allocated'])
    assert.equal((await api.allocationsOf(resource_class)).length, 2, 'asking makes none')
  })

  void test('where it would stand if it waited, and what has to end before', async () => {
    const resource_class = newClass()
    await api.node({ resource_class }, 'available')
    assert.equal((await fits({ resource_class })).queue, null)
    const { expires_at } = await api.allocated({ resource_class, expires_at: '20m' })
    const first = (await fits({ resource_class, wait_until: '1h' })).queue
    assert.deepEqual([first.place, first.of, first.because.what], [1, 1, 'allocation'])
    assert.equal(Date.parse(first.start), Date.parse(expires_at))
    await api.allocate({ resource_class, expires_at: '30m', wait_until: '1h' })
    const second = (await fits({ resource_class, expires_at: '50m', wait_until: '1h' })).queue
    assert.deepEqual([second.place, second.of, second.because.what], [2, 2, 'ahead'])
    assert.equal((await api.allocationsOf(resource_class)).length, 2, 'asking makes none')
  })

  void test('those who wait for something else are not in the way', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'manageable')
    await api.allocate({ resource_class, traits: ['CUSTOM_LATER'], wait_until: '10m' })
    await api.go(node, 'provide', 'available')
    assert.equal((await fits({ resource_class })).fits, true)
  })

  void test('a member learns of the nodes of its project, and of no others', async () => {
    const [mine, resource_class] = [uuid(), newClass()]
    const member = as('member', mine)
    const foreign = await api.node({ resource_class, owner: uuid() }, 'available')
    await api.node({ resource_class }, 'available')
    const { fits: isThere, count, reasons, nodes } = await fits({ resource_class }, member)
    assert.deepEqual([isThere, count, nodes, reasons.considered, reasons.causes], [false, 0, [], 0, []])
    const told = async (node: string) =>
      JSON.stringify((await forecast({ resource_class, candidate_nodes: [node] }, member)).body)
        .replaceAll(node, 'X')
        .replaceAll(/req-[0-9a-f-]+/g, '')
    assert.equal(await told(foreign), await told(uuid()))
    const own = await api.node({ resource_class, owner: mine, name: `n-${uuid()}` }, 'available')
    const found = await fits({ resource_class }, member)
    assert.deepEqual(
      found.nodes.map((node: { uuid: string }) => node.uuid),
      [own],
    )
    expectStatus(await forecast({ resource_class, owner: uuid() }, member), 403)
    expectStatus(await forecast({ resource_class }, as('reader', mine)), 403)
  })

  void test('what an allocation would be refused for, its forecast is refused for', async () => {
    const resource_class = newClass()
    const name = `a-${uuid()}`
    const { uuid: taken } = await api.allocate({ resource_class, name })
    expectStatus(await forecast({ resource_class, name }), 409)
    expectStatus(await forecast({ resource_class, uuid: taken }), 409)
    expectStatus(await forecast({}), 400)
    expectStatus(await forecast({ resource_class, traits: ['lower case'] }), 400)
    expectStatus(await forecast({ resource_class, candidate_nodes: ['no-such-node'] }), 400)
    expectStatus(await forecast({ resource_class, colour: 'red' }), 400)
    expectStatus(await forecast({ resource_class, expires_at: 'never' }), 400)
  })

  void test('a deployed node would be written down as allocated, and is not', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'active')
    const { fits: isFine, nodes } = await fits({ node })
    assert.deepEqual([isFine, nodes], [true, [{ uuid: node, name: null }]])
    assert.equal((await api.show(node)).allocation_uuid, null)
    expectStatus(await forecast({ node: await api.node({ resource_class }, 'available') }), 409)
  })

  void test('a deletion names what goes with a node, and the node stays', async () => {
    const node = await api.node()
    const port = { node_uuid: node, address: `52:54:00:${uuid().slice(0, 2)}:${uuid().slice(0, 2)}:01` }
    const { body } = expectStatus(await api.post('/v1/ports', port), 201)
    const { objects } = expectStatus(await api.operator('GET', `/explain/deletions/nodes/${node}`), 200).body
    assert.ok(objects.some((object: object) => JSON.stringify(object) === JSON.stringify({ kind: 'node', id: node })))
    assert.ok(objects.some(({ kind, id }: { kind: string; id: string }) => kind === 'port' && id === body.uuid))
    assert.equal((await api.show(node)).uuid, node)
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
    expectStatus(await api.operator('GET', `/explain/deletions/nodes/${node}`), 404)
  })

  void test('a member is told of what it sees, and not how the ledger does it', async () => {
    const [mine, resource_class] = [uuid(), newClass()]
    const node = await api.node({ resource_class, owner: mine }, 'available')
    const member = as('member', mine)
    const made = expectStatus(await api.post('/v1/allocations', { resource_class }, { ...NEWEST, ...member }), 201).body
    await api.settled(made.uuid)
    const kinds = async (options?: Options) => {
      const path = `/explain/deletions/allocations/${made.uuid}`
      const { objects } = expectStatus(await api.operator('GET', path, undefined, options), 200).body
      return objects.map(({ kind }: { kind: string }) => kind).toSorted()
    }
    assert.deepEqual(await kinds(member), ['allocation', 'node'])
    assert.ok((await kinds()).includes('consumer'))
    assert.equal((await api.show(node)).allocation_uuid, made.uuid)
  })
})
