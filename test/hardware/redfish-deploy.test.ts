// Deployments with redfish that are not the common one: over HTTP, on BMCs that forget, refused ones, and servers.
import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { expectFault } from '../support/baremetal.ts'
import { type BmcOptions, startBmc } from '../support/bmc.ts'
import { Compute } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'

const ISO = 'http://images.example/boot.iso'

void describe('deployments with redfish', () => {
  let server: Server
  const compute = new Compute()
  const api = compute.baremetal
  before(async () => {
    server = await startServer('sqlite::memory:')
    compute.reach([server.origin])
  })
  after(async () => {
    await compute.fsck()
    compute.close()
    await server.stop()
  })

  const available = async (t: TestContext, attributes: object = {}, options: BmcOptions = {}) => {
    const bmc = await startBmc(options)
    t.after(() => bmc.stop())
    const node = await api.node({ driver: 'redfish', driver_info: bmc.driverInfo(), ...attributes }, 'available')
    return { bmc, node, machine: bmc.machine }
  }
  const withInfo = async (node: string, value: object) =>
    expectStatus(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/instance_info', value }]), 200)

  void test('over HTTP: the firmware gets the URL, and no medium is inserted', async t => {
    const { bmc, node, machine } = await available(t, { boot_interface: 'redfish-https' })
    const listed = machine.boot['BootSourceOverrideTarget@Redfish.AllowableValues'] as string[]
    if (!listed.includes('UefiHttp')) listed.push('UefiHttp')
    await withInfo(node, { boot_iso: `${ISO}?a=b` })
    expectFault(await api.provision(node, 'active'), 400, /no \? and no & for boot over HTTP/)
    await withInfo(node, { boot_iso: ISO })
    await api.go(node, 'active', 'active')
    assert.deepEqual(machine.boots, [{ target: 'UefiHttp', image: null, httpBootUri: ISO }])
    assert.equal(bmc.seen('POST', 'InsertMedia').length, 0)
    await api.go(node, 'deleted', 'available')
    assert.deepEqual([machine.power, machine.boot['BootSourceOverrideTarget']], ['Off', 'Hdd'])
  })

  void test('a BMC that forgets the device after each boot is told again', async t => {
    const { node, machine } = await available(t)
    machine.boot['BootSourceOverrideEnabled@Redfish.AllowableValues'] = ['Once', 'Disabled']
    await withInfo(node, { boot_iso: ISO })
    await api.go(node, 'active', 'active')
    expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'rebooting' }), 202)
    await api.until(node, 'active')
    assert.deepEqual(
      machine.boots.map(({ target, image }) => [target, image]),
      [
        ['Cd', ISO],
        ['Cd', ISO],
      ],
    )
    await api.go(node, 'deleted', 'available')
    assert.deepEqual((await api.show(node)).driver_internal_info.redfish_boot_once, undefined)
  })

  void test('what this driver does not boot is refused, with what to do instead', async t => {
    const { bmc, node } = await available(t)
    const refused: [object, RegExp][] = [
      [{}, /Missing are: \['boot_iso'\]/],
      [{ boot_iso: ISO, image_source: ISO }, /exclude each other/],
      [{ kernel: ISO, ramdisk: ISO }, /A kernel with a ramdisk needs the setting --media-url/],
      [{ boot_iso: 'file:///etc/passwd' }, /must be an http or https URL/],
      [{ boot_iso: 7 }, /must be an http or https URL/],
    ]
    for (const [info, reason] of refused) {
      await withInfo(node, info)
      expectFault(await api.provision(node, 'active'), 400, reason)
    }
    await withInfo(node, { boot_iso: ISO })
    const deploy_steps = [{ interface: 'deploy', step: 'write_image', args: {}, priority: 80 }]
    expectFault(await api.provision(node, 'active', { deploy_steps }), 400, /no step write_image of interface deploy/)
    assert.equal(bmc.seen('POST', 'InsertMedia').length, 0)
  })

  void test('a medium that the BMC does not take fails the deployment, and the undeploy cleans up', async t => {
    const { bmc, node, machine } = await available(t)
    await withInfo(node, { boot_iso: ISO })
    bmc.fail({ kind: 'status', status: 400, body: { error: { message: 'not today' } }, path: /InsertMedia$/ })
    const shown = await api.go(node, 'active', 'deploy failed')
    assert.match(shown.last_error, /does not take the boot ISO. Cd: .*not today/)
    bmc.heal()
    await api.go(node, 'deleted', 'available')
    assert.equal(machine.power, 'Off')
  })

  void test('a server boots the ISO of its metadata, or the one of the node', async t => {
    const specs = { 'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0' }
    const flavor = await compute.flavor({}, { ...specs, 'resources:CUSTOM_ISO': '1' })
    for (const [metadata, info] of [
      [{ boot_iso: ISO }, {}],
      [{}, { boot_iso: ISO }],
    ]) {
      const bmc = await startBmc()
      t.after(() => bmc.stop())
      const driver_info = { ...bmc.driverInfo(), ...info }
      const node = await api.node({ driver: 'redfish', driver_info, resource_class: 'iso' }, 'available')
      const { id } = await compute.server(flavor, { metadata })
      await compute.untilStatus(id, 'ACTIVE')
      assert.deepEqual(
        bmc.machine.boots.map(({ image }) => image),
        [ISO],
      )
      expectStatus(await compute.del(`/servers/${id}`), 204)
      await compute.untilGone(id)
      await api.until(node, 'available')
      assert.equal(bmc.machine.cd['Inserted'], false)
      expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    }
  })
})
