// Flavors: sizes, extra specs, and who may use a private one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Compute, eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const ids = async (api: Compute, query = '', options?: Parameters<Compute['get']>[1]) =>
  (expectStatus(await api.get(`/flavors${query}`, options), 200).body.flavors as { id: string }[]).map(({ id }) => id)

eachCompute('flavors', api => {
  test('a flavor is shown as it was made', async () => {
    const flavor = { id: 'm1.one', name: 'one', vcpus: 2, ram: 1024, disk: 5, swap: 512 }
    const { body } = expectStatus(await api.post('/flavors', { flavor }), 200)
    const { links, ...shown } = body.flavor
    assert.deepEqual(shown, {
      ...flavor,
      'OS-FLV-EXT-DATA:ephemeral': 0,
      'OS-FLV-DISABLED:disabled': false,
      'os-flavor-access:is_public': true,
      rxtx_factor: 1,
    })
    assert.match(links[0].href, /\/compute\/v2\.1\/flavors\/m1\.one$/)
    assert.deepEqual((await api.get('/flavors/m1.one')).body, body)
    assert.ok((await ids(api)).includes('m1.one'))
  })

  test('without swap it shows none as an empty text, and without an id it gets one', async () => {
    const { flavor } = (await api.post('/flavors', { flavor: { name: 'bare', vcpus: 1, ram: 1, disk: 0 } })).body
    assert.equal(flavor.swap, '')
    assert.match(flavor.id, /^[0-9a-f-]{36}$/)
  })

  test('numbers may come as text', async () => {
    const flavor = {
      name: 'texts',
      vcpus: '2',
      ram: '64',
      disk: '0',
      'os-flavor-access:is_public': 'False',
      id: 'auto',
    }
    const { body } = expectStatus(await api.post('/flavors', { flavor }), 200)
    assert.deepEqual([body.flavor.vcpus, body.flavor.ram, body.flavor.disk], [2, 64, 0])
    assert.equal(body.flavor['os-flavor-access:is_public'], false)
  })

  test('an id and a name are had once', async () => {
    const id = await api.flavor({ name: 'taken' })
    expectFault(await api.post('/flavors', { flavor: { id, name: 'other', vcpus: 1, ram: 1, disk: 1 } }), 409, /ID/)
    expectFault(await api.post('/flavors', { flavor: { name: 'taken', vcpus: 1, ram: 1, disk: 1 } }), 409, /name taken/)
  })

  test('a name is not found where an id belongs', async () => {
    await api.flavor({ name: 'by-name' })
    expectFault(await api.get('/flavors/by-name'), 404, /Flavor by-name could not be found/)
  })

  test('a private flavor is there for admins and for projects with access, and for nobody else', async () => {
    const id = await api.flavor({ 'os-flavor-access:is_public': false })
    const [mine, other] = [member('mine'), member('other')]
    expectFault(await api.get(`/flavors/${id}`, mine), 404)
    assert.ok(!(await ids(api, '', mine)).includes(id))
    assert.ok(!(await ids(api)).includes(id), 'admins see private ones only when they ask')
    assert.ok((await ids(api, '?is_public=None')).includes(id))
    assert.ok((await ids(api, '?is_public=False')).includes(id))
    assert.ok(!(await ids(api, '?is_public=None', mine)).includes(id), 'asking for all is for admins')

    const granted = await api.post(`/flavors/${id}/action`, { addTenantAccess: { tenant: 'mine' } })
    assert.deepEqual(expectStatus(granted, 200).body, { flavor_access: [{ flavor_id: id, tenant_id: 'mine' }] })
    expectStatus(await api.get(`/flavors/${id}`, mine), 200)
    assert.ok((await ids(api, '', mine)).includes(id))
    assert.ok((await ids(api, '/detail', mine)).includes(id))
    expectFault(await api.get(`/flavors/${id}`, other), 404)
    expectFault(await api.get(`/flavors/${id}/os-extra_specs`, other), 404)
    assert.deepEqual((await api.get(`/flavors/${id}/os-flavor-access`)).body, granted.body)
    expectFault(await api.get(`/flavors/${id}/os-flavor-access`, mine), 403)

    expectFault(await api.post(`/flavors/${id}/action`, { addTenantAccess: { tenant: 'mine' } }), 409)
    expectStatus(await api.post(`/flavors/${id}/action`, { removeTenantAccess: { tenant: 'mine' } }), 200)
    expectFault(await api.get(`/flavors/${id}`, mine), 404)
    expectFault(await api.post(`/flavors/${id}/action`, { removeTenantAccess: { tenant: 'mine' } }), 404)
  })

  test('a public flavor has no list of access', async () => {
    const id = await api.flavor()
    expectFault(await api.get(`/flavors/${id}/os-flavor-access`), 404)
    expectFault(await api.post(`/flavors/${id}/action`, { addTenantAccess: { tenant: 'mine' } }), 409)
  })

  test('extra specs are added, replaced, shown and removed one by one', async () => {
    const id = await api.flavor()
    const path = `/flavors/${id}/os-extra_specs`
    assert.deepEqual((await api.get(path)).body, { extra_specs: {} })
    const added = await api.post(path, { extra_specs: { 'resources:CUSTOM_A': '1', 'hw:note': 'any' } })
    assert.deepEqual(expectStatus(added, 200).body, { extra_specs: { 'resources:CUSTOM_A': '1', 'hw:note': 'any' } })
    expectStatus(await api.put(`${path}/hw:note`, { 'hw:note': 'more' }), 200)
    assert.deepEqual((await api.get(`${path}/hw:note`)).body, { 'hw:note': 'more' })
    expectStatus(await api.del(`${path}/hw:note`), 200)
    expectFault(await api.get(`${path}/hw:note`), 404)
    expectFault(await api.del(`${path}/hw:note`), 404)
    assert.deepEqual((await api.get(path)).body, { extra_specs: { 'resources:CUSTOM_A': '1' } })
  })

  test('extra specs that could not be understood later are refused now', async () => {
    const id = await api.flavor()
    for (const specs of [
      { 'resources:CUSTOM_A': 'many' },
      { 'resources:CUSTOM_A': '-1' },
      { 'resources:lower': '1' },
      { 'trait:CUSTOM_T': 'maybe' },
      { 'trait:': 'required' },
      { group_policy: 'together' },
    ]) {
      expectFault(await api.post(`/flavors/${id}/os-extra_specs`, { extra_specs: specs }), 400)
    }
    assert.deepEqual((await api.get(`/flavors/${id}/os-extra_specs`)).body, { extra_specs: {} })
  })

  test('only admins make, change and delete flavors', async () => {
    const id = await api.flavor()
    const someone = member('p')
    expectFault(await api.post('/flavors', { flavor: { name: 'x', vcpus: 1, ram: 1, disk: 1 } }, someone), 403)
    expectFault(await api.post(`/flavors/${id}/os-extra_specs`, { extra_specs: { a: 'b' } }, someone), 403)
    expectFault(await api.del(`/flavors/${id}`, someone), 403)
    expectStatus(await api.get(`/flavors/${id}`, someone), 200)
  })

  test('a deleted flavor is gone, and the servers made with it stay', async () => {
    await api.hypervisor()
    const id = await api.flavor()
    const server = await api.server(id)
    expectStatus(await api.del(`/flavors/${id}`), 202)
    expectFault(await api.get(`/flavors/${id}`), 404)
    expectFault(await api.del(`/flavors/${id}`), 404)
    expectFault(await api.create(id), 400, /could not be found/)
    assert.equal((await api.show(server.id)).flavor.id, id)
    expectStatus(await api.del(`/servers/${server.id}`), 204)
  })

  test('lists come in pages, in order of id, and can be narrowed by size', async () => {
    for (const n of [1, 2, 3, 4]) await api.flavor({ id: `page-${n}`, ram: n * 1_000_000 })
    assert.deepEqual(await ids(api, '?minRam=2000000'), ['page-2', 'page-3', 'page-4'])
    const first = await api.get('/flavors/detail?minRam=1000000&limit=3')
    assert.deepEqual(
      first.body.flavors.map(({ id }: { id: string }) => id),
      ['page-1', 'page-2', 'page-3'],
    )
    const next = new URL(first.body.flavors_links[0].href)
    const second = await api.get(`/flavors/detail${next.search}`)
    assert.deepEqual(
      second.body.flavors.map(({ id }: { id: string }) => id),
      ['page-4'],
    )
    assert.equal(second.body.flavors_links, undefined)
    expectFault(await api.get('/flavors?marker=nowhere'), 400, /marker/)
  })
})
