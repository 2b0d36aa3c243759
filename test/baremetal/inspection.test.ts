// What becomes of a node that was inspected: its inventory, ports, traits and class, with the built-in rules.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const inventoryOf = (node: string) => `/v1/nodes/${node}/inventory`
let made = 0
/** A MAC address that no other test has. */
const newAddress = () => `52:54:00:aa:00:${(++made).toString(16).padStart(2, '0')}`

eachMetal('inspection', api => {
  const inspecting = (fake_inventory: object, more: object = {}) =>
    api.node({ driver_info: { fake_inventory }, ...more }, 'manageable')
  const addressesOf = async (node: string) =>
    (await api.get(`/v1/nodes/${node}/ports`)).body.ports.map((port: { address: string }) => port.address).sort()

  void test('keeps what it found whole; a node that was never inspected has no inventory', async () => {
    const node = await inspecting({ gpus: [{ model: 'L4' }], deep: { list: [1, { a: null }] } })
    expectFault(await api.get(inventoryOf(node)), 404, /^Inventory record for node .* could not be found\.$/)
    await api.go(node, 'inspect', 'manageable')
    const { inventory, plugin_data } = expectStatus(await api.get(inventoryOf(node)), 200).body
    assert.deepEqual(inventory.cpu, { count: 8, architecture: 'x86_64' })
    assert.deepEqual([inventory.memory.physical_mb, inventory.gpu_count], [16_384, 1])
    assert.deepEqual(inventory.deep, { list: [1, { a: null }] })
    assert.deepEqual(plugin_data.notes, [])
    expectFault(await api.get(inventoryOf(uuid())), 404)
  })

  void test('makes a new machine allocatable by what it is', async () => {
    const node = await inspecting({ vendor: 'Contoso', gpus: [{ model: 'A-100 (80GB)' }, { model: 'A-100 (80GB)' }] })
    const shown = await api.go(node, 'inspect', 'manageable')
    assert.equal(shown.resource_class, 'baremetal')
    const gpu = ['CUSTOM_GPU', 'CUSTOM_GPU_A_100_80GB', 'CUSTOM_GPU_COUNT_2']
    assert.deepEqual(shown.traits, [...gpu, 'CUSTOM_VENDOR_CONTOSO', 'HW_ARCH_X86_64'])
    assert.deepEqual([shown.properties.vendor, shown.properties.gpu], ['Contoso', 'A-100 (80GB)'])
    await api.go(node, 'provide', 'available')
    const allocation = await api.post('/v1/allocations', { resource_class: 'baremetal', traits: [gpu[1]] })
    expectStatus(allocation, 201)
    const { uuid: given } = allocation.body
    assert.equal((await api.settled(given)).node_uuid, node)
    expectStatus(await api.del(`/v1/allocations/${given}`), 204)
  })

  void test('takes away the traits that it gave and that no longer hold', async () => {
    const node = await inspecting({ gpus: [{ model: 'old' }] })
    await api.put(`/v1/nodes/${node}/traits/CUSTOM_MINE`)
    await api.go(node, 'inspect', 'manageable')
    const value = { gpus: [{ model: 'new' }] }
    await api.patch(`/v1/nodes/${node}`, [{ op: 'replace', path: '/driver_info/fake_inventory', value }])
    const { traits } = await api.go(node, 'inspect', 'manageable')
    const left = ['CUSTOM_GPU', 'CUSTOM_GPU_COUNT_1', 'CUSTOM_GPU_NEW', 'CUSTOM_MINE', 'HW_ARCH_X86_64']
    assert.deepEqual(traits, left)
  })

  void test('adds ports, and leaves addresses of others alone', async () => {
    const [mine, shared] = [newAddress(), newAddress()]
    const other = await api.node({})
    expectStatus(await api.post('/v1/ports', { node_uuid: other, address: shared }), 201)
    const interfaces = [{ mac_address: mine.toUpperCase() }, { mac_address: shared }, { mac_address: 'nonsense' }, {}]
    const node = await inspecting({ interfaces })
    for (const _ of ['first', 'again']) {
      await api.go(node, 'inspect', 'manageable')
      assert.deepEqual(await addressesOf(node), [mine])
      const { notes } = (await api.get(inventoryOf(node))).body.plugin_data
      assert.equal(notes.length, 1)
      assert.match(notes[0], new RegExp(`${shared}.*${other}`))
    }
    const { history } = expectStatus(await api.get(`/v1/nodes/${node}/history?detail=true`), 200).body
    const lines = history.map(({ event }: { event: string }) => event)
    assert.ok(
      lines.some((event: string) => event.startsWith('Inspection found cpus: 8') && event.includes(shared)),
      lines.join('\n'),
    )
    assert.deepEqual(await addressesOf(other), [shared])
  })

  void test('of two machines that report the same address one gets the port, and both are inspected', async () => {
    const addresses = Array.from({ length: 4 }, newAddress)
    const interfaces = addresses.map(mac_address => ({ mac_address }))
    const nodes = [await inspecting({ interfaces }), await inspecting({ interfaces: interfaces.toReversed() })]
    await Promise.all(nodes.map(node => api.go(node, 'inspect', 'manageable')))
    const ports = await Promise.all(nodes.map(addressesOf))
    assert.deepEqual(new Set(ports.flat()), new Set(addresses))
    assert.equal(ports.flat().length, addresses.length)
  })

  void test('and POST /ports of the same address at the same time: one port, and the machine is inspected', async () => {
    for (let round = 0; round < 5; round++) {
      const address = newAddress()
      const [node, other] = [await inspecting({ interfaces: [{ mac_address: address }] }), await api.node({})]
      const [posted] = await Promise.all([
        api.post('/v1/ports', { node_uuid: other, address }),
        api.go(node, 'inspect', 'manageable'),
      ])
      assert.ok(posted.status === 201 || posted.status === 409, String(posted.status))
      const owners = [await addressesOf(node), await addressesOf(other)]
      assert.deepEqual(owners.flat(), [address])
      assert.equal(owners[1]!.length, posted.status === 201 ? 1 : 0)
    }
  })

  void test('leaves out traits beyond the limit, and says so', async () => {
    const gpus = Array.from({ length: 60 }, (_, at) => ({ model: `m${at}` }))
    const node = await inspecting({ gpus })
    const { traits } = await api.go(node, 'inspect', 'manageable')
    assert.equal(traits.length, 50)
    const { notes } = (await api.get(inventoryOf(node))).body.plugin_data
    assert.match(notes[0], /50 traits; not set: .*CUSTOM_GPU_M59/)
  })
})
