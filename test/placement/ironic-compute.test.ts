// The life of a server on a node, as nova-compute with the ironic driver asks for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, NEWEST, uuid, waitFor } from '../support/baremetal.ts'
import { IronicCompute } from '../support/ironic-compute.ts'
import { expectStatus } from '../support/placement.ts'

eachMetal('nova-compute with the ironic driver', api => {
  const { placement } = api
  const fleet = async (count: number) => {
    const resourceClass = `c${uuid().slice(0, 8)}`
    const nodes = await api.nodes(count, { resource_class: resourceClass })
    for (const node of nodes) expectStatus(await api.put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_A'] }), 204)
    return { nodes, resourceClass, compute: new IronicCompute(api, resourceClass) }
  }
  const destroyed = async (compute: IronicCompute, server: string, node: string) => {
    await compute.destroy(server, () => waitFor('free', async () => (await compute.nodeOf(server)) === null))
    await api.until(node, 'available')
  }

  void test('starts with one write for each node, and then looks on in silence', async () => {
    const { nodes, compute } = await fleet(3)
    await compute.period()
    assert.deepEqual(
      compute.lately(),
      nodes.map(() => 'PUT traits 200'),
    )
    await compute.period()
    assert.deepEqual(compute.lately(), [])
    for (const node of nodes) assert.deepEqual((await api.show(node)).traits, ['CUSTOM_A'])
  })

  void test('boots, looks after and deletes a server; what it says of reserved changes nothing', async () => {
    const { compute, resourceClass } = await fleet(1)
    await compute.period()
    const server = uuid()
    const node = (await compute.boot(server, ['CUSTOM_A']))!
    await api.until(node, 'active')
    compute.lately()
    await compute.period()
    const [same, ...last] = compute.lately().toReversed()
    assert.deepEqual([same, last.length > 0], ['PUT inventories 200', true])
    const generation = await placement.generation(node)
    await compute.period()
    assert.deepEqual(compute.lately(), [`PUT CUSTOM_${resourceClass.toUpperCase()} 204`, 'PUT inventories 200'])
    assert.equal(await placement.generation(node), generation)
    assert.equal(await compute.boot(uuid()), null)
    await destroyed(compute, server, node)
    await compute.period()
    await compute.period()
    compute.lately()
    await compute.period()
    assert.deepEqual(compute.lately(), [])
    const second = uuid()
    assert.equal(await compute.boot(second), node)
    await api.until(node, 'active')
    await destroyed(compute, second, node)
  })

  void test('a changed trait of the node is passed on, and a disabled service hides all nodes', async () => {
    const { nodes, compute } = await fleet(2)
    await compute.period()
    expectStatus(await api.put(`/v1/nodes/${nodes[0]}/traits`, { traits: ['CUSTOM_B'] }), 204)
    await compute.period()
    compute.lately()
    await compute.period()
    assert.deepEqual(compute.lately(), [])
    compute.isDisabled = true
    await compute.period()
    assert.deepEqual(compute.lately(), ['PUT traits 200', 'PUT traits 200'])
    assert.equal(await compute.boot(uuid()), null)
    compute.isDisabled = false
    await compute.period()
    const server = uuid()
    assert.equal(await compute.boot(server, ['CUSTOM_B']), nodes[0])
    await api.until(nodes[0]!, 'active')
    await destroyed(compute, server, nodes[0]!)
  })

  void test('a node that Holdfast gave away or holds is not Nova’s until it is free', async () => {
    const { nodes, compute, resourceClass } = await fleet(2)
    await compute.period()
    const given = await api.allocated({ resource_class: resourceClass })
    const held = nodes.find(node => node !== given.node_uuid)!
    const hold = await api.hold([held])
    await compute.period()
    assert.equal(await compute.boot(uuid()), null)
    expectStatus(await api.del(`/v1/allocations/${given.uuid}`, NEWEST), 204)
    expectStatus(await api.del(`/v1/reservations/${hold.uuid}`, NEWEST), 204)
    await compute.period()
    const servers = [uuid(), uuid()]
    const got = [await compute.boot(servers[0]!), await compute.boot(servers[1]!)]
    assert.deepEqual(new Set(got), new Set(nodes))
    for (const server of servers) {
      const node = (await compute.nodeOf(server))!.uuid
      await api.until(node, 'active')
      await destroyed(compute, server, node)
    }
  })

  void test('a node that is deleted or in maintenance is left alone', async () => {
    const { nodes, compute } = await fleet(2)
    await compute.period()
    compute.lately()
    expectStatus(await api.put(`/v1/nodes/${nodes[0]}/maintenance`), 202)
    expectStatus(await api.del(`/v1/nodes/${nodes[1]}`), 204)
    await compute.period()
    assert.ok(compute.lately().includes(`DELETE ${nodes[1]} 204`))
    await compute.period()
    assert.deepEqual(compute.lately(), [])
    assert.equal(await compute.boot(uuid()), null)
  })
})
