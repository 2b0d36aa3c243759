// Hosts: compute nodes that were given to leases, with their capabilities and the provider below them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { as, classOf, eachReservation, expectError, instances, type Shown, wholeHosts } from '../support/reservation.ts'

eachReservation('hosts', api => {
  const providers = async (name: string) =>
    expectStatus(await api.placement.get(`/resource_providers?name=${name}`), 200).body.resource_providers

  void test('a host shows its compute node and its capabilities, and ids are digits', async () => {
    const host = await api.host('h1', { vcpus: 8, memory_mb: 16_384, disk_gb: 200 }, { gpu: 'yes', rack: 'r7' })
    assert.match(host.id, /^[0-9]+$/)
    const { id, created_at, updated_at, cpu_info, hypervisor_type, hypervisor_version, ...rest } = host
    assert.deepEqual(rest, {
      hypervisor_hostname: 'h1',
      service_name: 'h1',
      vcpus: 8,
      memory_mb: 16_384,
      local_gb: 200,
      availability_zone: rest.availability_zone,
      status: null,
      reservable: true,
      trust_id: null,
      gpu: 'yes',
      rack: 'r7',
    })
    assert.match(created_at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.equal(updated_at, null)
    assert.equal(typeof cpu_info, 'string')
    assert.equal(typeof hypervisor_type, 'string')
    assert.equal(typeof hypervisor_version, 'number')
    assert.deepEqual(expectStatus(await api.get(`/os-hosts/${id}`), 200).body, { host })
    const { hosts } = expectStatus(await api.get('/os-hosts'), 200).body
    assert.deepEqual(
      hosts.filter((each: Shown) => each.id === id),
      [host],
    )
  })

  void test('a host gets a reservation provider, the child of its compute node', async () => {
    await api.host('h2')
    const [root] = await providers('h2')
    const [child] = await providers('blazar_h2')
    assert.equal(child.parent_provider_uuid, root.uuid)
    assert.equal(child.root_provider_uuid, root.uuid)
    assert.deepEqual(await api.inventories('h2'), {})
  })

  void test('a host is no candidate, but for those who have a slot of a lease there', async () => {
    const { only, names } = await api.pool(1)
    const { uuid } = await api.provider(names[0]!)
    const candidates = async (resources: string) => {
      const answer = await api.placement.get(`/allocation_candidates?resources=${resources}&in_tree=${uuid}`)
      return Object.keys(expectStatus(answer, 200).body.provider_summaries).length
    }
    assert.equal(await candidates('VCPU:1'), 0)
    const why = expectStatus(
      await api.operate('GET', `/explain/allocation_candidates?resources=VCPU:1&in_tree=${uuid}`),
      200,
    )
    const steps: Shown[] = why.body.groups[0].steps
    assert.ok(steps.some(({ condition }) => condition === 'not set aside for leases'))
    const lease = await api.lease([instances({ resource_properties: only })], { from: 1, to: 60 })
    await api.advance(2)
    await api.until(lease.id, 'ACTIVE')
    assert.equal(await candidates(`VCPU:1,${classOf(lease.reservations[0].id)}:1`), 2)
    await api.end(lease.id)

    const free = await api.host('h-free')
    const again = await api.provider('h-free')
    const query = `/allocation_candidates?resources=VCPU:1&in_tree=${again.uuid}`
    assert.deepEqual((await api.placement.get(query)).body.allocation_requests, [])
    expectStatus(await api.del(`/os-hosts/${free.id}`), 204)
    assert.equal((await api.placement.get(query)).body.allocation_requests.length, 1)
  })

  void test('nobody changes or deletes the reservation provider through Placement', async () => {
    await api.host('h3')
    const [child] = await providers('blazar_h3')
    expectStatus(await api.placement.del(`/resource_providers/${child.uuid}`), 409)
    expectStatus(await api.placement.setInventories(child.uuid, { VCPU: 1 }), 409)
    expectStatus(await api.placement.put(`/resource_providers/${child.uuid}`, { name: 'mine' }), 409)
  })

  void test('an existing provider of that name below the same compute node is adopted', async () => {
    const root = await api.computeNode('h4')
    const child = await api.placement.provider({}, { name: 'blazar_h4', parent: root })
    expectStatus(await api.post('/os-hosts', { name: 'h4' }), 201)
    const [found] = await providers('blazar_h4')
    assert.equal(found.uuid, child)
    expectStatus(await api.placement.del(`/resource_providers/${child}`), 409)
  })

  void test('a provider of that name elsewhere is a conflict, and nothing is left of the attempt', async () => {
    await api.placement.provider({}, { name: 'blazar_h5' })
    await api.computeNode('h5')
    expectError(await api.post('/os-hosts', { name: 'h5' }), 409, /blazar_h5/)
    const { hosts } = expectStatus(await api.get('/os-hosts'), 200).body
    assert.ok(!hosts.some((host: Shown) => host.hypervisor_hostname === 'h5'))
  })

  void test('an unknown hypervisor is 404, one that is a host already 409, and a body without name 403', async () => {
    expectError(await api.post('/os-hosts', { name: 'no-such-host' }), 404, /no-such-host/)
    await api.host('h6')
    expectError(await api.post('/os-hosts', { name: 'h6' }), 409, /h6/)
    expectError(await api.post('/os-hosts', { gpu: 'yes' }), 403, /name/)
    expectError(await api.post('/os-hosts', {}), 403, /name/)
  })

  void test('a provider that is no compute node is no hypervisor', async () => {
    await api.placement.provider({ CUSTOM_THING: 1 }, { name: 'storage' }).catch(() => {})
    expectError(await api.post('/os-hosts', { name: 'storage' }), 404)
    const root = await api.computeNode('h7')
    await api.placement.provider({ VCPU: 1, MEMORY_MB: 1, DISK_GB: 1 }, { name: 'numa0', parent: root })
    expectError(await api.post('/os-hosts', { name: 'numa0' }), 404)
  })

  void test('the id of a hypervisor does instead of its name', async () => {
    await api.computeNode('h8')
    const answer = await api.compute.get('/os-hypervisors/detail', { version: null })
    const { id } = expectStatus(answer, 200).body.hypervisors.find((each: Shown) => each.hypervisor_hostname === 'h8')
    const { host } = expectStatus(await api.post('/os-hosts', { id: String(id) }), 201).body
    assert.equal(host.hypervisor_hostname, 'h8')
    assert.equal(host.id, String(id))
  })

  void test('a compute node in use by others is 409', async () => {
    const root = await api.computeNode('h9')
    const consumer = crypto.randomUUID()
    expectStatus(await api.placement.claim(consumer, { [root]: { VCPU: 1 } }), 204)
    expectError(await api.post('/os-hosts', { name: 'h9' }), 409)
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    expectStatus(await api.post('/os-hosts', { name: 'h9' }), 201)
  })

  void test('capabilities are strings with names of at most 64 characters', async () => {
    const longest = 'k'.repeat(64)
    const host = await api.host('h10', {}, { [longest]: 'v', count: 4 })
    assert.equal(host[longest], 'v')
    assert.equal(host.count, '4')
    await api.computeNode('h11')
    for (const wrong of [
      { ['k'.repeat(65)]: 'v' },
      { gpu: {} },
      { gpu: [] },
      { gpu: null },
      { gpu: true },
      { '': 'v' },
      { gpu: 'v'.repeat(100_000) },
    ]) {
      expectError(await api.post('/os-hosts', { name: 'h11', ...wrong }), 400)
      expectError(await api.put(`/os-hosts/${host.id}`, wrong), 400)
    }
    expectStatus(await api.post('/os-hosts', { name: 'h11' }), 201)
  })

  for (const column of [
    'vcpus',
    'memory_mb',
    'local_gb',
    'hypervisor_hostname',
    'service_name',
    'cpu_info',
    'hypervisor_type',
    'hypervisor_version',
    'availability_zone',
    'status',
    'reservable',
    'trust_id',
    'created_at',
    'updated_at',
  ]) {
    void test(`${column} belongs to the compute node and can't be a capability`, async () => {
      const name = `column-${column}`
      const host = await api.host(name)
      expectError(await api.put(`/os-hosts/${host.id}`, { [column]: '99' }), 400, new RegExp(column))
      assert.deepEqual(expectStatus(await api.get(`/os-hosts/${host.id}`), 200).body.host, host)
      await api.computeNode(`${name}-new`)
      expectError(await api.post('/os-hosts', { name: `${name}-new`, [column]: '99' }), 400, new RegExp(column))
    })
  }

  void test('PUT adds and changes capabilities, and removes none', async () => {
    const { id } = await api.host('h12', {}, { gpu: 'yes', rack: 'r1' })
    const { host } = expectStatus(await api.put(`/os-hosts/${id}`, { gpu: 'no', ssd: '2' }), 200).body
    assert.deepEqual([host.gpu, host.rack, host.ssd], ['no', 'r1', '2'])
    assert.notEqual(host.updated_at, null)
    assert.deepEqual(expectStatus(await api.get(`/os-hosts/${id}`), 200).body.host, host)
    expectError(await api.put(`/os-hosts/${id}`, {}), 400)
    expectError(await api.put(`/os-hosts/${id}`, ''), 400)
  })

  void test('a capability that a reservation on the host asked for stays as it is', async () => {
    const { id } = await api.host('h13', {}, { zebra: 'yes', rack: 'r1' })
    const lease = await api.lease([instances({ resource_properties: '["=", "$zebra", "yes"]' })])
    expectError(await api.put(`/os-hosts/${id}`, { zebra: 'no' }), 409, /zebra/)
    expectStatus(await api.put(`/os-hosts/${id}`, { rack: 'r2' }), 200)
    await api.end(lease.id)
    expectStatus(await api.put(`/os-hosts/${id}`, { zebra: 'no' }), 200)
  })

  void test('a host goes, and can come again', async () => {
    const { id } = await api.host('h14')
    expectStatus(await api.del(`/os-hosts/${id}`), 204)
    expectError(await api.get(`/os-hosts/${id}`), 404)
    assert.equal((await providers('h14')).length, 1)
    expectStatus(await api.post('/os-hosts', { name: 'h14' }), 201)
  })

  void test('a host with a reservation on it stays, whole', async () => {
    const { id } = await api.host('h15', {}, { only: 'h15' })
    const only = '["=", "$only", "h15"]'
    for (const reservation of [
      instances({ resource_properties: only }),
      wholeHosts({ resource_properties: only, hypervisor_properties: '' }),
    ]) {
      const lease = await api.lease([reservation])
      expectError(await api.del(`/os-hosts/${id}`), 409)
      assert.equal((await providers('blazar_h15')).length, 1)
      expectStatus(await api.get(`/os-hosts/${id}`), 200)
      await api.end(lease.id)
    }
    expectStatus(await api.del(`/os-hosts/${id}`), 204)
  })

  void test('allocations: one entry a host, one element a slot', async () => {
    const { id } = await api.host('h16', {}, { only: 'h16' })
    const idle = await api.host('h17')
    const lease = await api.lease([instances({ amount: 3, resource_properties: '["=", "$only", "h16"]' })])
    const [reservation] = lease.reservations
    const element = {
      id: reservation.id,
      lease_id: lease.id,
      start_date: lease.start_date,
      end_date: lease.end_date,
    }
    const expected = { resource_id: id, reservations: [element, element, element] }
    const { allocations } = expectStatus(await api.get('/os-hosts/allocations'), 200).body
    assert.deepEqual(
      allocations.find((each: Shown) => each.resource_id === id),
      expected,
    )
    assert.deepEqual(expectStatus(await api.get(`/os-hosts/${id}/allocation`), 200).body, { allocation: expected })
    const { allocation } = expectStatus(await api.get(`/os-hosts/${idle.id}/allocation`), 200).body
    assert.deepEqual(allocation, { resource_id: idle.id, reservations: [] })

    for (const [query, count] of [
      [`lease_id=${lease.id}`, 3],
      [`reservation_id=${reservation.id}`, 3],
      [`lease_id=${lease.id}&reservation_id=${reservation.id}`, 3],
      [`lease_id=${reservation.id}`, 0],
      ['reservation_id=nonsense', 0],
    ] as const) {
      const { body } = expectStatus(await api.get(`/os-hosts/allocations?${query}`), 200)
      const elements = body.allocations.flatMap((each: Shown) => each.reservations)
      assert.equal(elements.length, count, query)
    }
    await api.end(lease.id)
  })

  void test('a claim on a pool host without a reservation class is refused', async () => {
    await api.host('h18')
    const [root] = await providers('h18')
    expectStatus(await api.placement.claim(crypto.randomUUID(), { [root.uuid]: { VCPU: 1 } }), 409)
  })

  void test('classes of reservations belong to leases', async () => {
    await api.host('h19', {}, { only: 'h19' })
    const lease = await api.lease([instances({ resource_properties: '["=", "$only", "h19"]' })])
    const name = classOf(lease.reservations[0].id)
    expectStatus(await api.placement.get(`/resource_classes/${name}`), 200)
    expectStatus(await api.placement.del(`/resource_classes/${name}`), 409)
    await api.end(lease.id)
    expectStatus(await api.placement.get(`/resource_classes/${name}`), 404)
  })

  void test('hosts are the admins', async () => {
    const { id } = await api.host('h20')
    const member = as('alice', 'p1')
    for (const [method, path, body] of [
      ['GET', '/os-hosts', undefined],
      ['POST', '/os-hosts', { name: 'x' }],
      ['GET', `/os-hosts/${id}`, undefined],
      ['PUT', `/os-hosts/${id}`, { a: 'b' }],
      ['DELETE', `/os-hosts/${id}`, undefined],
      ['GET', '/os-hosts/allocations', undefined],
      ['GET', `/os-hosts/${id}/allocation`, undefined],
      ['GET', '/os-hosts/properties', undefined],
      ['PATCH', '/os-hosts/properties/gpu', { private: true }],
    ] as const) {
      expectError(await api.request(method, path, body, member), 403, /Policy/)
    }
    expectStatus(await api.get(`/os-hosts/${id}`), 200)
  })
})
