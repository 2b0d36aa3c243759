// Ports, port groups, chassis, drivers, conductors, boot devices, vifs, and the lists that are empty.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

let macs = 0
const mac = () =>
  `52:54:00:00:${(macs >> 8).toString(16).padStart(2, '0')}:${(macs++ & 255).toString(16).padStart(2, '0')}`
const add = (path: string, value: unknown) => ({ op: 'add', path, value })

eachMetal('others', api => {
  void test('ports: made, shown, listed, changed, deleted', async () => {
    const node = await api.node()
    const address = mac().toUpperCase()
    const { body, headers } = expectStatus(
      await api.post('/v1/ports', { node_uuid: node, address, extra: { a: 1 }, physical_network: 'p1' }),
      201,
    )
    assert.equal(body.address, address.toLowerCase())
    assert.equal(headers.location, `${api.origin}/baremetal/v1/ports/${body.uuid}`)
    assert.deepEqual((await api.get(`/v1/ports/${body.uuid}`)).body, body)
    const mine = [{ uuid: body.uuid, address: body.address, links: body.links }]
    for (const query of [`node=${node}`, `node_uuid=${node}`, `address=${address}`]) {
      assert.deepEqual((await api.get(`/v1/ports?${query}`)).body.ports, mine)
    }
    assert.deepEqual((await api.get(`/v1/nodes/${node}/ports`)).body.ports, mine)
    assert.deepEqual((await api.get(`/v1/ports?node=${node}&detail=True`)).body.ports, [body])
    assert.deepEqual((await api.get(`/v1/ports/detail?node=${node}`)).body.ports, [body])
    const some = (await api.get(`/v1/ports?node=${node}&fields=uuid,extra`)).body.ports
    assert.deepEqual(Object.keys(some[0]).sort(), ['extra', 'links', 'uuid'])
    const other = mac()
    const after = expectStatus(
      await api.patch(`/v1/ports/${body.uuid}`, [add('/address', other), add('/extra/b', 2)]),
      200,
    )
    assert.deepEqual([after.body.address, after.body.extra], [other, { a: 1, b: 2 }])
    expectStatus(await api.del(`/v1/ports/${body.uuid}`), 204)
    expectFault(await api.get(`/v1/ports/${body.uuid}`), 404)
  })

  void test('ports and port groups: flags may be words, as command lines send them', async () => {
    const node = await api.node()
    const made = await api.post('/v1/ports', {
      node_uuid: node,
      address: mac(),
      pxe_enabled: 'false',
      is_smartnic: 'True',
    })
    const { uuid: port, pxe_enabled, is_smartnic } = expectStatus(made, 201).body
    assert.deepEqual([pxe_enabled, is_smartnic], [false, true])
    const after = expectStatus(await api.patch(`/v1/ports/${port}`, [add('/pxe_enabled', 'yes')]), 200).body
    assert.equal(after.pxe_enabled, true)
    expectFault(await api.patch(`/v1/ports/${port}`, [add('/pxe_enabled', 'maybe')]), 400)
    const group = { node_uuid: node, name: `g-${uuid()}`, standalone_ports_supported: 'off' }
    assert.equal(expectStatus(await api.post('/v1/portgroups', group), 201).body.standalone_ports_supported, false)
  })

  void test('ports: what is refused', async () => {
    const node = await api.node({ name: `n-${uuid()}` })
    const address = mac()
    expectStatus(await api.post('/v1/ports', { node_uuid: node, address }), 201)
    expectFault(await api.post('/v1/ports', { node_uuid: node, address: address.toUpperCase() }), 409)
    for (const wrong of ['x', '', '52:54:00:00:00', 7]) {
      expectFault(await api.post('/v1/ports', { node_uuid: node, address: wrong }), 400)
    }
    expectFault(await api.post('/v1/ports', { node_uuid: uuid(), address: mac() }), 400)
    expectFault(await api.post('/v1/ports', { node_uuid: 'a-name', address: mac() }), 400)
    expectFault(await api.post('/v1/ports', { address: mac() }), 400)
    expectFault(await api.post('/v1/ports', { node_uuid: node, address: mac(), nonsense: 1 }), 400)
    expectFault(await api.get(`/v1/ports?node=${uuid()}`), 404)
    expectFault(await api.get('/v1/ports?fields=nonsense'), 400)
    expectFault(await api.get('/v1/ports?nonsense=1'), 400)
    expectFault(await api.get('/v1/ports?address=x'), 400)
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
    assert.deepEqual((await api.get(`/v1/ports?address=${address}`)).body.ports, [])
  })

  void test('ports: found by uuid alone', async () => {
    for (const name of ['52:54:00:00:00:01', 'malformed:uuid', 'eth0']) {
      expectStatus(await api.get(`/v1/ports/${name}`), 400)
      expectStatus(await api.patch(`/v1/ports/${name}`, [add('/extra/a', 1)]), 400)
      expectStatus(await api.del(`/v1/ports/${name}`), 400)
    }
    expectFault(await api.get(`/v1/ports/${uuid()}`), 404)
  })

  void test('ports: those of a group are in one physical network', async () => {
    const node = await api.node()
    const group = expectStatus(await api.post('/v1/portgroups', { node_uuid: node }), 201).body.uuid
    const make = (more: object) => api.post('/v1/ports', { node_uuid: node, address: mac(), ...more })
    const first = expectStatus(await make({ portgroup_uuid: group, physical_network: 'p1' }), 201).body.uuid
    expectFault(await make({ portgroup_uuid: group, physical_network: 'p2' }), 409, /physical network/)
    expectFault(await make({ portgroup_uuid: group }), 409)
    const other = expectStatus(await make({ physical_network: 'p2' }), 201).body.uuid
    expectFault(await api.patch(`/v1/ports/${other}`, [add('/portgroup_uuid', group)]), 409)
    const both = [add('/portgroup_uuid', group), add('/physical_network', 'p1')]
    expectStatus(await api.patch(`/v1/ports/${other}`, both), 200)
    expectFault(await api.patch(`/v1/ports/${other}`, [add('/physical_network', 'p3')]), 409)
    expectStatus(await api.del(`/v1/ports/${other}`), 204)
    expectStatus(await api.patch(`/v1/ports/${first}`, [add('/physical_network', 'p3')]), 200)
  })

  void test('ports: each field is set and shown from its version on', async () => {
    const node = await api.node()
    const group = expectStatus(await api.post('/v1/portgroups', { node_uuid: node }), 201).body.uuid
    for (const [field, value, minor] of [
      ['pxe_enabled', false, 19],
      ['local_link_connection', { switch_id: '0a:00:00:00:00:01', port_id: '1', switch_info: 's' }, 19],
      ['portgroup_uuid', group, 24],
      ['physical_network', 'p1', 34],
      ['is_smartnic', true, 53],
      ['name', 'eth0', 83],
    ] as const) {
      const [before, then] = [{ version: `1.${minor - 1}` }, { version: `1.${minor}` }]
      const make = (more: object, options: object) =>
        api.post('/v1/ports', { node_uuid: node, address: mac(), ...more }, options)
      expectFault(await make({ [field]: value }, before), 406, new RegExp(field))
      const { body } = expectStatus(await make({ [field]: value }, then), 201)
      assert.deepEqual(body[field], value)
      const path = `/v1/ports/${body.uuid}`
      assert.ok(!(field in (await api.get(path, before)).body), `${field} before 1.${minor}`)
      const unset = [{ op: 'remove', path: `/${field}` }]
      expectFault(await api.patch(path, unset, before), 406, new RegExp(field))
      // What the old client doesn't know stays as it was.
      expectStatus(await api.patch(path, [add('/extra/a', 1)], before), 200)
      assert.deepEqual((await api.get(path, then)).body[field], value)
      expectStatus(await api.patch(path, unset, then), 200)
    }
  })

  void test('drivers: the fields that are asked for, from 1.77 on', async () => {
    const keys = async (path: string) => {
      const { body } = expectStatus(await api.get(path), 200)
      return Object.keys(body.drivers?.[0] ?? body).sort()
    }
    assert.deepEqual(await keys('/v1/drivers?fields=name,type'), ['links', 'name', 'type'])
    assert.deepEqual(await keys('/v1/drivers?fields=default_boot_interface'), ['default_boot_interface', 'links'])
    assert.deepEqual(await keys('/v1/drivers/fake-hardware?fields=hosts'), ['hosts', 'links'])
    for (const path of ['/v1/drivers', '/v1/drivers/fake-hardware']) {
      expectFault(await api.get(`${path}?fields=nonsense`), 400)
      expectFault(await api.get(`${path}?fields=name`, { version: '1.76' }), 406)
    }
    expectFault(await api.get('/v1/drivers?fields=name&detail=True'), 400)
  })

  void test('ports of a node by its name, which a real server gets wrong', async () => {
    const name = `n-${uuid()}`
    const node = await api.node({ name })
    expectStatus(await api.post('/v1/ports', { node_uuid: node, address: mac() }), 201)
    assert.equal((await api.get(`/v1/nodes/${name}/ports`)).body.ports.length, 1)
    assert.equal((await api.get(`/v1/ports?node=${name}`)).body.ports.length, 1)
  })

  void test('port groups', async () => {
    const node = await api.node()
    const name = `bond-${uuid().slice(0, 8)}`
    const { body } = expectStatus(await api.post('/v1/portgroups', { node_uuid: node, name, address: mac() }), 201)
    assert.equal((await api.get(`/v1/portgroups/${name}`)).body.uuid, body.uuid)
    const port = { node_uuid: node, address: mac(), portgroup_uuid: body.uuid }
    expectStatus(await api.post('/v1/ports', port), 201)
    assert.equal((await api.get(`/v1/portgroups/${body.uuid}/ports`)).body.ports.length, 1)
    assert.equal((await api.get(`/v1/nodes/${node}/portgroups`)).body.portgroups.length, 1)
    expectFault(await api.del(`/v1/portgroups/${body.uuid}`), 409)
    const patched = await api.patch(`/v1/portgroups/${body.uuid}`, [add('/mode', '802.3ad')])
    assert.equal(expectStatus(patched, 200).body.mode, '802.3ad')
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
    expectFault(await api.get(`/v1/portgroups/${body.uuid}`), 404)
    expectStatus(await api.get('/v1/portgroups', { version: '1.22' }), 404)
  })

  void test('ports by node, port group and address together', async () => {
    const group = async (node_uuid: string) =>
      expectStatus(await api.post('/v1/portgroups', { node_uuid, address: mac() }), 201).body.uuid
    const port = async (members: Record<string, unknown>) =>
      expectStatus(await api.post('/v1/ports', { address: mac(), ...members }), 201).body
    const [node, other] = [await api.node(), await api.node()]
    const [mine, others] = [await group(node), await group(other)]
    const inside = await port({ node_uuid: node, portgroup_uuid: mine })
    const outside = await port({ node_uuid: node })
    const expected: [string, string[]][] = [
      [`node=${node}&portgroup=${mine}`, [inside.uuid]],
      [`node=${node}&portgroup=${others}`, []],
      [`node=${other}&portgroup=${mine}`, []],
      [`address=${inside.address}&portgroup=${mine}`, [inside.uuid]],
      [`address=${outside.address}&portgroup=${mine}`, []],
      [`address=${inside.address}&node=${other}`, []],
      [`address=${inside.address}&node=${node}&portgroup=${mine}`, [inside.uuid]],
      [`address=${outside.address}&node=${node}&portgroup=${mine}`, []],
    ]
    for (const [query, uuids] of expected) {
      const found = (await api.get(`/v1/ports?${query}`)).body.ports.map((one: { uuid: string }) => one.uuid)
      assert.deepEqual(found, uuids, query)
    }
  })

  void test('chassis', async () => {
    const { body } = expectStatus(await api.post('/v1/chassis', { description: 'rack 1', extra: { a: 1 } }), 201)
    assert.deepEqual((await api.get(`/v1/chassis/${body.uuid}`)).body, body)
    const node = await api.node({ chassis_uuid: body.uuid })
    assert.equal((await api.show(node)).chassis_uuid, body.uuid)
    expectFault(await api.del(`/v1/chassis/${body.uuid}`), 409)
    const patched = await api.patch(`/v1/chassis/${body.uuid}`, [add('/description', 'rack 2')])
    assert.equal(expectStatus(patched, 200).body.description, 'rack 2')
    expectStatus(await api.patch(`/v1/nodes/${node}`, [{ op: 'remove', path: '/chassis_uuid' }]), 200)
    expectStatus(await api.del(`/v1/chassis/${body.uuid}`), 204)
    expectFault(await api.get(`/v1/chassis/${body.uuid}`), 404)
    expectFault(await api.post('/v1/chassis', { nonsense: 1 }), 400)
    assert.ok(Array.isArray((await api.get('/v1/chassis/detail')).body.chassis))
  })

  void test('drivers and their properties', async () => {
    const { body } = expectStatus(await api.get('/v1/drivers'), 200)
    const driver = body.drivers.find(({ name }: { name: string }) => name === 'fake-hardware')
    assert.deepEqual([driver.name, driver.type, driver.hosts.length], ['fake-hardware', 'dynamic', 1])
    assert.equal(driver.properties.length, 2)
    assert.deepEqual((await api.get('/v1/drivers?type=classic')).body.drivers, [])
    expectFault(await api.get('/v1/drivers?type=nonsense'), 400)
    const one = expectStatus(await api.get('/v1/drivers/fake-hardware'), 200).body
    const kinds = 'bios, boot, console, deploy, inspect, management, network, power, raid, rescue, storage, vendor'
    for (const kind of kinds.split(', ')) {
      assert.ok(one[`enabled_${kind}_interfaces`].includes(one[`default_${kind}_interface`]), kind)
    }
    const detailed = (await api.get('/v1/drivers?detail=True')).body.drivers
    assert.deepEqual(
      detailed.find(({ name }: { name: string }) => name === 'fake-hardware'),
      one,
    )
    const properties = expectStatus(await api.get('/v1/drivers/fake-hardware/properties'), 200).body
    assert.equal(typeof properties.fake_delay, 'string')
    expectFault(await api.get('/v1/drivers/nonsense'), 404)
    expectFault(await api.get('/v1/drivers/nonsense/properties'), 404)
  })

  void test('conductors', async () => {
    const { conductors } = expectStatus(await api.get('/v1/conductors'), 200).body
    assert.deepEqual(Object.keys(conductors[0]).sort(), ['alive', 'conductor_group', 'hostname', 'links'])
    const { hostname } = conductors[0]
    const one = expectStatus(await api.get(`/v1/conductors/${hostname}`), 200).body
    assert.ok(one.alive && one.drivers.includes('fake-hardware'))
    assert.match(one.created_at, /\+00:00$/)
    const [detailed, ...rest] = (await api.get('/v1/conductors?detail=True')).body.conductors
    // Its heart may have beaten between the two looks.
    assert.ok(detailed.updated_at >= one.updated_at)
    assert.deepEqual([{ ...detailed, updated_at: one.updated_at }, rest], [one, []])
    expectFault(await api.get('/v1/conductors/nobody'), 404)
    // Pages go on after a name.
    assert.deepEqual(expectStatus(await api.get(`/v1/conductors?marker=${hostname}`), 200).body.conductors, [])
    expectFault(await api.get('/v1/conductors?marker=nobody'), 404)
    assert.equal((await api.show(await api.node())).conductor, hostname)
  })

  void test('boot devices and vifs', async () => {
    const node = await api.node()
    const path = `/v1/nodes/${node}/management/boot_device`
    assert.deepEqual((await api.get(path)).body, { boot_device: 'pxe', persistent: false })
    const { supported_boot_devices: devices } = expectStatus(await api.get(`${path}/supported`), 200).body
    assert.ok(devices.includes('pxe'))
    expectStatus(await api.put(path, { boot_device: 'pxe', persistent: true }), 204)
    assert.deepEqual((await api.get(path)).body, { boot_device: 'pxe', persistent: true })
    for (const body of [{ boot_device: 'nonsense' }, {}, { boot_device: 7 }])
      expectFault(await api.put(path, body), 400)
    const vifs = `/v1/nodes/${node}/vifs`
    assert.deepEqual((await api.get(vifs)).body, { vifs: [] })
    const vif = uuid()
    expectStatus(await api.post(vifs, { id: vif }), 204)
    expectFault(await api.post(vifs, { id: vif }), 409)
    assert.deepEqual((await api.get(vifs)).body, { vifs: [{ id: vif }] })
    expectStatus(await api.del(`${vifs}/${vif}`), 204)
    expectFault(await api.del(`${vifs}/${vif}`), 400)
  })

  void test('lists that are empty, and shards', async () => {
    const node = await api.node({ shard: 's' })
    assert.deepEqual((await api.get(`/v1/nodes/${node}/bios`)).body, { bios: [] })
    expectFault(await api.get(`/v1/nodes/${uuid()}/bios`), 404)
    expectStatus(await api.get('/v1/volume'), 200)
    for (const name of ['connectors', 'targets']) {
      assert.deepEqual((await api.get(`/v1/volume/${name}`)).body, { [name]: [] })
    }
    assert.deepEqual((await api.get('/v1/deploy_templates')).body, { deploy_templates: [] })
    const { shards } = expectStatus(await api.get('/v1/shards'), 200).body
    assert.ok(shards.some((shard: { name: string; count: number }) => shard.name === 's' && shard.count >= 1))
  })
})
