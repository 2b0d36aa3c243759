// The redfish driver through the API: firmware settings, RAID, sensors, lights, events, and what only it can do.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json } from '../../src/shared/json.ts'
import { Baremetal, expectFault } from '../support/baremetal.ts'
import { startBmc, type TestBmc } from '../support/bmc.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'

describe('redfish through the API', () => {
  let server: Server
  let api: Baremetal
  const open: (TestBmc & { stop(): Promise<void> })[] = []
  before(async () => {
    server = await startServer('sqlite::memory:')
    api = new Baremetal(server.origin)
  })
  after(async () => {
    await api.fsck()
    api.close()
    await server.stop()
    const sessions = open.map(bmc => bmc.sessions.size)
    for (const bmc of open) await bmc.stop()
    assert.ok(
      sessions.every(count => count === 0),
      'the server has logged out everywhere',
    )
  })

  const machine = async (more: object = {}) => {
    const bmc = await startBmc({ etags: 'strict', taskPolls: 2 })
    open.push(bmc)
    const node = await api.node({ driver: 'redfish', driver_info: bmc.driverInfo(), ...more }, 'manageable')
    return { bmc, node, path: `/v1/nodes/${node}` }
  }
  const clean = (node: string, ...clean_steps: object[]) =>
    api.go(node, 'clean', 'manageable', { clean_steps, disable_ramdisk: true })

  void test('settings of the firmware are known after manage, and changed by a clean step', async () => {
    const { bmc, node, path } = await machine()
    const value = async () => expectStatus(await api.get(`${path}/bios/BootMode`), 200).body.BootMode.value
    assert.equal(await value(), 'Uefi')
    const settings = [{ name: 'BootMode', value: 'Bios' }]
    await clean(node, { interface: 'bios', step: 'apply_configuration', args: { settings } })
    assert.equal((bmc.machine.below('Bios')['Attributes'] as Json)['BootMode'], 'Bios')
    assert.equal(await value(), 'Bios')
    assert.equal(bmc.machine.power, 'Off')
    await clean(node, { interface: 'bios', step: 'factory_reset' })
    assert.equal(await value(), 'Uefi')
  })

  void test('volumes are made and deleted by clean steps', async () => {
    const { bmc, node, path } = await machine()
    const logical_disks = [{ size_gb: 100, raid_level: '1', is_root_volume: true }]
    expectStatus(await api.put(`${path}/states/raid`, { logical_disks }), 204)
    await clean(node, { interface: 'raid', step: 'create_configuration' })
    const { raid_config } = await api.show(node)
    assert.equal(raid_config.logical_disks[0].raid_level, '1')
    assert.equal(raid_config.logical_disks[0].is_root_volume, true)
    assert.equal((bmc.resource('Systems/1/Storage/RAID1/Volumes')['Members'] as Json[]).length, 1)
    await clean(node, { interface: 'raid', step: 'delete_configuration' })
    assert.deepEqual((bmc.resource('Systems/1/Storage/RAID1/Volumes')['Members'] as Json[]).length, 0)
  })

  void test('steps that can not be done are refused before anything is touched', async () => {
    const { bmc, node } = await machine()
    const refused = async (step: object, reason: RegExp) => {
      const answer = await api.provision(node, 'clean', { clean_steps: [step], disable_ramdisk: true })
      expectFault(answer, 400, reason)
    }
    await refused({ interface: 'bios', step: 'polish' }, /no step polish of interface bios/)
    await refused({ interface: 'bios', step: 'apply_configuration' }, /needs settings/)
    await refused({ interface: 'raid', step: 'create_configuration' }, /no target_raid_config/)
    assert.deepEqual(bmc.machine.resets, [])
  })

  void test('a step that the BMC refuses fails the node with the BMC’s words', async () => {
    const { bmc, node } = await machine()
    bmc.fail({ kind: 'status', status: 400, method: 'PATCH', path: /Bios/, body: 'Setup is locked by its password' })
    const settings = [{ name: 'BootMode', value: 'Bios' }]
    const step = { interface: 'bios', step: 'apply_configuration', args: { settings } }
    const { last_error } = await api.go(node, 'clean', 'clean failed', { clean_steps: [step], disable_ramdisk: true })
    assert.match(last_error, /Setup is locked by its password/)
  })

  void test('sensors, lights and media are asked for and changed', async () => {
    const { bmc, path } = await machine()
    Object.assign(bmc.machine.cd, { Inserted: true, Image: 'http://x/y.iso', ConnectedVia: 'URI' })
    const lights = `${path}/management/indicators`
    expectStatus(await api.put(`${lights}/disk/RAID1:2`, { state: 'ON' }), 204)
    assert.equal(bmc.resource('Systems/1/Storage/RAID1/Drives/2')['IndicatorLED'], 'Lit')
    assert.deepEqual((await api.get(`${lights}/disk/RAID1:2`)).body, { state: 'ON' })
    const methods = expectStatus(await api.get(`${path}/vendor_passthru/methods`), 200).body
    assert.deepEqual(Object.keys(methods), ['eject_vmedia'])
    expectStatus(await api.post(`${path}/vendor_passthru/eject_vmedia`, {}), 200)
    assert.equal(bmc.machine.cd['Inserted'], false)
    expectFault(await api.post(`${path}/vendor_passthru/self_destruct`, {}), 400)
  })
})
