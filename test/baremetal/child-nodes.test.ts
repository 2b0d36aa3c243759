// Nodes that are built into others.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eachMetal, expectFault, NEWEST, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

eachMetal('child nodes', api => {
  let [parent, child] = ['', '']

  before(async () => {
    parent = await api.node({ name: 'server' })
    const card = { driver: 'fake-hardware', name: 'card', parent_node: parent.toUpperCase() }
    const { body } = expectStatus(await api.post('/v1/nodes', card, NEWEST), 201)
    assert.equal(body.parent_node, parent)
    child = body.uuid
  })

  const names = async (query: string) => {
    const { body } = expectStatus(await api.get(`/v1/nodes?fields=name&${query}`, NEWEST), 200)
    return body.nodes.map((node: { name: string }) => node.name).join()
  }
  const patch = (node: string, value: unknown) =>
    api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/parent_node', value }], NEWEST)

  void test('the children of a node are listed, from 1.83 on', async () => {
    for (const ident of [parent, 'server']) {
      assert.deepEqual(expectStatus(await api.get(`/v1/nodes/${ident}/children`, NEWEST), 200).body, {
        children: [child],
      })
    }
    assert.deepEqual((await api.get(`/v1/nodes/${child}/children`, NEWEST)).body, { children: [] })
    expectFault(await api.get(`/v1/nodes/${parent}/children`), 404)
    expectFault(await api.get(`/v1/nodes/${uuid()}/children`, NEWEST), 404)
  })

  void test('the field is there from 1.83 on', async () => {
    assert.equal((await api.get(`/v1/nodes/${child}`, NEWEST)).body.parent_node, parent)
    assert.equal((await api.get(`/v1/nodes/${parent}`, NEWEST)).body.parent_node, null)
    assert.ok(!('parent_node' in (await api.get(`/v1/nodes/${child}`)).body))
    expectFault(await api.get('/v1/nodes?fields=parent_node'), 406)
    expectFault(await api.get(`/v1/nodes?parent_node=${parent}`), 406)
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', parent_node: parent }), 406)
  })

  void test('lists are filtered and sorted by it', async () => {
    assert.equal(await names(`parent_node=${parent}`), 'card')
    assert.equal(await names(`parent_node=${uuid()}`), '')
    expectFault(await api.get('/v1/nodes?parent_node=x', NEWEST), 400)
    assert.equal(await names(`sort_key=parent_node&parent_node=${parent}`), 'card')
  })

  void test('lists leave them out unless someone asks for them', async () => {
    assert.equal(await names(''), 'server')
    assert.equal(await names('provision_state=enroll'), 'server')
    assert.equal(await names('include_children=True'), 'server,card')
    assert.equal(await names('include_children=True&provision_state=enroll&sort_key=name'), 'card,server')
    assert.equal(await names(`include_children=False&parent_node=${parent}`), 'card')
    assert.equal((await api.get('/v1/nodes')).body.nodes.length, 1)
    expectFault(await api.get('/v1/nodes?include_children=True'), 406)
  })

  void test('a parent is another node that is there, and stays as long as it has children', async () => {
    expectFault(await patch(child, uuid()), 400)
    expectFault(await patch(parent, parent), 400)
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', parent_node: uuid() }, NEWEST), 400)
    expectFault(await api.del(`/v1/nodes/${parent}`), 409)
    const [other, its] = [await api.node(), await api.node()]
    expectStatus(await patch(its, other), 200)
    expectStatus(await api.del(`/v1/nodes/${its}`), 204)
    expectStatus(await api.del(`/v1/nodes/${other}`), 204)
  })

  void test('it is taken away and given back', async () => {
    assert.equal(expectStatus(await patch(child, null), 200).body.parent_node, null)
    assert.equal(await names(`parent_node=${parent}`), '')
    expectFault(await patch(child, 'server'), 400)
    assert.equal(expectStatus(await patch(child, parent), 200).body.parent_node, parent)
    assert.equal(await names(`parent_node=${parent}`), 'card')
  })
})
