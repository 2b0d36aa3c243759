// The life of a server on a hypervisor: a consumer of the ledger from its first moment to its last.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CIRROS, type Compute, eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const names = async (api: Compute, query: string, options?: Parameters<Compute['get']>[1]) =>
  (expectStatus(await api.get(`/servers/detail${query}`, options), 200).body.servers as { name: string }[]).map(
    ({ name }) => name,
  )

eachCompute('servers', api => {
  test('a server is made, shown, and is a consumer with the claims of its flavor', async () => {
    const host = await api.hypervisor()
    const flavor = await api.flavor({ vcpus: 2, ram: 1024, disk: 5, 'OS-FLV-EXT-DATA:ephemeral': 2, swap: 100 })
    const created = expectStatus(await api.create(flavor, { name: 'vm1', metadata: { a: 'b' } }), 202)
    assert.match(created.body.server.id, UUID)
    assert.ok(created.body.server.adminPass)
    assert.equal(created.body.server['OS-DCF:diskConfig'], 'MANUAL')
    assert.match(created.headers.location!, new RegExp(`/compute/v2.1/servers/${created.body.server.id}$`))

    const server = await api.show(created.body.server.id)
    assert.deepEqual(
      [server.name, server.status, server.image.id, server.flavor.id, server.metadata, server.fault],
      ['vm1', 'ACTIVE', CIRROS, flavor, { a: 'b' }, undefined],
    )
    assert.deepEqual(
      [server['OS-EXT-STS:vm_state'], server['OS-EXT-STS:power_state'], server['OS-EXT-STS:task_state']],
      ['active', 1, null],
    )
    assert.equal(server['OS-EXT-SRV-ATTR:host'], host)
    const claims = await api.placement.claims(server.id)
    // Disk, ephemeral disk, and swap as whole GB.
    assert.deepEqual(claims, { [await api.providerOf(host)]: { VCPU: 2, MEMORY_MB: 1024, DISK_GB: 8 } })
    const { body } = await api.placement.get(`/allocations/${server.id}`)
    assert.deepEqual([body.consumer_type, body.project_id, body.user_id], ['INSTANCE', 'admin', 'admin'])

    expectStatus(await api.del(`/servers/${server.id}`), 204)
    expectFault(await api.get(`/servers/${server.id}`), 404, /could not be found/)
    expectFault(await api.del(`/servers/${server.id}`), 404)
    assert.deepEqual(await api.usages(host), { VCPU: 0, MEMORY_MB: 0, DISK_GB: 0 })
  })

  test('its claims can not be changed through Placement', async () => {
    const { id } = await api.server(await api.flavor())
    expectStatus(await api.placement.del(`/allocations/${id}`), 409)
    expectStatus(await api.del(`/servers/${id}`), 204)
  })

  test('without room it is there with status ERROR and a fault that says so, and can be deleted', async () => {
    const flavor = await api.flavor({ vcpus: 1000 })
    const server = await api.server(flavor)
    assert.equal(server.status, 'ERROR')
    assert.equal(server.fault.code, 500)
    assert.match(server.fault.message, /^No valid host was found\. /)
    assert.equal(server['OS-EXT-SRV-ATTR:host'], null)
    expectStatus(await api.del(`/servers/${server.id}`), 204)
    expectFault(await api.get(`/servers/${server.id}`), 404)
  })

  test('several are made at once, each with a name of its own', async () => {
    const flavor = await api.flavor()
    const { body } = await api.create(flavor, { name: 'many', min_count: 2, max_count: 3, return_reservation_id: true })
    assert.match(body.reservation_id, /^r-/)
    const listed = await names(api, `?reservation_id=${body.reservation_id}`)
    assert.deepEqual(listed, ['many-3', 'many-2', 'many-1'])
    for (const { id } of (await api.get('/servers?name=many')).body.servers) await api.del(`/servers/${id}`)
  })

  test('when fewer than the least number fit, none stays', async () => {
    const host = await api.hypervisor({ VCPU: 2, DISK_GB: 100_000 })
    const flavor = await api.flavor({ vcpus: 1, disk: 40_000 })
    await api.create(flavor, { name: 'least', min_count: 3 })
    const { servers } = (await api.get('/servers/detail?name=least')).body
    assert.deepEqual(
      servers.map(({ status }: { status: string }) => status),
      ['ERROR', 'ERROR', 'ERROR'],
    )
    assert.equal((await api.usages(host))['VCPU'], 0)
    await api.create(flavor, { name: 'fewer', min_count: 1, max_count: 3 })
    const fewer = (await api.get('/servers/detail?name=fewer')).body.servers as { status: string }[]
    assert.deepEqual(fewer.map(({ status }) => status).sort(), ['ACTIVE', 'ACTIVE', 'ERROR'])
    for (const { id } of (await api.get('/servers')).body.servers) expectStatus(await api.del(`/servers/${id}`), 204)
  })

  test('lists can be filtered', async () => {
    const [one, two] = [await api.flavor(), await api.flavor()]
    const host = await api.hypervisor()
    await api.server(one, { name: 'web-1', availability_zone: `nova:${host}` })
    await api.server(two, { name: 'web-2' })
    await api.server(await api.flavor({ vcpus: 10_000 }), { name: 'Broken' })
    assert.deepEqual(await names(api, ''), ['Broken', 'web-2', 'web-1'])
    assert.deepEqual(await names(api, '?name=web'), ['web-2', 'web-1'])
    assert.deepEqual(await names(api, '?name=%5Eweb-1%24'), ['web-1'])
    assert.deepEqual(await names(api, '?name=WEB.*1'), ['web-1'])
    assert.deepEqual(await names(api, '?name=w_b'), [])
    assert.deepEqual(await names(api, `?flavor=${two}`), ['web-2'])
    assert.deepEqual(await names(api, '?status=error'), ['Broken'])
    assert.deepEqual(await names(api, '?status=ACTIVE'), ['web-2', 'web-1'])
    assert.ok((await names(api, `?host=${host}`)).includes('web-1'))
    assert.ok(!(await names(api, `?host=${host}`)).includes('Broken'))
    assert.deepEqual(await names(api, `?image=${CIRROS}&status=ERROR`), ['Broken'])
    assert.deepEqual(await names(api, '?image=other'), [])
  })

  test('lists come in pages, the newest first', async () => {
    const first = await api.get('/servers?limit=2')
    const shown = first.body.servers.map(({ name }: { name: string }) => name)
    assert.deepEqual(shown, ['Broken', 'web-2'])
    const { search } = new URL(first.body.servers_links[0].href)
    const second = await api.get(`/servers${search}`)
    assert.deepEqual(
      second.body.servers.map(({ name }: { name: string }) => name),
      ['web-1'],
    )
    assert.equal(second.body.servers_links, undefined)
    expectFault(await api.get('/servers?marker=4b5c9d2a-0000-4000-8000-000000000000'), 400, /marker/)
  })

  test('a project sees its own servers and nobody else’s', async () => {
    const [mine, other] = [member('mine'), member('other')]
    const flavor = await api.flavor()
    const server = await api.server(flavor, { name: 'of-mine' }, mine)
    assert.equal(server['OS-EXT-SRV-ATTR:host'], undefined, 'where it runs is for admins')
    assert.match(server.hostId, /^[0-9a-f]{56}$/)
    assert.deepEqual(await names(api, '', mine), ['of-mine'])
    assert.deepEqual(await names(api, '', other), [])
    const missing = expectFault(await api.get('/servers/4b5c9d2a-0000-4000-8000-000000000000', other), 404)
    const foreign = expectFault(await api.get(`/servers/${server.id}`, other), 404)
    assert.equal(
      foreign.body.itemNotFound.message.replace(server.id, ''),
      missing.body.itemNotFound.message.replace('4b5c9d2a-0000-4000-8000-000000000000', ''),
    )
    for (const answer of [
      await api.del(`/servers/${server.id}`, other),
      await api.action(server.id, 'os-stop', null, other),
      await api.put(`/servers/${server.id}`, { server: { name: 'taken' } }, other),
      await api.post(`/servers/${server.id}/metadata`, { metadata: { a: 'b' } }, other),
    ]) {
      expectFault(answer, 404)
    }
    expectFault(await api.get(`/servers?marker=${server.id}`, other), 400)
    expectFault(await api.get('/servers?all_tenants=1', mine), 403)
    assert.ok(!(await names(api, '')).includes('of-mine'))
    assert.ok((await names(api, '?all_tenants=1')).includes('of-mine'))
    assert.deepEqual(await names(api, '?all_tenants=True&project_id=mine'), ['of-mine'])
    expectStatus(await api.get(`/servers/${server.id}`), 200)
    expectFault(await api.create(flavor, {}, { token: 'reader:mine', headers: { 'x-roles': 'reader' } }), 403)
    expectStatus(await api.del(`/servers/${server.id}`, mine), 204)
  })

  test('it can be stopped, started and rebooted', async () => {
    const { id } = await api.server(await api.flavor())
    expectFault(await api.action(id, 'os-start'), 409, /Cannot 'start' instance .* vm_state active/)
    expectStatus(await api.action(id, 'reboot', { type: 'SOFT' }), 202)
    expectStatus(await api.action(id, 'os-stop'), 202)
    const stopped = await api.show(id)
    assert.deepEqual([stopped.status, stopped['OS-EXT-STS:power_state']], ['SHUTOFF', 4])
    expectFault(await api.action(id, 'reboot', { type: 'HARD' }), 409)
    expectStatus(await api.action(id, 'os-start'), 202)
    assert.equal((await api.show(id)).status, 'ACTIVE')
    expectStatus(await api.action(id, 'forceDelete'), 204)
    expectFault(await api.get(`/servers/${id}`), 404)
  })

  test('it can be renamed, and has metadata', async () => {
    const { id } = await api.server(await api.flavor())
    assert.equal((await api.put(`/servers/${id}`, { server: { name: 'renamed' } })).body.server.name, 'renamed')
    const path = `/servers/${id}/metadata`
    expectStatus(await api.post(path, { metadata: { a: '1', b: '2' } }), 200)
    expectStatus(await api.put(`${path}/b`, { meta: { b: '3' } }), 200)
    assert.deepEqual((await api.get(path)).body, { metadata: { a: '1', b: '3' } })
    expectStatus(await api.del(`${path}/a`), 204)
    assert.deepEqual((await api.get(`${path}/b`)).body, { meta: { b: '3' } })
    expectFault(await api.get(`${path}/a`), 404)
    expectFault(await api.put(`${path}/b`, { meta: { c: '3' } }), 400)
    assert.deepEqual((await api.put(path, { metadata: {} })).body, { metadata: {} })
    expectStatus(await api.del(`/servers/${id}`), 204)
  })
})
