// Hosts of leases over a Nova: a host is one of its hypervisors, and is as up as Nova says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { expectError, instances, type Shown } from '../support/reservation.ts'
import { besideNova } from './hypervisors.ts'

besideNova('hosts over Nova', api => {
  const { nova } = api
  const hostNames = async (): Promise<string[]> => {
    const { hosts } = expectStatus(await api.get('/os-hosts'), 200).body
    return hosts.map((host: Shown) => host.hypervisor_hostname)
  }
  const isReservable = async (id: string): Promise<boolean> =>
    expectStatus(await api.get(`/os-hosts/${id}`), 200).body.host.reservable

  void test('a hypervisor is named by its hostname, its service, its uuid or our number', async () => {
    const uuid = await api.computeNode('by-name')
    assert.equal(expectStatus(await api.post('/os-hosts', { name: 'by-name' }), 201).body.host.service_name, 'by-name')
    expectError(await api.post('/os-hosts', { name: uuid }), 409, /by-name/)

    const second = await api.computeNode('rack7.example.org')
    nova.change('rack7.example.org', { service: 'rack7' })
    const { id } = expectStatus(await api.post('/os-hosts', { name: 'rack7' }), 201).body.host
    expectStatus(await api.del(`/os-hosts/${id}`), 204)
    expectStatus(await api.post('/os-hosts', { name: second.toUpperCase() }), 201)
    expectStatus(await api.del(`/os-hosts/${id}`), 204)
    const { host } = expectStatus(await api.post('/os-hosts', { name: id }), 201).body
    assert.equal(host.hypervisor_hostname, 'rack7.example.org')
  })

  void test('what Nova does not know is 404, though a provider has that name', async () => {
    await api.computeNode('ours-alone')
    nova.hypervisors.delete('ours-alone')
    expectError(await api.post('/os-hosts', { name: 'ours-alone' }), 404, /Nova has no hypervisor.*ours-alone/)
    expectError(await api.post('/os-hosts', { name: 'nobody' }), 404, /Nova has no hypervisor.*nobody/)
    assert.ok(!(await hostNames()).includes('ours-alone'))
  })

  void test('a hypervisor without its provider is 404, and so is one whose uuid is that of another', async () => {
    nova.list('early', crypto.randomUUID())
    expectError(await api.post('/os-hosts', { name: 'early' }), 404, /early.*nova-compute/)
    const other = await api.computeNode('another')
    nova.list('mixed-up', other)
    expectError(await api.post('/os-hosts', { name: 'mixed-up' }), 404, /mixed-up/)
    for (const name of ['early', 'mixed-up']) nova.hypervisors.delete(name)
  })

  void test('a service with several hypervisors does not say which', async () => {
    for (const name of ['twin-1', 'twin-2']) {
      await api.computeNode(name)
      nova.change(name, { service: 'twins' })
    }
    expectError(await api.post('/os-hosts', { name: 'twins' }), 400, /2 hypervisors.*twin-1, twin-2/)
    expectStatus(await api.post('/os-hosts', { name: 'twin-1' }), 201)
  })

  void test('while Nova is away it is 503 with a time to come again, and nothing has changed', async () => {
    await api.computeNode('later')
    nova.failsWith = 503
    const refused = expectError(await api.post('/os-hosts', { name: 'later' }), 503, /Nova/)
    assert.match(String(refused.headers['retry-after']), /^\d+$/)
    assert.equal(await api.provider('blazar_later'), undefined)
    nova.failsWith = null
    expectStatus(await api.post('/os-hosts', { name: 'later' }), 201)
  })

  void test('a host that is down or disabled in Nova is not bookable from its first moment', async () => {
    for (const [name, how] of [
      ['born-down', { state: 'down' }],
      ['born-closed', { status: 'disabled', reason: 'new disk' }],
    ] as const) {
      await api.computeNode(name)
      nova.change(name, how)
      const { host } = expectStatus(await api.post('/os-hosts', { name }), 201).body
      assert.equal(host.reservable, false, name)
      nova.change(name, { state: 'up', status: 'enabled', reason: null })
      await api.look()
      assert.equal(await isReservable(host.id), true, name)
    }
  })

  void test('a host follows Nova: down, disabled and back', async () => {
    const { ids, names, only } = await api.pool(1)
    const [id, name] = [ids[0]!, names[0]!]
    const wanted = [instances({ resource_properties: only })]
    for (const how of [{ state: 'down' }, { status: 'disabled', reason: 'maintenance' }] as const) {
      nova.change(name, how)
      await api.look()
      assert.equal(await isReservable(id), false)
      expectError(await api.tryLease(wanted), 409)
      nova.change(name, { state: 'up', status: 'enabled', reason: null })
      await api.look()
      assert.equal(await isReservable(id), true)
      await api.end((await api.lease(wanted)).id)
    }
  })

  void test('a host that Nova no longer lists counts as down, and comes back with its uuid', async () => {
    const { ids, names } = await api.pool(1)
    const listed = nova.hypervisors.get(names[0]!)!
    nova.hypervisors.delete(names[0]!)
    await api.look()
    assert.equal(await isReservable(ids[0]!), false)
    nova.hypervisors.set(names[0]!, listed)
    await api.look()
    assert.equal(await isReservable(ids[0]!), true)
  })

  void test('while Nova is away everything stays as it was said last', async () => {
    const { ids, names } = await api.pool(2)
    nova.change(names[1]!, { state: 'down' })
    await api.look()
    nova.failsWith = 500
    nova.change(names[0]!, { state: 'down' })
    await api.look()
    assert.deepEqual([await isReservable(ids[0]!), await isReservable(ids[1]!)], [true, false])
    nova.failsWith = null
    await api.look()
    assert.deepEqual([await isReservable(ids[0]!), await isReservable(ids[1]!)], [false, false])
    for (const name of names) nova.change(name, { state: 'up' })
    await api.look()
  })

  const follows = async (): Promise<number> => {
    const { entries } = expectStatus(await api.operate('GET', '/audit?limit=1000'), 200).body
    return entries.filter(({ action }: Shown) => action === 'conductor:follow_nova').length
  }

  void test('a look that finds nothing new writes nothing', async () => {
    await api.look()
    const [before, looks] = [await follows(), nova.looks]
    await api.look()
    assert.ok(nova.looks > looks)
    assert.equal(await follows(), before)
  })

  void test('providers that are none of its compute hosts are none of its business', async () => {
    await api.look()
    const before = await follows()
    await api.placement.provider({ DISK_GB: 100 }, { name: 'shared-storage' })
    const child = await api.placement.provider(
      { VCPU: 1 },
      { name: 'numa', parent: await api.computeNode('with-numa') },
    )
    nova.list('numa', child, { state: 'down' })
    const body = { driver: 'fake-hardware' }
    const node = expectStatus(
      await new Client('/baremetal/v1', ...api.origins).post('/nodes', body, { version: null }),
      201,
    )
    nova.list(node.body.uuid, node.body.uuid, { state: 'down' })
    await api.look()
    assert.equal(await follows(), before)
  })
})
