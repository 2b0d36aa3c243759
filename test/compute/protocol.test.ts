// Versions, errors, and the small answers that clients look at in passing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../support/client.ts'
import { CIRROS, eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

eachCompute('the compute protocol', api => {
  const at = (prefix: string) => new Client(prefix, ...api.origins)

  test('the version documents name the range', async () => {
    const root = at('/compute')
    for (const path of ['', '/']) {
      const { body } = expectStatus(await root.get(path), 200)
      const [version] = body.versions
      assert.deepEqual([version.id, version.version, version.min_version], ['v2.1', '2.38', '2.1'])
      assert.match(version.links[0].href, /^http:\/\/127\.0\.0\.1:\d+\/compute\/v2\.1\/$/)
    }
    for (const path of ['/v2.1', '/v2.1/']) {
      const { body } = expectStatus(await root.get(path, { token: null }), 200)
      assert.equal(body.version.id, 'v2.1')
    }
    root.close()
  })

  test('the version is answered in both headers, and what is out of range is not acceptable', async () => {
    const plain = await api.get('/flavors', { version: null })
    assert.equal(plain.headers['openstack-api-version'], 'compute 2.1')
    assert.equal(plain.headers['x-openstack-nova-api-version'], '2.1')
    assert.ok(plain.headers['x-openstack-request-id'])
    const asking = (text: string) => api.get('/flavors', { version: null, headers: { 'openstack-api-version': text } })
    expectStatus(await asking('compute 2.1'), 200)
    assert.equal(expectStatus(await asking('compute latest'), 200).headers['x-openstack-nova-api-version'], '2.38')
    assert.equal((await api.get('/servers/x', { version: '2.37' })).headers['openstack-api-version'], 'compute 2.37')
    expectStatus(await asking('placement 1.39, compute 2.1'), 200)
    expectStatus(await asking('placement 1.39'), 200)
    assert.ok(expectFault(await asking('compute 2.90'), 406, /2\.90 is not supported/).body.notAcceptable)
    expectFault(await asking('compute 2.0'), 406)
    for (const version of ['2.39', '2.61', '3.1']) expectFault(await api.get('/flavors', { version }), 406)
    for (const wrong of ['compute', 'compute x', 'compute 2', 'compute 2.01', 'compute 2.1.1']) {
      expectFault(await asking(wrong), 400, /invalid format/)
    }
  })

  test('errors are named after their status', async () => {
    assert.ok(expectFault(await api.get('/servers/x'), 404).body.itemNotFound)
    assert.ok(expectFault(await api.get('/nothing'), 404).body.itemNotFound)
    assert.ok(expectFault(await api.post('/servers', {}), 400).body.badRequest)
    assert.ok(expectFault(await api.get('/os-hypervisors', member('p')), 403).body.forbidden)
    assert.ok(expectFault(await api.get('/servers', { token: null }), 401).body.unauthorized)
    const wrong = expectFault(await api.put('/servers', {}), 405)
    assert.ok(wrong.body.badMethod)
    assert.equal(wrong.headers.allow, 'GET, POST')
    const id = await api.flavor()
    const again = { flavor: { id, name: 'x', vcpus: 1, ram: 1, disk: 1 } }
    assert.ok(expectFault(await api.post('/flavors', again), 409).body.conflictingRequest)
  })

  test('lists that are always empty, and limits that are none', async () => {
    for (const [path, name] of [
      ['/os-aggregates', 'aggregates'],
      ['/os-server-groups', 'server_groups'],
      ['/os-keypairs', 'keypairs'],
      ['/extensions', 'extensions'],
    ]) {
      assert.deepEqual(expectStatus(await api.get(path!), 200).body, { [name!]: [] })
    }
    assert.equal((await api.get('/limits')).body.limits.absolute.maxTotalInstances, -1)
    const NETWORKS = ['maxTotalFloatingIps', 'maxSecurityGroups', 'maxSecurityGroupRules']
    const limitsAt = async (version: string) => (await api.get('/limits', { version })).body.limits.absolute
    const [old, newer] = [await limitsAt('2.35'), await limitsAt('2.36')]
    for (const name of NETWORKS) assert.deepEqual([old[name], newer[name]], [-1, undefined])
    const { quota_set } = (await api.get('/os-quota-sets/p')).body
    assert.deepEqual([quota_set.id, quota_set.instances], ['p', -1])
    assert.deepEqual((await api.get('/os-availability-zone')).body.availabilityZoneInfo, [
      { zoneName: 'nova', zoneState: { available: true }, hosts: null },
    ])
  })

  test('a path may end with a slash', async () => {
    expectStatus(await api.get('/flavors/'), 200)
  })

  test('there is one image, found by id and listed by name', async () => {
    const image = at('/image')
    const { body } = expectStatus(await image.get(''), 300)
    assert.match(body.versions[0].links[0].href, /\/image\/v2\/$/)
    const shown = expectStatus(await image.get(`/v2/images/${CIRROS}`), 200).body
    assert.deepEqual([shown.name, shown.status], ['cirros', 'active'])
    assert.deepEqual((await image.get('/v2/images')).body.images, [shown])
    assert.deepEqual((await image.get('/v2/images?name=cirros')).body.images, [shown])
    assert.deepEqual((await image.get('/v2/images?name=other')).body.images, [])
    expectStatus(await image.get('/v2/images/cirros'), 404)
    expectStatus(await image.get('/v2/nothing'), 404)
    expectStatus(await image.get('/v2/images', { token: null }), 401)
    image.close()
  })
})
