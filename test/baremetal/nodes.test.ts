// Nodes: created, shown, changed and deleted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, fault, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const FIELDS = `uuid, created_at, updated_at, automated_clean, bios_interface, boot_interface, boot_mode, clean_step,
conductor_group, console_enabled, console_interface, deploy_interface, deploy_step, description, driver, driver_info,
driver_internal_info, extra, fault, inspection_finished_at, inspection_started_at, inspect_interface, instance_info,
instance_uuid, last_error, lessee, maintenance, maintenance_reason, management_interface, name, network_data,
network_interface, owner, power_interface, power_state, properties, protected, protected_reason, provision_state,
provision_updated_at, raid_config, raid_interface, rescue_interface, reservation, resource_class, retired, retired_reason,
secure_boot, shard, storage_interface, target_power_state, target_provision_state, target_raid_config, traits,
vendor_interface, links, conductor, allocation_uuid, chassis_uuid, ports, states, portgroups, volume`
  .split(/,\s*/)
  .sort()

const name = () => `n-${uuid().slice(0, 13)}`
const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const remove = (path: string) => ({ op: 'remove', path })

eachMetal('nodes', api => {
  const patch = (node: string, ...patches: object[]) => api.patch(`/v1/nodes/${node}`, patches)
  const post = (body: object) => api.post('/v1/nodes', body)
  const refusedPost = async (body: object, status: number, pattern?: RegExp) =>
    expectFault(await post({ driver: 'fake-hardware', ...body }), status, pattern)

  void test('a new node is answered whole, with all fields and their defaults', async () => {
    const { body, headers } = expectStatus(await post({ driver: 'fake-hardware' }), 201)
    assert.deepEqual(Object.keys(body).sort(), FIELDS)
    assert.equal(headers.location, `${api.origin}/baremetal/v1/nodes/${body.uuid}`)
    for (const field of ['clean_step', 'driver_info', 'extra', 'properties', 'instance_info', 'network_data']) {
      assert.deepEqual(body[field], {})
    }
    assert.deepEqual(body.traits, [])
    assert.equal(body.conductor_group, '')
    assert.equal(body.provision_state, 'enroll')
    assert.equal(body.power_state, null)
    assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
    assert.equal(body.updated_at, null)
    assert.deepEqual((await api.show(body.uuid)).links, body.links)
  })

  void test('all attributes that may be given come back', async () => {
    const chassis = expectStatus(await api.post('/v1/chassis', { description: 'rack' }), 201).body.uuid
    const given = {
      uuid: uuid(),
      name: name(),
      driver_info: { address: '::1' },
      properties: { cpus: 8, local_gb: '100' },
      extra: { a: [1, { b: null }] },
      instance_info: { image_source: 'x' },
      resource_class: 'gpu-a',
      owner: 'me',
      lessee: 'you',
      description: 'a box',
      chassis_uuid: chassis,
      automated_clean: false,
      maintenance: true,
      network_data: { links: [] },
      retired: true,
      retired_reason: 'old',
      shard: 's1',
      deploy_interface: 'fake',
      raid_interface: 'no-raid',
    }
    const { body } = expectStatus(await post({ driver: 'fake-hardware', ...given }), 201)
    for (const [key, value] of Object.entries(given)) assert.deepEqual(body[key], value, key)
  })

  void test('null is as good as absent', async () => {
    const { body } = expectStatus(await post({ driver: 'fake-hardware', name: null, extra: null, owner: null }), 201)
    assert.deepEqual([body.name, body.extra, body.owner], [null, {}, null])
  })

  void test('what can not be is 400', async () => {
    expectFault(await post({}), 400, /driver/)
    expectFault(await post({ driver: 'nonsense' }), 400, /No valid host/)
    await refusedPost({ traits: ['CUSTOM_A'] }, 400)
    await refusedPost({ provision_state: 'available' }, 400)
    await refusedPost({ nonsense: 1 }, 400)
    await refusedPost({ uuid: 'x' }, 400)
    await refusedPost({ deploy_interface: 'direct' }, 400)
    await refusedPost({ conductor_group: 'nobody-there' }, 400, /No valid host/)
    await refusedPost({ chassis_uuid: uuid() }, 400)
    await refusedPost({ resource_class: 'x'.repeat(81) }, 400)
    await refusedPost({ description: 'x'.repeat(4097) }, 400)
    const reserved = ['detail', 'validate', 'maintenance', 'states', 'management', 'vendor_passthru']
    for (const wrong of ['a b', 'ä', '', 'x'.repeat(256), uuid(), 7, ...reserved])
      await refusedPost({ name: wrong }, 400)
    for (const key of ['cpus', 'local_gb', 'memory_mb']) await refusedPost({ properties: { [key]: 'many' } }, 400)
    for (const key of ['extra', 'driver_info', 'properties', 'instance_info']) await refusedPost({ [key]: 'x' }, 400)
    await refusedPost({ maintenance: 'maybe' }, 400)
    await refusedPost({ instance_uuid: 'x' }, 400)
  })

  void test('uuid, name and instance_uuid are had once', async () => {
    const given = { uuid: uuid(), name: name(), instance_uuid: uuid() }
    expectStatus(await post({ driver: 'fake-hardware', ...given }), 201)
    await refusedPost({ uuid: given.uuid }, 409)
    await refusedPost({ name: given.name }, 409)
    await refusedPost({ instance_uuid: given.instance_uuid }, 409)
  })

  void test('a node is found by uuid and name, with chosen fields', async () => {
    const its = name()
    const node = await api.node({ name: its })
    assert.equal((await api.show(its)).uuid, node)
    assert.equal((await api.show(node.toUpperCase())).uuid, node)
    const { body } = await api.get(`/v1/nodes/${its}?fields=uuid,name`)
    assert.deepEqual(Object.keys(body).sort(), ['links', 'name', 'uuid'])
    expectFault(await api.get(`/v1/nodes/${its}?fields=nonsense`), 400)
    expectFault(await api.get(`/v1/nodes/${its}?nonsense=1`), 400)
    expectStatus(await api.get(`/v1/nodes/${its}?fields=allocation_uuid`), 200)
    expectFault(await api.get(`/v1/nodes/${uuid()}`), 404, /could not be found/)
  })

  void test('secrets are never shown again', async () => {
    const node = await api.node({ driver_info: { ipmi_password: 'x', deep: { auth_token: 'y', user: 'z' } } })
    assert.deepEqual((await api.show(node)).driver_info, {
      ipmi_password: '******',
      deep: { auth_token: '******', user: 'z' },
    })
    const listed = (await api.get('/v1/nodes/detail')).body.nodes.find((n: { uuid: string }) => n.uuid === node)
    assert.equal(listed.driver_info.ipmi_password, '******')
  })

  void test('a patch changes what it names, all or nothing', async () => {
    const node = await api.node({ extra: { a: 1 } })
    const after = expectStatus(
      await patch(node, add('/extra/b', 2), add('/name', name()), add('/extra/a', 9)),
      200,
    ).body
    assert.deepEqual(after.extra, { a: 9, b: 2 })
    assert.notEqual(after.updated_at, null)
    expectFault(await patch(node, add('/extra/c', 3), remove('/extra/nothing')), 400)
    expectFault(await patch(node, add('/extra/c', 3), { op: 'replace', path: '/extra/nothing', value: 1 }), 400)
    assert.deepEqual((await api.show(node)).extra, { a: 9, b: 2 })
    expectStatus(await patch(node), 200)
  })

  void test('a removed attribute gets its default', async () => {
    const node = await api.node({ name: name(), extra: { a: 1 }, raid_interface: 'no-raid', resource_class: 'x' })
    const body = expectStatus(
      await patch(node, remove('/name'), remove('/extra'), remove('/raid_interface'), remove('/resource_class')),
      200,
    ).body
    assert.deepEqual([body.name, body.extra, body.raid_interface, body.resource_class], [null, {}, 'fake', null])
  })

  void test('only add, replace and remove, only valid paths, only what may be patched', async () => {
    const node = await api.node()
    for (const op of ['test', 'move', 'copy']) expectFault(await patch(node, { op, path: '/extra/a', value: 1 }), 400)
    for (const path of ['extra', '/extra/', '/ex tra', '//']) expectFault(await patch(node, add(path, 1)), 400)
    for (const path of [
      '/uuid',
      '/traits',
      '/provision_state',
      '/power_state',
      '/reservation',
      '/nonsense',
      '/links',
    ]) {
      expectFault(await patch(node, add(path, 'x')), 400, /Cannot patch .* Only the following/)
    }
    expectFault(await api.patch(`/v1/nodes/${node}`, { op: 'add' }), 400)
    expectFault(await patch(node, add('/name', 'a b')), 400)
    expectFault(await patch(node, add('/driver', 'nonsense')), 400)
    expectFault(await patch(node, add('/properties/cpus', 'x')), 400)
    expectFault(await patch(uuid(), add('/extra/a', 1)), 404)
  })

  void test('names and instances of others are 409', async () => {
    const [one, two] = [await api.node({ name: name(), instance_uuid: uuid() }), await api.node()]
    const { name: taken, instance_uuid } = await api.show(one)
    expectFault(await patch(two, add('/name', taken)), 409)
    expectFault(await patch(two, add('/instance_uuid', instance_uuid)), 409)
    expectFault(await patch(one, add('/instance_uuid', uuid())), 409)
    expectStatus(await patch(one, add('/instance_uuid', instance_uuid)), 200)
    expectStatus(await patch(one, remove('/instance_uuid')), 200)
    expectStatus(await patch(two, add('/instance_uuid', instance_uuid)), 200)
  })

  void test('class and interfaces change only where nothing depends on them', async () => {
    const node = await api.node({}, 'active')
    expectFault(await patch(node, add('/resource_class', 'x')), 409)
    expectFault(await patch(node, add('/raid_interface', 'no-raid')), 409)
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    expectStatus(await patch(node, add('/raid_interface', 'no-raid')), 200)
    expectFault(await patch(node, add('/resource_class', 'x')), 409)
    const free = await api.node({}, 'available')
    expectStatus(await patch(free, add('/resource_class', 'x'), add('/raid_interface', 'no-raid')), 200)
  })

  void test('protected is for active nodes, retired not for available ones', async () => {
    const [active, available] = [await api.node({}, 'active'), await api.node({}, 'available')]
    expectFault(await patch(available, add('/protected', true)), 409)
    expectFault(await patch(available, add('/retired', true)), 409)
    expectFault(await patch(active, add('/protected_reason', 'mine')), 400, /protected/)
    expectFault(await patch(active, add('/retired_reason', 'old')), 400, /retired/)
    expectStatus(await patch(active, add('/protected', true), add('/protected_reason', 'mine')), 200)
    expectFault(await api.provision(active, 'deleted'), 403)
    expectFault(await api.provision(active, 'rebuild'), 403)
    expectFault(await api.del(`/v1/nodes/${active}`), 403)
    const body = expectStatus(await patch(active, remove('/protected')), 200).body
    assert.deepEqual([body.protected, body.protected_reason], [false, null])
    expectStatus(await patch(active, add('/retired', true), add('/retired_reason', 'old')), 200)
  })

  void test('a node on its way can not be patched or deleted', async () => {
    const node = await api.node({ driver_info: { fake_delay: { clean: 0.4 } } }, 'manageable')
    expectStatus(await api.provision(node, 'provide'), 202)
    expectFault(await patch(node, add('/extra/a', 1)), 409, /locked/)
    expectFault(await api.del(`/v1/nodes/${node}`), 409, /locked/)
    expectFault(await api.provision(node, 'manage'), 409, /is locked by host .*, please retry/)
    await api.until(node, 'available')
    expectStatus(await patch(node, add('/extra/a', 1)), 200)
  })

  void test('a node is deleted where nobody uses it', async () => {
    for (const state of ['enroll', 'manageable', 'available'] as const) {
      const node = await api.node({}, state)
      expectStatus(await api.del(`/v1/nodes/${node}`), 204)
      expectFault(await api.get(`/v1/nodes/${node}`), 404)
      expectStatus(await api.placement.get(`/resource_providers/${node}`), 404)
    }
    const active = await api.node({}, 'active')
    assert.match(fault(expectStatus(await api.del(`/v1/nodes/${active}`), 409)), /active/)
    const bound = await api.node({ instance_uuid: uuid() })
    expectFault(await api.del(`/v1/nodes/${bound}`), 409)
    expectFault(await api.del(`/v1/nodes/${uuid()}`), 404)
  })

  void test('in maintenance neither state nor instance keep it', async () => {
    const node = await api.node({ instance_uuid: uuid() }, 'active')
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`, { reason: 'gone' }), 202)
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
  })
})
