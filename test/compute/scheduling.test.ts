// Where servers go: what a flavor asks for, and which hosts are in question.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Compute, eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const hostOf = (server: Record<string, unknown>) => server['OS-EXT-SRV-ATTR:host']

async function withTraits(api: Compute, host: string, traits: string[]): Promise<void> {
  const uuid = await api.providerOf(host)
  for (const trait of traits) {
    if (trait.startsWith('CUSTOM_')) expectStatus(await api.placement.put(`/traits/${trait}`), 201, 204)
  }
  const body = { traits, resource_provider_generation: await api.placement.generation(uuid) }
  expectStatus(await api.placement.put(`/resource_providers/${uuid}/traits`, body), 200)
}

eachCompute('scheduling', api => {
  test('resources of extra specs are claimed too, also from a child of the host', async () => {
    const host = await api.hypervisor()
    const root = await api.providerOf(host)
    expectStatus(await api.placement.put('/resource_classes/CUSTOM_FPGA'), 201)
    const child = await api.placement.provider({ CUSTOM_FPGA: 1 }, { parent: root })
    const flavor = await api.flavor({}, { 'resources:CUSTOM_FPGA': '1' })
    const server = await api.server(flavor)
    assert.deepEqual(await api.placement.claims(server.id), {
      [root]: { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 },
      [child]: { CUSTOM_FPGA: 1 },
    })
    assert.equal((await api.server(flavor)).status, 'ERROR')
    expectStatus(await api.del(`/servers/${server.id}`), 204)
    expectStatus(await api.placement.del(`/resource_providers/${child}`), 204)
  })

  test('an extra spec overrides the size of the flavor, and zero takes it away', async () => {
    const flavor = await api.flavor({ vcpus: 2, disk: 0 }, { 'resources:VCPU': '3', 'resources:MEMORY_MB': '0' })
    const server = await api.server(flavor)
    assert.deepEqual(Object.values(await api.placement.claims(server.id)), [{ VCPU: 3 }])
    expectStatus(await api.del(`/servers/${server.id}`), 204)
  })

  test('a flavor that asks for nothing has no place', async () => {
    const none = { 'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0' }
    assert.equal((await api.server(await api.flavor({}, none))).status, 'ERROR')
  })

  test('groups of extra specs may be on different children', async () => {
    const host = await api.hypervisor()
    const parent = await api.providerOf(host)
    const children = [
      await api.placement.provider({ VGPU: 1 }, { parent }),
      await api.placement.provider({ VGPU: 1 }, { parent }),
    ]
    const specs = { 'resources1:VGPU': '1', 'resources2:VGPU': '1', group_policy: 'isolate' }
    const server = await api.server(await api.flavor({}, specs))
    const claims = await api.placement.claims(server.id)
    assert.deepEqual(
      children.map(child => claims[child]),
      [{ VGPU: 1 }, { VGPU: 1 }],
    )
  })

  test('required and forbidden traits choose the host', async () => {
    const [plain, fast] = [await api.hypervisor(), await api.hypervisor()]
    await withTraits(api, fast, ['CUSTOM_FAST', 'HW_CPU_X86_VMX'])
    for (let i = 0; i < 3; i++) {
      const wants = await api.server(await api.flavor({}, { 'trait:CUSTOM_FAST': 'required' }))
      assert.equal(hostOf(wants), fast)
      const shuns = await api.server(await api.flavor({}, { 'trait:CUSTOM_FAST': 'forbidden' }))
      assert.notEqual(hostOf(shuns), fast)
    }
    const unknown = await api.server(await api.flavor({}, { 'trait:CUSTOM_NOBODY_HAS': 'required' }))
    assert.equal(unknown.status, 'ERROR')
    assert.ok(plain)
  })

  test('hosts that are down or disabled get no servers, and get them again when they are back', async () => {
    const host = await api.hypervisor()
    await withTraits(api, host, ['CUSTOM_LONELY'])
    const flavor = await api.flavor({}, { 'trait:CUSTOM_LONELY': 'required' })
    const status = async () => (await api.server(flavor)).status
    expectStatus(await api.setState(host, 'down'), 200)
    assert.equal(await status(), 'ERROR')
    expectStatus(await api.setState(host, 'up'), 200)
    assert.equal(await status(), 'ACTIVE')
    expectStatus(await api.put('/os-services/disable', { host, binary: 'nova-compute' }), 200)
    assert.equal(await status(), 'ERROR')
    expectStatus(await api.put('/os-services/enable', { host, binary: 'nova-compute' }), 200)
    assert.equal(await status(), 'ACTIVE')
  })

  test('the one host that will do is found among many that won’t', async () => {
    const hosts = await Promise.all(
      Array.from({ length: 80 }, () => api.hypervisor({ VCPU: 50, MEMORY_MB: 1_000_000 })),
    )
    const flavor = await api.flavor({ ram: 500_000 })
    await Promise.all(hosts.slice(1).map(host => api.setState(host, 'down')))
    assert.equal(hostOf(await api.server(flavor)), hosts[0])
    await api.setState(hosts[0]!, 'down')
    assert.equal((await api.server(flavor)).status, 'ERROR')
  })

  test('an admin may choose the host, others may not', async () => {
    const [, host] = [await api.hypervisor(), await api.hypervisor({ VCPU: 1 })]
    const flavor = await api.flavor()
    const zone = { availability_zone: `nova:${host}` }
    assert.equal(hostOf(await api.server(flavor, zone)), host)
    assert.equal((await api.server(flavor, zone)).status, 'ERROR', 'also the chosen host has only so much room')
    expectFault(await api.create(flavor, zone, member('p')), 403)
    expectFault(await api.create(flavor, { availability_zone: 'nova:nowhere' }), 400, /nowhere could not be found/)
    expectFault(await api.create(flavor, { availability_zone: 'mars' }), 400)
    assert.equal((await api.server(flavor, { availability_zone: 'nova' }, member('p'))).status, 'ACTIVE')
  })
})
