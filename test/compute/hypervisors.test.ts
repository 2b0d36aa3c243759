// Hypervisors are root providers with VCPU, MEMORY_MB and DISK_GB.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Compute, eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const listed = async (api: Compute) =>
  expectStatus(await api.get('/os-hypervisors/detail'), 200).body.hypervisors as Record<string, unknown>[]
const named = async (api: Compute, name: string) =>
  (await listed(api)).find(({ hypervisor_hostname }) => hypervisor_hostname === name)

eachCompute('hypervisors', api => {
  test('a provider with all three classes is one, others and children are not', async () => {
    const name = await api.hypervisor()
    const root = await api.placement.provider({ VCPU: 8, MEMORY_MB: 1 })
    await api.placement.provider({ VCPU: 8, MEMORY_MB: 1, DISK_GB: 1 }, { parent: root })
    await api.baremetal.node({ resource_class: 'x' }, 'available')
    assert.deepEqual(
      (await listed(api)).map(hypervisor => hypervisor['hypervisor_hostname']),
      [name],
    )
  })

  test('it shows what it has and what is in use', async () => {
    const name = await api.hypervisor({ VCPU: 4, MEMORY_MB: 4096, DISK_GB: 40 })
    const flavor = await api.flavor({ vcpus: 1, ram: 1024, disk: 10 })
    const server = await api.server(flavor, { availability_zone: `nova:${name}` })
    const { id, service, ...shown } = (await named(api, name))!
    assert.equal(typeof id, 'number')
    assert.deepEqual(service, { id, host: name, disabled_reason: null })
    assert.deepEqual(shown, {
      hypervisor_hostname: name,
      state: 'up',
      status: 'enabled',
      hypervisor_type: 'fake',
      hypervisor_version: 1000,
      host_ip: '127.0.0.1',
      vcpus: 4,
      vcpus_used: 1,
      memory_mb: 4096,
      memory_mb_used: 1024,
      local_gb: 40,
      local_gb_used: 10,
      free_ram_mb: 3072,
      free_disk_gb: 30,
      disk_available_least: 30,
      running_vms: 1,
      current_workload: 0,
      cpu_info: '{}',
    })
    const one = expectStatus(await api.get(`/os-hypervisors/${id as number}`), 200)
    assert.equal(one.body.hypervisor.hypervisor_hostname, name)
    assert.deepEqual((await api.get(`/os-hypervisors/${name}/search`)).body.hypervisors, [
      { id, hypervisor_hostname: name, state: 'up', status: 'enabled' },
    ])
    const { hypervisors } = (await api.get(`/os-hypervisors/${name}/servers`)).body
    assert.deepEqual(hypervisors[0].servers, [{ uuid: server.id, name: server.name }])
    expectFault(await api.get('/os-hypervisors/no-such/search'), 404, /No hypervisor matching 'no-such'/)
    expectFault(await api.get('/os-hypervisors/999999'), 404)
    expectFault(await api.get(`/os-hypervisors/${name}`), 404)
    expectStatus(await api.del(`/servers/${server.id}`), 204)
    assert.equal((await named(api, name))!['vcpus_used'], 0)
    const { hypervisor_statistics: sums } = (await api.get('/os-hypervisors/statistics')).body
    assert.deepEqual([sums.count, sums.vcpus], [2, 12])
  })

  test('it keeps its id when its inventory changes', async () => {
    const name = await api.hypervisor()
    const { id } = (await named(api, name))!
    expectStatus(
      await api.placement.setInventories(await api.providerOf(name), { VCPU: 1, MEMORY_MB: 1, DISK_GB: 1 }),
      200,
    )
    assert.equal((await named(api, name))!['id'], id)
  })

  test('its service can be disabled with a reason, and enabled again', async () => {
    const host = await api.hypervisor()
    const service = { host, binary: 'nova-compute' }
    expectStatus(await api.put('/os-services/disable-log-reason', { ...service, disabled_reason: 'new disks' }), 200)
    assert.equal((await named(api, host))!['status'], 'disabled')
    const [shown] = (await api.get(`/os-services?host=${host}`)).body.services
    assert.deepEqual([shown.status, shown.state, shown.disabled_reason], ['disabled', 'up', 'new disks'])
    expectStatus(await api.put('/os-services/enable', service), 200)
    const [again] = (await api.get(`/os-services?host=${host}&binary=nova-compute`)).body.services
    assert.deepEqual([again.status, again.disabled_reason], ['enabled', null])
    expectFault(await api.put('/os-services/enable', { ...service, host: 'nowhere' }), 404)
    expectFault(await api.put('/os-services/explode', service), 404)
    expectFault(await api.put('/os-services/disable-log-reason', service), 400)
  })

  test('whoever watches it says that it is down, and that it is back', async () => {
    const name = await api.hypervisor()
    expectStatus(await api.setState(name, 'down'), 200)
    assert.equal((await named(api, name))!['state'], 'down')
    const zones = (await api.get('/os-availability-zone/detail')).body.availabilityZoneInfo
    assert.equal(zones[0].hosts[name]['nova-compute'].available, false)
    expectStatus(await api.setState(name, 'up'), 200)
    assert.equal((await named(api, name))!['state'], 'up')
    assert.equal((await api.setState('nowhere', 'down')).status, 404)
    assert.equal((await api.setState(name, 'sideways' as 'up')).status, 400)
  })

  test('hosts are for admins to see', async () => {
    for (const path of ['/os-hypervisors', '/os-hypervisors/detail', '/os-services', '/os-availability-zone/detail']) {
      expectFault(await api.get(path, member('p')), 403)
    }
    expectStatus(await api.get('/os-availability-zone', member('p')), 200)
  })
})
