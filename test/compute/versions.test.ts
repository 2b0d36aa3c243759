// What each microversion from 2.2 to 2.38 brought, and that older clients don't see it.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Options } from '../support/client.ts'
import { eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const at = (minor: number, more: Options = {}): Options => ({ ...more, version: `2.${minor}` })

eachCompute('microversions of compute', api => {
  let [flavor, host] = ['', '']
  before(async () => {
    host = await api.hypervisor({ VCPU: 64 })
    flavor = await api.flavor()
  })

  /** Whether the server has this member in the version that brought it, and not in the one before. */
  const begins = async (id: string, member: string, minor: number) => {
    assert.ok(!(member in (await api.show(id, at(minor - 1)))), `${member} before 2.${minor}`)
    return (await api.show(id, at(minor)))[member]
  }

  test('members of a server come with their versions', async () => {
    const { id } = await api.server(flavor, { name: 'My Server_1!' })
    const attribute = (name: string) => begins(id, `OS-EXT-SRV-ATTR:${name}`, 3)
    assert.match(await attribute('reservation_id'), /^r-/)
    assert.equal(await attribute('hostname'), 'my-server-1')
    assert.equal(await attribute('launch_index'), 0)
    for (const name of ['kernel_id', 'ramdisk_id']) assert.equal(await attribute(name), '')
    for (const name of ['root_device_name', 'user_data']) assert.equal(await attribute(name), null)
    assert.equal(await begins(id, 'locked', 9), false)
    assert.equal(await begins(id, 'host_status', 16), 'UP')
    assert.equal(await begins(id, 'description', 19), null)
    assert.deepEqual(await begins(id, 'tags', 26), [])
    const { servers } = expectStatus(await api.get('/servers/detail', at(38)), 200).body
    assert.deepEqual(
      servers.find((server: { id: string }) => server.id === id),
      await api.show(id, at(38)),
    )
  })

  test('members do not see what belongs to the host', async () => {
    const { id } = await api.server(flavor, {}, member('p'))
    const shown = await api.show(id, at(38, member('p')))
    assert.deepEqual(
      Object.keys(shown).filter(name => name.includes('ATTR') || name === 'host_status'),
      [],
    )
  })

  test('each of several servers has its place', async () => {
    const made = await api.create(flavor, { min_count: 2, max_count: 2, return_reservation_id: true })
    const { reservation_id } = expectStatus(made, 202).body
    const { servers } = (await api.get(`/servers/detail?reservation_id=${reservation_id}`, at(3))).body
    const places = servers.map((server: Record<string, unknown>) => server['OS-EXT-SRV-ATTR:launch_index'])
    assert.deepEqual(places.toSorted(), [0, 1])
  })

  test('a description is given from 2.19 on, and changed', async () => {
    expectFault(await api.create(flavor, { description: 'mine' }, at(18)), 400, /description/)
    const { id } = await api.server(flavor, { description: 'mine' }, at(19))
    assert.equal((await api.show(id, at(19))).description, 'mine')
    const put = (server: object, minor: number) => api.put(`/servers/${id}`, { server }, at(minor))
    expectFault(await put({ description: 'ours' }, 18), 400, /description/)
    assert.equal(expectStatus(await put({ description: 'ours' }, 19), 200).body.server.description, 'ours')
    assert.equal(expectStatus(await put({ name: 'other' }, 19), 200).body.server.description, 'ours')
    assert.equal(expectStatus(await put({ description: null }, 19), 200).body.server.description, null)
    expectFault(await put({ description: 'x'.repeat(256) }, 19), 400)
  })

  test('networks must be given from 2.37 on, and may be none or auto', async () => {
    expectStatus(await api.create(flavor, {}, at(36)), 202)
    expectFault(await api.create(flavor, {}, at(37)), 400, /networks/)
    for (const networks of ['none', 'auto', null, [], [{ uuid: '6f6a1a0e-7d8e-4f4f-9a44-0d6b8e9b6f01' }]]) {
      expectStatus(await api.create(flavor, { networks }, at(37)), 202)
    }
    const addresses = async (networks: unknown) => (await api.server(flavor, { networks }, at(37))).addresses
    assert.deepEqual(await addresses('auto'), { auto: [] })
    assert.deepEqual(await addresses('none'), {})
    for (const networks of ['some', 7, {}, [{ uuid: 'x' }], ['none']]) {
      expectFault(await api.create(flavor, { networks }, at(37)), 400)
    }
  })

  test('an unknown status is refused from 2.38 on', async () => {
    assert.deepEqual(expectStatus(await api.get('/servers?status=nonsense', at(37)), 200).body.servers, [])
    expectFault(await api.get('/servers?status=nonsense', at(38)), 400, /Invalid status/)
    expectStatus(await api.get('/servers?status=paused', at(38)), 200)
  })

  test('tags are set, added, taken, and refused when they are wrong', async () => {
    const { id } = await api.server(flavor)
    const path = `/servers/${id}/tags`
    expectFault(await api.get(path, at(25)), 404)
    expectStatus(await api.put(path, { tags: ['b', 'a'] }, at(26)), 200)
    assert.deepEqual((await api.show(id, at(26))).tags, ['a', 'b'])
    const added = expectStatus(await api.put(`${path}/c`, undefined, at(26)), 201)
    assert.match(added.headers.location!, new RegExp(`/compute/v2.1${path}/c$`))
    expectStatus(await api.put(`${path}/c`, undefined, at(26)), 204)
    expectStatus(await api.get(`${path}/c`, at(26)), 204)
    expectStatus(await api.del(`${path}/c`, at(26)), 204)
    expectFault(await api.del(`${path}/c`, at(26)), 404, /no tag/)
    expectFault(await api.get(`${path}/c`, at(26)), 404)
    for (const tags of [['x,y'], ['x/y'], [''], ['x'.repeat(61)], ['a', 'a'], 'a', null]) {
      expectFault(await api.put(path, { tags }, at(26)), 400)
    }
    expectFault(await api.put(`${path}/x,y`, undefined, at(26)), 400)
    expectFault(await api.put(path, { tags: Array.from({ length: 51 }, (_, i) => `t${i}`) }, at(26)), 400)
    expectStatus(await api.put(path, { tags: Array.from({ length: 50 }, (_, i) => `t${i}`) }, at(26)), 200)
    expectFault(await api.put(`${path}/more`, undefined, at(26)), 400, /limit 50/)
    expectStatus(await api.del(path, at(26)), 204)
    assert.deepEqual(expectStatus(await api.get(path, at(26)), 200).body.tags, [])
    expectFault(await api.put(path, { tags: [] }, at(26, member('stranger'))), 404)
  })

  test('lists are filtered by tags, whatever characters these have', async () => {
    const tagged = async (name: string, ...tags: string[]) => {
      const { id } = await api.server(flavor, { name: `tagged-${name}` })
      expectStatus(await api.put(`/servers/${id}/tags`, { tags }, at(26)), 200)
    }
    await tagged('red', 'red', 'x"blue')
    await tagged('blue', 'blue', '["red')
    await tagged('both', 'red', 'blue', '%_\\')
    await tagged('none')
    const names = async (query: string, minor = 26) => {
      const { servers } = expectStatus(await api.get(`/servers?name=^tagged&${query}`, at(minor)), 200).body
      return servers
        .map(({ name }: { name: string }) => name.slice('tagged-'.length))
        .sort()
        .join()
    }
    assert.equal(await names('tags=red'), 'both,red')
    assert.equal(await names('tags=red,blue'), 'both')
    assert.equal(await names('tags-any=red,blue'), 'blue,both,red')
    assert.equal(await names('not-tags=red,blue'), 'blue,none,red')
    assert.equal(await names('not-tags-any=red,blue'), 'none')
    assert.equal(await names('tags=red&not-tags=blue'), 'red')
    assert.equal(await names(`tags=${encodeURIComponent('x"blue')}`), 'red')
    assert.equal(await names(`tags=${encodeURIComponent('%_\\')}`), 'both')
    assert.equal(await names('tags=nothing'), '')
    assert.equal(await names('tags=red', 25), 'blue,both,none,red')
  })

  test('hypervisors: an object of cpu_info from 2.28 on, pages from 2.33 on', async () => {
    await api.hypervisor()
    const list = async (query: string, minor: number) =>
      expectStatus(await api.get(`/os-hypervisors/detail${query}`, at(minor)), 200).body
    assert.deepEqual((await list('', 27)).hypervisors[0].cpu_info, '{}')
    assert.deepEqual((await list('', 28)).hypervisors[0].cpu_info, {})
    assert.ok((await list('?limit=1', 32)).hypervisors.length > 1)
    const { hypervisors, hypervisors_links } = await list('?limit=1', 33)
    assert.equal(hypervisors.length, 1)
    const next = new URL(hypervisors_links[0].href)
    const rest = await list(next.search.replace('limit=1', 'limit=1000'), 33)
    assert.notEqual(rest.hypervisors[0].id, hypervisors[0].id)
    assert.equal(rest.hypervisors_links, undefined)
    expectFault(await api.get('/os-hypervisors?marker=nothing', at(33)), 400, /marker/)
  })

  test('services: forced_down from 2.11 on, said and shown', async () => {
    const { id } = await api.server(flavor, { availability_zone: `nova:${host}` })
    const service = async (minor: number) =>
      expectStatus(await api.get(`/os-services?host=${host}`, at(minor)), 200).body.services[0]
    const force = (forced_down: unknown, minor: number) =>
      api.put('/os-services/force-down', { host, binary: 'nova-compute', forced_down }, at(minor))
    assert.ok(!('forced_down' in (await service(10))))
    assert.equal((await service(11)).forced_down, false)
    expectFault(await force(true, 10), 400)
    expectFault(await force('perhaps', 11), 400)
    assert.equal(expectStatus(await force(true, 11), 200).body.service.forced_down, true)
    const { state, forced_down } = await service(11)
    assert.deepEqual([state, forced_down], ['down', true])
    assert.equal((await api.show(id, at(16))).host_status, 'DOWN')
    expectStatus(await force(false, 11), 200)
    assert.equal((await service(11)).state, 'up')
    const disable = (action: string) => api.put(`/os-services/${action}`, { host, binary: 'nova-compute' })
    expectStatus(await disable('disable'), 200)
    assert.equal((await api.show(id, at(16))).host_status, 'MAINTENANCE')
    expectStatus(await disable('enable'), 200)
  })

  test('quotas of networks end with 2.35', async () => {
    const has = async (minor: number) => 'floating_ips' in (await api.get('/os-quota-sets/p', at(minor))).body.quota_set
    assert.deepEqual([await has(35), await has(36)], [true, false])
  })

  test('moves: what may be asked for changes with the version, and so does what is shown', async () => {
    const { id } = await api.server(flavor, { availability_zone: `nova:${host}` })
    const other = await api.hypervisor()
    const live = (given: object, minor: number) => api.action(id, 'os-migrateLive', given, at(minor))
    expectFault(await live({ block_migration: 'auto', disk_over_commit: false }, 25), 400, /disk_over_commit/)
    expectFault(await live({ block_migration: 'auto', force: true }, 29), 400, /force/)
    expectStatus(await live({ host: other, block_migration: 'auto', force: true }, 30), 202)
    await api.untilStatus(id, 'ACTIVE')
    const moves = async (minor: number) =>
      (await api.get(`/os-migrations?instance_uuid=${id}`, at(minor))).body.migrations
    assert.equal((await moves(23))[0].migration_type, 'live-migration')
    assert.ok(!('migration_type' in (await moves(22))[0]))
    assert.deepEqual(expectStatus(await api.get(`/servers/${id}/migrations`, at(23)), 200).body.migrations, [])
    expectFault(await api.get(`/servers/${id}/migrations`, at(22)), 404)
    expectFault(await api.get(`/servers/${id}/migrations/1`, at(23)), 404, /in progress/)
    expectStatus(await api.setState(other, 'down'), 200)
    expectFault(await api.action(id, 'evacuate', { onSharedStorage: false }, at(14)), 400)
    assert.deepEqual(expectStatus(await api.action(id, 'evacuate', {}, at(14)), 200).body, {})
    expectStatus(await api.setState(other, 'up'), 200)
  })
})
