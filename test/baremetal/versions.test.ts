// Versions and errors, as clients negotiate and read them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const MIN = 'x-openstack-ironic-api-minimum-version'
const MAX = 'x-openstack-ironic-api-maximum-version'
const USED = 'x-openstack-ironic-api-version'

eachMetal('versions', api => {
  void test('no header and an empty one mean the oldest', async () => {
    for (const options of [{ version: null }, { version: '' }]) {
      const { headers } = expectStatus(await api.get('/v1/nodes', options), 200)
      assert.deepEqual([headers[MIN], headers[MAX], headers[USED]], ['1.1', '1.83', '1.1'])
    }
  })

  void test('latest, and every version in the range', async () => {
    assert.equal((await api.get('/v1', { version: 'latest' })).headers[USED], '1.83')
    for (let minor = 1; minor <= 83; minor++) {
      const { headers } = expectStatus(await api.get('/v1/nodes', { version: `1.${minor}` }), 200)
      assert.equal(headers[USED], `1.${minor}`)
    }
  })

  void test('the standard header is ignored', async () => {
    const headers = { 'openstack-api-version': 'baremetal 1.50' }
    assert.equal((await api.get('/v1', { version: null, headers })).headers[USED], '1.1')
  })

  void test('out of range is 406 with the range, malformed is 406 without', async () => {
    for (const version of ['1.0', '1.84', '1.999999999', '2.1', '0.5']) {
      const { headers } = expectFault(await api.get('/v1/nodes', { version }), 406, /not supported/)
      assert.deepEqual([headers[MIN], headers[MAX], headers[USED]], ['1.1', '1.83', undefined])
    }
    for (const version of ['abc', '1', '1.2.3', '1.x']) {
      const { headers } = expectFault(await api.get('/v1/nodes', { version }), 406)
      assert.deepEqual([headers[MIN], headers[MAX], headers[USED]], [undefined, undefined, undefined])
    }
  })

  void test('errors have the version headers too, but not those of the router', async () => {
    assert.equal(expectFault(await api.get(`/v1/nodes/${uuid()}`), 404).headers[USED], '1.82')
    for (const path of ['/v1/nonsense', '/v2', '/v1/nodes/x/nonsense']) {
      const { headers, body } = expectFault(await api.get(path), 404)
      assert.equal(headers[USED], undefined)
      assert.deepEqual(Object.keys(JSON.parse(body.error_message)), ['code', 'title', 'description'])
    }
  })

  void test('every answer past routing has its request id', async () => {
    for (const path of ['/v1', `/v1/nodes/${uuid()}`]) {
      assert.match((await api.get(path)).headers['openstack-request-id'] as string, /^req-[0-9a-f-]{36}$/)
    }
  })

  void test('the root needs no version and no token', async () => {
    for (const options of [{ version: null, token: null }, { version: 'nonsense' }]) {
      const { body } = expectStatus(await api.get('/', options), 200)
      assert.equal(body.name, 'OpenStack Ironic API')
      const { origin } = api
      assert.deepEqual(body.default_version, {
        id: 'v1',
        links: [{ href: `${origin}/baremetal/v1/`, rel: 'self' }],
        status: 'CURRENT',
        min_version: '1.1',
        version: '1.83',
      })
      assert.deepEqual(body.versions, [body.default_version])
    }
    expectStatus(await api.get('/v1', { token: null }), 401)
  })

  void test('the document of v1 names what each version has', async () => {
    const resources = async (version: string) => Object.keys((await api.get('/v1/', { version })).body)
    const old = await resources('1.1')
    for (const name of ['id', 'links', 'media_types', 'version', 'chassis', 'nodes', 'ports', 'drivers']) {
      assert.ok(old.includes(name), name)
    }
    const brought = { portgroups: 23, volume: 32, conductors: 49, deploy_templates: 55, shards: 82 }
    for (const [name, minor] of Object.entries(brought)) {
      assert.ok(!(await resources(`1.${minor - 1}`)).includes(name), name)
      assert.ok((await resources(`1.${minor}`)).includes(name), name)
    }
  })

  void test('links are built from the Host header: self has /v1, bookmark has not', async () => {
    const node = await api.node()
    const { body } = await api.get(`/v1/nodes/${node}?fields=uuid`, { headers: { host: 'metal.localhost:99' } })
    assert.deepEqual(body.links, [
      { href: `http://metal.localhost:99/baremetal/v1/nodes/${node}`, rel: 'self' },
      { href: `http://metal.localhost:99/baremetal/nodes/${node}`, rel: 'bookmark' },
    ])
  })

  void test('a trailing slash is accepted on collections and items, but not after detail', async () => {
    const node = await api.node()
    for (const path of ['/v1/', '/v1/nodes/', `/v1/nodes/${node}/`, '/v1/ports/', '/v1/nodes/?fields=uuid']) {
      expectStatus(await api.get(path), 200)
    }
    expectStatus(await api.get('/v1/nodes/detail/'), 404)
  })

  void test('an error is a string that holds JSON', async () => {
    const { body, headers } = await api.get('/v1/nodes/nobody')
    assert.equal(headers['content-type'], 'application/json')
    assert.deepEqual(JSON.parse(body.error_message), {
      faultcode: 'Client',
      faultstring: 'Node nobody could not be found.',
      debuginfo: null,
    })
  })

  void test('wrong methods and names that can not be are told by the router', async () => {
    const form = (body: { error_message: string }) => Object.keys(JSON.parse(body.error_message))
    const wrong = await api.put('/v1/nodes', {})
    assert.deepEqual(form(expectStatus(wrong, 405).body), ['code', 'title', 'description'])
    assert.deepEqual(form(expectStatus(await api.get('/v1/nodes/not%20a%20name'), 400).body), [
      'code',
      'title',
      'description',
    ])
  })

  void test('malformed JSON is 400, and only HTML is not to be had', async () => {
    expectFault(await api.post('/v1/nodes', '{"driver": '), 400)
    expectFault(await api.post('/v1/nodes', ''), 400)
    expectFault(await api.post('/v1/nodes', '[]'), 400)
    expectFault(await api.post('/v1/nodes', '['.repeat(50_000) + ']'.repeat(50_000)), 400)
    expectFault(await api.post('/v1/nodes', '{"driver":"fake-hardware","description":"\\u0000"}'), 400)
    expectStatus(await api.get('/v1/nodes', { headers: { accept: 'text/html' } }), 406)
    expectStatus(await api.get('/v1/nodes', { headers: { accept: 'application/json, */*' } }), 200)
  })

  void test('a body is JSON, also when it does not say so; without a body the content type does not matter', async () => {
    const headers = { 'content-type': 'application/octet-stream' }
    const unsaid = { headers: { 'content-type': undefined } }
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware' }, { headers }), 415)
    const { body } = expectStatus(await api.post('/v1/nodes', { driver: 'fake-hardware' }, unsaid), 201)
    expectStatus(await api.request('DELETE', `/v1/nodes/${body.uuid}`, undefined, { headers }), 204)
  })

  void test('without a token nothing is shown, without a role little', async () => {
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware' }, { token: 'someone' }), 403)
    expectFault(await api.get('/v1/nodes', { token: 'someone' }), 403)
    expectStatus(await api.get('/v1', { token: 'someone' }), 200)
    expectFault(await api.get('/v1/nodes', { token: null }), 401)
  })

  void test('what is too new for a version is not there, or is refused', async () => {
    const node = await api.node()
    expectStatus(await api.get('/v1/conductors', { version: '1.48' }), 404)
    expectStatus(await api.get(`/v1/nodes/${node}/traits`, { version: '1.36' }), 406)
    expectStatus(await api.put(`/v1/nodes/${node}/traits/CUSTOM_A`, undefined, { version: '1.36' }), 405)
    expectStatus(await api.del(`/v1/nodes/${node}/traits`, { version: '1.36' }), 404)
    expectFault(await api.get('/v1/nodes?fields=uuid,traits', { version: '1.36' }), 406, /1\.37/)
    expectFault(await api.get('/v1/nodes?resource_class=x', { version: '1.20' }), 406, /1\.21/)
    expectFault(await api.get('/v1/nodes?detail=True', { version: '1.42' }), 400)
    expectFault(await api.get('/v1/nodes?fields=uuid', { version: '1.7' }), 406)
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', owner: 'x' }, { version: '1.49' }), 406, /1\.50/)
    const patch = [{ op: 'add', path: '/description', value: 'x' }]
    expectFault(await api.patch(`/v1/nodes/${node}`, patch, { version: '1.50' }), 406, /1\.51/)
    expectFault(await api.provision(node, 'manage', {}, { version: '1.3' }), 406, /1\.4/)
    expectFault(await api.provision(node, 'undeploy', {}, { version: '1.72' }), 406, /1\.73/)
  })

  void test('fields that are newer than the version are left out of answers', async () => {
    const node = await api.node({ name: `n-${uuid()}` })
    const fields = async (version: string) => Object.keys((await api.get(`/v1/nodes/${node}`, { version })).body)
    const brought = {
      driver_internal_info: 3,
      name: 5,
      inspection_started_at: 6,
      clean_step: 7,
      raid_config: 12,
      network_interface: 20,
      resource_class: 21,
      portgroups: 24,
      boot_interface: 31,
      volume: 32,
      storage_interface: 33,
      traits: 37,
      rescue_interface: 38,
      bios_interface: 40,
      fault: 42,
      deploy_step: 44,
      conductor_group: 46,
      automated_clean: 47,
      protected: 48,
      conductor: 49,
      owner: 50,
      description: 51,
      allocation_uuid: 52,
      retired: 61,
      lessee: 65,
      network_data: 66,
      boot_mode: 75,
      shard: 82,
    }
    for (const [field, minor] of Object.entries(brought)) {
      assert.ok((await fields(`1.${minor}`)).includes(field), `${field} at 1.${minor}`)
      if (field === 'name') continue
      assert.ok(!(await fields(`1.${minor - 1}`)).includes(field), `${field} before 1.${minor}`)
    }
  })

  void test('before 1.2 available is null, before 1.11 new nodes are available, before 1.5 there are no names', async () => {
    const { body } = expectStatus(await api.post('/v1/nodes', { driver: 'fake-hardware' }, { version: '1.10' }), 201)
    assert.equal(body.provision_state, 'available')
    assert.equal((await api.get(`/v1/nodes/${body.uuid}`, { version: '1.1' })).body.provision_state, null)
    const name = `n-${uuid()}`
    await api.node({ name })
    expectStatus(await api.get(`/v1/nodes/${name}`, { version: '1.5' }), 200)
    expectStatus(await api.get(`/v1/nodes/${name}`, { version: '1.4' }), 400)
    const enrolled = await api.post('/v1/nodes', { driver: 'fake-hardware' }, { version: '1.11' })
    assert.equal(enrolled.body.provision_state, 'enroll')
  })
})
