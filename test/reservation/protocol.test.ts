// What every request to the reservation API meets: token, version, paths, media types, and the forms of errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { eachReservation, expectError } from '../support/reservation.ts'

eachReservation('the protocol', api => {
  const root = new Client('/reservation')
  const at = () => (root.origins = api.origins)

  for (const path of ['', '/', '/versions', '/versions.json']) {
    void test(`GET /reservation${path} lists the one version, with status 300`, async () => {
      at()
      const { headers, body } = expectStatus(await root.get(path, { version: null }), 300)
      const [origin] = api.origins
      assert.deepEqual(body, {
        versions: [
          {
            id: 'v1.0',
            status: 'CURRENT',
            links: [{ href: `${origin}/reservation/v1`, rel: 'self' }],
            min_version: '1.0',
            max_version: '1.0',
          },
        ],
      })
      assert.equal(headers['content-type'], 'application/json')
    })
  }

  for (const path of ['', '/', '/lease', '/leases/', '/leases/x/y', '/os-hosts/', '/floatingips', '/v1/leases']) {
    void test(`/v1${path} is not there`, async () => {
      const { body } = expectStatus(await api.get(path), 404)
      assert.equal(body.error, 404)
      assert.match(body.error_message, /not found/)
      assert.deepEqual(Object.keys(body), ['error', 'error_message'])
    })
  }

  for (const path of ['/leases', '/leases/x', '/os-hosts', '/nothing-here']) {
    void test(`without a token ${path} is 401, in the form of Keystone's middleware`, async () => {
      const { body, headers } = expectStatus(await api.get(path, { token: null }), 401)
      assert.deepEqual([body.error.code, body.error.title], [401, 'Unauthorized'])
      assert.ok(headers['www-authenticate'])
    })
  }

  void test('every answer has a request id, the version, and says that it depends on it', async () => {
    for (const path of ['/leases', '/leases/x', '/nothing-here', '/os-hosts']) {
      const { headers } = await api.get(path)
      assert.match(String(headers['x-openstack-request-id']), /^req-[0-9a-f-]{36}$/)
      assert.equal(headers['openstack-api-version'], 'reservation 1.0')
      assert.match(String(headers.vary), /OpenStack-API-Version/i)
    }
  })

  for (const version of ['1.0', 'latest']) {
    void test(`version ${version} is understood`, async () => {
      expectStatus(await api.get('/leases', { version }), 200)
    })
  }

  void test("other services' versions are none of ours", async () => {
    const headers = { 'openstack-api-version': 'compute 2.53, placement 1.39' }
    expectStatus(await api.get('/leases', { headers }), 200)
    const both = { 'openstack-api-version': 'compute 2.53, reservation 1.0' }
    expectStatus(await api.get('/leases', { headers: both }), 200)
  })

  for (const version of ['1.1', '2.0', '1.999', '99999999999999999999.0']) {
    void test(`version ${version} is not acceptable`, async () => {
      const { body } = expectStatus(await api.get('/leases', { version }), 406)
      assert.equal(body.error, 406)
      assert.match(body.error_message, /version/)
    })
  }

  for (const version of ['', '1', 'x', '1.0.0', '-1.0', '1.x', '1.00', '1. 0', 'newest']) {
    void test(`version "${version}" is malformed`, async () => {
      const { body } = expectStatus(await api.get('/leases', { version }), 400)
      assert.equal(body.error, 400)
      assert.match(body.error_message, /version/)
    })
  }

  void test('a method that a path does not have is 405 and names those that it has', async () => {
    for (const [method, path, allowed] of [
      ['DELETE', '/leases', 'GET, POST'],
      ['PATCH', '/leases/x', 'GET, PUT, DELETE'],
      ['POST', '/os-hosts/allocations', 'GET'],
      ['GET', '/os-hosts/properties/x', 'PATCH'],
    ] as const) {
      const { body, headers } = expectStatus(await api.request(method, path), 405)
      assert.equal(body.error, 405)
      assert.equal(headers.allow, allowed)
    }
  })

  void test('every path also answers with the suffix .json', async () => {
    const host = await api.host('suffix')
    const lease = await api.lease([{ resource_type: 'physical:host', min: 1, max: 1 }])
    for (const path of [
      '/leases',
      `/leases/${lease.id}`,
      '/os-hosts',
      `/os-hosts/${host.id}`,
      `/os-hosts/${host.id}/allocation`,
      '/os-hosts/allocations',
      '/os-hosts/properties',
    ]) {
      const plain = expectStatus(await api.get(path), 200)
      assert.deepEqual(expectStatus(await api.get(`${path}.json`), 200).body, plain.body)
    }
    expectStatus(await api.put(`/leases/${lease.id}.json`, { name: 'renamed' }), 200)
    expectStatus(await api.del(`/leases/${lease.id}.json`), 204)
    expectStatus(await api.post('/leases.json', {}), 400)
  })

  void test('HEAD is GET without the body', async () => {
    const { body, headers } = expectStatus(await api.request('HEAD', '/leases'), 200)
    assert.equal(body, null)
    assert.equal(headers['content-type'], 'application/json')
  })

  for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'nonsense']) {
    void test(`a body of type ${type} is 400`, async () => {
      expectStatus(await api.post('/leases', '{}', { headers: { 'content-type': type } }), 400)
    })
  }

  void test('a body is JSON with or without saying so', async () => {
    for (const type of [undefined, 'application/json', 'application/json; charset=utf-8', 'Application/JSON']) {
      const answer = await api.post('/leases', '{}', { headers: { 'content-type': type } })
      expectError(answer, 400, /name/)
    }
  })

  void test('an empty body is an empty object', async () => {
    expectError(await api.post('/leases', ''), 400, /name/)
    expectError(await api.post('/leases'), 400, /name/)
  })

  for (const body of ['x', '{', '[]', 'null', '1', '"x"', Buffer.from([0x7b, 0xff, 0x7d])]) {
    void test(`the body ${JSON.stringify(body).slice(0, 40)} is 400 in the handlers' form`, async () => {
      expectError(await api.post('/leases', body), 400)
      expectError(await api.put('/leases/x', body), 400)
      expectError(await api.post('/os-hosts', body), 400)
    })
  }

  void test('a URL that is too long is 414, and NUL in it is 400', async () => {
    expectStatus(await api.get(`/leases/${'a'.repeat(40_000)}`), 414)
    expectStatus(await api.get('/leases/a%00b'), 400)
    expectStatus(await api.get('/os-hosts/allocations?lease_id=%00'), 400)
  })

  void test('a missing lease and a missing host say what is missing', async () => {
    const missing = '00000000-0000-4000-8000-000000000000'
    expectError(await api.get(`/leases/${missing}`), 404, new RegExp(missing))
    expectError(await api.put(`/leases/${missing}`, { name: 'x' }), 404, new RegExp(missing))
    expectError(await api.del(`/leases/${missing}`), 404, new RegExp(missing))
    expectError(await api.get('/os-hosts/4711'), 404, /4711/)
    expectError(await api.put('/os-hosts/4711', { a: 'b' }), 404, /4711/)
    expectError(await api.del('/os-hosts/4711'), 404, /4711/)
    expectError(await api.get('/os-hosts/4711/allocation'), 404, /4711/)
    expectError(await api.patch('/os-hosts/properties/no-such', { private: true }), 404, /no-such/)
  })
})
