// BIOS settings and logical disks: what is wanted, what steps make of it, and what is shown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const DISKS = { logical_disks: [{ raid_level: '1', size_gb: 100 }] }

eachMetal('firmware', api => {
  void test('BIOS settings show after a step has set them, with details from 1.74 on', async () => {
    const node = await api.node({}, 'manageable')
    assert.deepEqual((await api.get(`/v1/nodes/${node}/bios`)).body, { bios: [] })
    const settings = [
      { name: 'ProcVirtualization', value: 'Enabled' },
      { name: 'Boot Mode/1', value: 3 },
    ]
    const clean_steps = [{ interface: 'bios', step: 'apply_configuration', args: { settings } }]
    await api.go(node, 'clean', 'manageable', { clean_steps })
    const path = `/v1/nodes/${node}/bios`
    const { bios } = expectStatus(await api.get(path), 200).body
    assert.deepEqual(
      bios.map((one: { name: string; value: string }) => [one.name, one.value]),
      [
        ['Boot Mode/1', '3'],
        ['ProcVirtualization', 'Enabled'],
      ],
    )
    assert.deepEqual(Object.keys(bios[0]).sort(), ['created_at', 'links', 'name', 'updated_at', 'value'])
    const one = `${path}/${encodeURIComponent('Boot Mode/1')}`
    assert.equal(expectStatus(await api.get(one), 200).body['Boot Mode/1'].attribute_type, null)
    const old = { version: '1.73' }
    assert.ok(!('attribute_type' in expectStatus(await api.get(one, old), 200).body['Boot Mode/1']))
    assert.equal((await api.get(`${path}?detail=True`)).body.bios[0].read_only, null)
    assert.deepEqual(Object.keys((await api.get(`${path}?fields=name`)).body.bios[0]).sort(), ['links', 'name'])
    for (const query of ['detail=True', 'fields=name']) expectFault(await api.get(`${path}?${query}`, old), 406)
    for (const query of ['detail=x', 'fields=x', 'detail=True&fields=name', 'x=1']) {
      expectFault(await api.get(`${path}?${query}`), 400)
    }
    expectFault(await api.get(`${path}/nothing`), 404, /BIOS setting/)
    expectFault(await api.get(`/v1/nodes/${uuid()}/bios/nothing`), 404)
    expectStatus(await api.get(path, { version: '1.39' }), 404)
    await api.go(node, 'clean', 'manageable', { clean_steps: [{ interface: 'bios', step: 'factory_reset' }] })
    assert.deepEqual((await api.get(path)).body.bios, [])
  })

  void test('logical disks are wanted, and made by a step', async () => {
    const node = await api.node({}, 'manageable')
    const path = `/v1/nodes/${node}/states/raid`
    expectStatus(await api.put(path, DISKS), 204)
    assert.deepEqual((await api.show(node)).target_raid_config, DISKS)
    assert.deepEqual((await api.show(node)).raid_config, {})
    const create = [{ interface: 'raid', step: 'create_configuration' }]
    assert.deepEqual((await api.go(node, 'clean', 'manageable', { clean_steps: create })).raid_config, DISKS)
    const remove = [{ interface: 'raid', step: 'delete_configuration' }]
    const after = await api.go(node, 'clean', 'manageable', { clean_steps: remove })
    assert.deepEqual(after.raid_config, { logical_disks: [] })
    expectStatus(await api.put(path, {}), 204)
    assert.deepEqual((await api.show(node)).target_raid_config, {})
    for (const wrong of [[], 'x', { logical_disks: [{}] }, { more: 1 }]) expectFault(await api.put(path, wrong), 400)
    expectStatus(await api.put(path, DISKS, { version: '1.11' }), 404)
    expectFault(await api.put(`/v1/nodes/${uuid()}/states/raid`, DISKS), 404)
    const off = await api.node({ raid_interface: 'no-raid' })
    expectFault(await api.put(`/v1/nodes/${off}/states/raid`, DISKS), 404, /does not support raid/)
  })

  void test('a driver explains logical disks', async () => {
    const path = '/v1/drivers/fake-hardware/raid/logical_disk_properties'
    assert.match(expectStatus(await api.get(path), 200).body.size_gb, /GiB/)
    expectStatus(await api.get(path, { version: '1.11' }), 404)
    expectFault(await api.get('/v1/drivers/nothing/raid/logical_disk_properties'), 404)
  })
})
