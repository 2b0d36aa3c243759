// The test Nova against Holdfast's Identity, Image and Placement, without leases: what other tests build on.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Options } from './client.ts'
import { CIRROS } from './compute.ts'
import { ComputeClient } from './nova-client.ts'
import { eachCloud, type NovaCloud } from './nova-cloud.ts'
import { expectStatus } from './placement.ts'

eachCloud(
  'a Nova for tests',
  given => {
    let cloud: NovaCloud
    let nova: NovaCloud['nova']
    let compute: ComputeClient
    let alice: Options
    let bob: Options

    before(async () => {
      cloud = given()
      nova = cloud.nova
      compute = new ComputeClient('/v2.1', '2.61', nova.origin)
      compute.defaultToken = await cloud.token('root')
      alice = await cloud.as('alice')
      bob = await cloud.as('bob')
    })

    const sizes = { vcpus: 1, ram: 512, disk: 1 }
    const makeFlavor = async (more: object = {}) => {
      const flavor = { name: `flavor-${crypto.randomUUID()}`, ...sizes, ...more }
      return expectStatus(await compute.post('/flavors', { flavor }), 200).body.flavor.id as string
    }
    const tryBoot = (flavor: string, who?: Options, more: object = {}) =>
      compute.post(
        '/servers',
        { server: { name: 'vm', flavorRef: flavor, imageRef: CIRROS, networks: 'none', ...more } },
        who,
      )
    const boot = async (flavor: string, who?: Options, more: object = {}) =>
      compute.built(expectStatus(await tryBoot(flavor, who, more), 202).body.server.id)
    const held = (consumer: string) => cloud.placement.claims(consumer)
    const hostOf = (server: Record<string, string>) => server['OS-EXT-SRV-ATTR:host']!
    const leave = async (...servers: string[]) => {
      for (const server of servers) {
        expectStatus(await compute.del(`/servers/${server}`), 204)
        await compute.untilGone(server)
      }
      assert.deepEqual(nova.errors, [])
    }
    const retire = (...names: string[]) => {
      for (const name of names) nova.hosts.delete(name)
    }
    const message = ({ body }: { body: Record<string, { message: string }> }) => Object.values(body)[0]!.message

    test('its version needs no token; all else does, and a version that it has', async () => {
      const { version, min_version } = (await compute.get('/', { token: null })).body.version
      assert.deepEqual([version, min_version], ['2.93', '2.1'])
      assert.equal((await compute.get('/flavors', { token: null })).body.error.code, 401)
      assert.equal((await compute.get('/flavors', { token: 'nonsense' })).status, 401)
      assert.match(message(expectStatus(await compute.get('/flavors', { version: '2.94' }), 406)), /maximum is 2\.93/)
      assert.equal((await compute.get('/nothing')).body.code, '404 Not Found')
    })

    test('flavors: taken by id and by name, private, with access for a project that there is', async () => {
      const id = await makeFlavor({ id: 'f-1', name: 'one', 'os-flavor-access:is_public': false })
      const again = (more: object) =>
        compute.post('/flavors', { flavor: { id: 'f-1', name: 'one', ...sizes, ...more } })
      assert.equal(message(expectStatus(await again({}), 409)), 'Flavor with ID f-1 already exists.')
      assert.equal(message(expectStatus(await again({ id: 'f-2' }), 409)), 'Flavor with name one already exists.')
      for (const bad of [{ vcpus: 0 }, { ram: 0 }, { disk: -1 }, { name: ' x' }])
        expectStatus(await again({ id: 'x', ...bad }), 400)
      expectStatus(await compute.post('/flavors/f-1/os-extra_specs', { extra_specs: { a: '1' } }), 200)
      assert.deepEqual((await compute.get('/flavors/f-1')).body.flavor.extra_specs, { a: '1' })
      assert.equal((await compute.get('/flavors/f-1', { version: '2.60' })).body.flavor.extra_specs, undefined)
      const listed = async (path: string, who?: Options) =>
        (await compute.get(path, who)).body.flavors.some((each: { id: string }) => each.id === id)
      assert.deepEqual([await listed('/flavors'), await listed('/flavors?is_public=none')], [false, true])
      const project = await cloud.project('alice')
      const access = (verb: string, tenant = project) => compute.post('/flavors/f-1/action', { [verb]: { tenant } })
      expectStatus(await compute.get('/flavors/f-1', alice), 404)
      expectStatus(await access('addTenantAccess'), 200)
      expectStatus(await access('addTenantAccess'), 409)
      assert.match(message(expectStatus(await access('addTenantAccess', 'nobody'), 400)), /is not a valid project/)
      assert.ok(await listed('/flavors', alice))
      expectStatus(await compute.get('/flavors/f-1', bob), 404)
      expectStatus(await access('removeTenantAccess'), 200)
      expectStatus(await access('removeTenantAccess'), 404)
      expectStatus(await compute.post('/flavors', {}, alice), 403)
      expectStatus(await compute.del('/flavors/f-1'), 202)
      expectStatus(await compute.del('/flavors/f-1'), 404)
    })

    test('servers are claimed in Placement, as many as fit; each sees their own', async () => {
      const [one, two] = await nova.addHosts(2, { vcpus: 1 })
      const flavor = await makeFlavor()
      const servers = [await boot(flavor, alice), await boot(flavor, alice)]
      assert.deepEqual(servers.map(hostOf).toSorted(), [one!.name, two!.name].toSorted())
      for (const server of servers) {
        const uuid = nova.host(hostOf(server)).uuid
        assert.deepEqual(await held(server.id), { [uuid]: { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 } })
      }
      const third = await boot(flavor, alice)
      assert.deepEqual([third.status, third.fault.message], ['ERROR', 'No valid host was found. '])
      const list = async (query: string, who?: Options) =>
        (await compute.get(`/servers${query}`, who)).body.servers.length
      assert.deepEqual([await list('', alice), await list('', bob), await list('')], [3, 0, 0])
      assert.deepEqual([await list('?all_tenants=1'), await list(`?all_tenants=1&flavor=${flavor}`)], [3, 3])
      expectStatus(await compute.get('/servers?all_tenants=1', alice), 403)
      expectStatus(await compute.get(`/servers/${third.id}`, bob), 404)
      expectStatus(await compute.del(`/flavors/${flavor}`), 202)
      assert.equal(await list(`?all_tenants=1&flavor=${flavor}`), 0, 'the flavor is gone, its servers run on')
      await leave(third.id, ...servers.map(({ id }) => id))
      for (const host of [one!, two!]) assert.equal((await cloud.placement.usages(host.uuid))['VCPU'], 0)
      retire(one!.name, two!.name)
    })

    test('a migration holds the source until it is confirmed, and gives it back when it is reverted', async () => {
      const [one, two] = await nova.addHosts(2)
      const { id } = await boot(await makeFlavor(), alice, {})
      const source = nova.servers.get(id)!.host!
      const [from, to] = source === one!.name ? [one!, two!] : [two!, one!]
      const whole = { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 }
      const move = async () => (await compute.get(`/os-migrations?instance_uuid=${id}`)).body.migrations[0]
      expectStatus(await compute.action(id, 'migrate', null, alice), 403)
      expectStatus(await compute.action(id, 'migrate'), 202)
      await compute.untilStatus(id, 'VERIFY_RESIZE')
      assert.deepEqual(await held(id), { [to.uuid]: whole })
      assert.deepEqual(await held((await move()).uuid), { [from.uuid]: whole })
      expectStatus(await compute.action(id, 'revertResize', null, alice), 202)
      assert.equal(hostOf(await compute.untilStatus(id, 'ACTIVE')), from.name)
      assert.deepEqual(await held(id), { [from.uuid]: whole })
      assert.match(
        message(expectStatus(await compute.action(id, 'confirmResize'), 409)),
        /^Cannot 'confirmResize' instance .* while it is in vm_state active$/,
      )
      expectStatus(await compute.action(id, 'resize', { flavorRef: await makeFlavor({ vcpus: 2 }) }, alice), 202)
      await compute.untilStatus(id, 'VERIFY_RESIZE')
      expectStatus(await compute.action(id, 'confirmResize', null, alice), 204)
      await compute.untilStatus(id, 'ACTIVE')
      assert.deepEqual(await held((await move()).uuid), {})
      assert.deepEqual(await held(id), { [to.uuid]: { ...whole, VCPU: 2 } })
      expectStatus(await compute.action(id, 'os-stop', null, alice), 202)
      await compute.untilStatus(id, 'SHUTOFF')
      expectStatus(await compute.action(id, 'migrate'), 202)
      await compute.untilStatus(id, 'VERIFY_RESIZE')
      await leave(id)
      assert.deepEqual(await held((await move()).uuid), {})
      retire(one!.name, two!.name)
    })

    test('an evacuated server has both hosts until the first one is back', async () => {
      const [one, two] = await nova.addHosts(2)
      const { id } = await boot(await makeFlavor(), alice)
      const source = nova.servers.get(id)!.host!
      expectStatus(await compute.action(id, 'evacuate', {}), 400)
      nova.host(source).crash()
      assert.ok(expectStatus(await compute.action(id, 'evacuate', {}), 200).body.adminPass)
      await compute.untilStatus(id, 'ACTIVE')
      assert.deepEqual(Object.keys(await held(id)).toSorted(), [one!.uuid, two!.uuid].toSorted())
      await nova.start(source)
      assert.equal(Object.keys(await held(id)).length, 1)
      await leave(id)
      retire(one!.name, two!.name)
    })

    test('what a dead compute is sent waits for it, unless its service counts as down', async () => {
      const [host] = await nova.addHosts(1)
      const flavor = await makeFlavor()
      const [first, second] = [await boot(flavor), await boot(flavor)]
      host!.kill()
      for (const { id } of [first, second]) expectStatus(await compute.del(`/servers/${id}`), 204)
      expectStatus(await compute.action(first.id, 'forceDelete'), 202)
      const stuck = await compute.show(first.id)
      assert.equal(stuck['OS-EXT-STS:task_state'], 'deleting')
      assert.equal(Object.keys(await held(first.id)).length, 1)
      const service = (await compute.get(`/os-services?host=${host!.name}`)).body.services[0]
      assert.deepEqual([service.state, service.binary], ['up', 'nova-compute'])
      expectStatus(await compute.put(`/os-services/${service.id}`, { forced_down: true }), 200)
      await leave(first.id)
      expectStatus(await compute.put(`/os-services/${service.id}`, { forced_down: false }), 200)
      assert.notEqual(await compute.show(second.id), null)
      await nova.start(host!.name)
      await compute.untilGone(second.id)
      assert.deepEqual(await held(second.id), {})
      retire(host!.name)
    })

    test('services and hypervisors: disabled, deleted, and made anew with another uuid', async () => {
      const [host] = await nova.addHosts(1, {}, 'rack')
      const { uuid } = host!
      const found = async () =>
        (await compute.get('/os-hypervisors/detail?hypervisor_hostname_pattern=rack')).body.hypervisors[0]
      const { id, service } = await found()
      assert.equal(id, uuid)
      const disable = { status: 'disabled', disabled_reason: 'a fan' }
      expectStatus(await compute.put(`/os-services/${service.id}`, disable), 200)
      await nova.settled()
      const traits = async () => (await cloud.placement.get(`/resource_providers/${uuid}/traits`)).body.traits
      assert.ok((await traits()).includes('COMPUTE_STATUS_DISABLED'))
      assert.equal((await boot(await makeFlavor())).status, 'ERROR')
      expectStatus(await compute.put(`/os-services/${service.id}`, { status: 'enabled' }), 200)
      await nova.settled()
      assert.ok(!(await traits()).includes('COMPUTE_STATUS_DISABLED'))
      const server = await boot(await makeFlavor())
      assert.match(message(expectStatus(await compute.del(`/os-services/${service.id}`), 409)), /hosting instances/)
      await leave(server.id)
      expectStatus(await compute.del(`/os-services/${service.id}`), 204)
      expectStatus(await compute.get('/os-hypervisors?hypervisor_hostname_pattern=rack'), 404)
      expectStatus(await cloud.placement.get(`/resource_providers/${uuid}`), 404)
      await nova.start('rack-1')
      assert.notEqual((await found()).id, uuid)
      expectStatus(await cloud.placement.get(`/resource_providers/${(await found()).id}`), 200)
      for (const { id } of nova.servers.values()) await leave(id)
      retire('rack-1')
    })

    test('lists come in pages', async () => {
      const hosts = await nova.addHosts(5, {}, 'paged')
      const names: string[] = []
      let path = '/os-hypervisors'
      for (;;) {
        const { hypervisors, hypervisors_links } = (await compute.get(path)).body
        names.push(...hypervisors.map((each: { hypervisor_hostname: string }) => each.hypervisor_hostname))
        if (!hypervisors_links) break
        const { pathname, search } = new URL(hypervisors_links[0].href)
        path = pathname.replace('/v2.1', '') + search
      }
      assert.deepEqual(
        names,
        hosts.map(({ name }) => name),
      )
      retire(...names)
    })

    test('it fails as it is told: away, silent for an answer that is lost, with 401, 403, 500 and 503', async () => {
      for (const status of [401, 403, 500, 503]) {
        nova.fail({ kind: 'status', status, times: 1 })
        assert.equal((await compute.get('/flavors')).status, status)
      }
      nova.fail({ kind: 'lost', method: 'POST', path: /flavors$/, skip: 1, times: 1 })
      expectStatus(await compute.post('/flavors', { flavor: { id: 'kept', name: 'kept', ...sizes } }), 200)
      await assert.rejects(compute.post('/flavors', { flavor: { id: 'lost', name: 'lost', ...sizes } }))
      expectStatus(await compute.get('/flavors/lost'), 200)
      nova.fail({ kind: 'drop', times: 1 })
      await assert.rejects(compute.del('/flavors/lost'))
      expectStatus(await compute.get('/flavors/lost'), 200)
      await nova.away()
      await assert.rejects(compute.get('/flavors'))
      await nova.back()
      expectStatus(await compute.get('/flavors/lost'), 200)
      assert.deepEqual(
        nova.seen('DELETE', /lost/).map(({ status }) => status),
        [0],
      )
    })
  },
  { compute: 'off' },
  { pageMax: 3 },
)
