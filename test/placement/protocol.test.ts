// How Placement talks, whatever it is about: versions, headers, the order of checks, and the form of refusals.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { inParallel } from '../races/clients.ts'
import type { Options } from '../support/client.ts'
import { errorCode, expectStatus, Placement } from '../support/placement.ts'
import { startServer } from '../support/server.ts'
import { eachStore } from '../support/stores.ts'

const KNOWN = Array.from({ length: 40 }, (_, minor) => minor)
const NOWHERE = `/resource_providers/${randomUUID()}`

eachStore('the protocol', api => {
  for (const [header, version] of [
    [undefined, '1.0'],
    ['placement latest', '1.39'],
    ['placement 1.17', '1.17'],
    ['PLACEMENT 1.17', '1.17'],
    ['compute 2.1, placement 1.17', '1.17'],
    ['compute 2.1', '1.0'],
    ['1.17', '1.0'],
  ] as const) {
    test(`the version header ${header} means ${version}`, async () => {
      const headers = header === undefined ? {} : { 'openstack-api-version': header }
      const answer = expectStatus(await api.get('/resource_providers', { version: null, headers }), 200)
      assert.equal(answer.headers['openstack-api-version'], `placement ${version}`)
      assert.equal(answer.headers['vary'], 'openstack-api-version')
    })
  }

  test('a version that is out of range is 406 and says what the range is', async () => {
    for (const version of ['1.40', '1.-1', '2.0', '0.39', '1.9999']) {
      const { headers, body } = expectStatus(await api.get('/resource_providers', { version }), 406)
      const [error] = body.errors
      assert.deepEqual([error.min_version, error.max_version, error.code], ['1.0', '1.39', undefined])
      assert.equal(headers['openstack-api-version'], undefined)
    }
    for (const version of ['1.a', 'x', '1', '1.2.3']) expectStatus(await api.get('/', { version }), 400)
  })

  test('the version document needs no token and no version', async () => {
    const { body } = expectStatus(await api.get('/', { token: null, version: null }), 200)
    assert.deepEqual(body.versions[0], {
      id: 'v1.0',
      min_version: '1.0',
      max_version: '1.39',
      status: 'CURRENT',
      links: [{ rel: 'self', href: '' }],
    })
    assert.deepEqual((await api.get('', { token: null, version: null })).body, body)
  })

  test('every answer has a request id of its own', async () => {
    const answers = [await api.get('/traits'), await api.get('/nothing'), await api.get('/traits', { token: null })]
    const ids = answers.map(({ headers }) => String(headers['x-openstack-request-id']))
    for (const id of ids) assert.match(id, /^req-[0-9a-f-]{36}$/)
    assert.equal(new Set(ids).size, 3)
    assert.equal(answers[1]!.body.errors[0].request_id, ids[1])
  })

  test('errors carry a code from 1.23 on', async () => {
    assert.equal(errorCode(await api.get(NOWHERE, { version: '1.22' })), undefined)
    assert.equal(errorCode(await api.get(NOWHERE, { version: '1.23' })), 'placement.undefined_code')
  })

  test('without a token nothing is told, not even whether a route exists', async () => {
    for (const path of ['/traits', '/nothing', NOWHERE]) {
      const answer = expectStatus(await api.get(path, { token: null, version: '7.7' }), 401)
      assert.equal(answer.body.errors, undefined)
      assert.equal(answer.headers['openstack-api-version'], undefined)
    }
  })

  const bob: Options = { token: 'bob' }
  const text: Options = { headers: { 'content-type': 'text/plain' } }
  // Each has all the faults of those below it, and is told about the first.
  for (const [what, status, method, path, body, options] of [
    ['the token', 401, 'PUT', '/nothing', 'x', { ...bob, ...text, token: null, version: '9.9' }],
    ['the version', 406, 'PUT', '/nothing', 'x', { ...bob, ...text, version: '9.9' }],
    ['the route', 404, 'PUT', '/nothing', 'x', { ...bob, ...text }],
    ['the method', 405, 'POST', NOWHERE, 'x', { ...bob, ...text }],
    ['the version that the route needs', 404, 'PUT', `${NOWHERE}/traits`, 'x', { ...bob, ...text, version: '1.5' }],
    ['the media type', 415, 'PUT', NOWHERE, 'x', { ...bob, ...text }],
    ['the permission', 403, 'PUT', NOWHERE, 'x', bob],
    ['what the URL names', 404, 'PUT', NOWHERE, 'x', {}],
  ] as const) {
    test(`${what} is checked before what comes after it`, async () => {
      expectStatus(await api.request(method, path, body, options), status)
    })
  }

  test('aggregates look at the media type before the version', async () => {
    expectStatus(await api.put(`${NOWHERE}/aggregates`, 'x', { ...text, version: '1.0' }), 415)
    expectStatus(await api.put(`${NOWHERE}/aggregates`, [], { version: '1.0' }), 404)
  })

  test('a body needs a content-type, and the right one', async () => {
    const headers = { 'content-type': undefined }
    expectStatus(await api.post('/resource_providers', '{}', { headers }), 400)
    expectStatus(await api.post('/resource_providers', '{}', text), 415)
    const charset = { headers: { 'content-type': 'application/json; charset=utf-8' } }
    expectStatus(await api.post('/resource_providers', { name: 'with-charset' }, charset), 200)
  })

  test('who accepts no JSON is refused in a form that they accept', async () => {
    const html = expectStatus(await api.get('/traits', { headers: { accept: 'text/html' } }), 406)
    assert.match(html.headers['content-type']!, /^text\/html/)
    for (const accept of ['*/*', 'application/*', 'text/html, application/json;q=0.1']) {
      expectStatus(await api.get('/traits', { headers: { accept } }), 200)
    }
  })

  test('a method that a route lacks is 405 and the methods that it has are named', async () => {
    for (const method of ['POST', 'PATCH', 'HEAD', 'OPTIONS']) {
      const { headers } = expectStatus(await api.request(method, NOWHERE), 405)
      assert.deepEqual(new Set(headers['allow']?.split(', ')), new Set(['GET', 'PUT', 'DELETE']))
    }
    expectStatus(await api.del(`${NOWHERE}/inventories`, { version: '1.4' }), 405)
  })

  test('a trailing slash is another route, and there is none', async () => {
    for (const path of ['/resource_providers/', '/traits/', '/resource_classes/', `${NOWHERE}/`, '/allocations/']) {
      for (const method of ['GET', 'PUT', 'DELETE']) expectStatus(await api.request(method, path), 404)
    }
  })

  test('answers without a body have no content-type', async () => {
    for (const answer of [await api.put('/traits/CUSTOM_SILENT'), await api.put('/traits/CUSTOM_SILENT')]) {
      assert.ok([201, 204].includes(answer.status))
      assert.equal(answer.headers['content-type'], undefined)
      assert.match(answer.headers['location']!, /^http:\/\/127\.0\.0\.1:\d+\/placement\/traits\/CUSTOM_SILENT$/)
    }
  })

  test('from 1.15 on answers say when they were last modified and must not be cached', async () => {
    const { headers } = await api.get('/resource_classes', { version: '1.15' })
    assert.equal(headers['cache-control'], 'no-cache')
    assert.ok(!Number.isNaN(Date.parse(headers['last-modified']!)))
    assert.equal((await api.get('/resource_classes', { version: '1.14' })).headers['cache-control'], undefined)
  })
})

test('every microversion from -1 to 9999 is known or not acceptable', async () => {
  // Once is enough: no store is asked about versions.
  const server = await startServer('sqlite::memory:')
  const api = new Placement(server.origin)
  await inParallel(32, 10_001, async index => {
    const minor = index - 1
    const { headers } = expectStatus(await api.get('/', { version: `1.${minor}` }), minor in KNOWN ? 200 : 406)
    assert.equal(headers['openstack-api-version'], minor in KNOWN ? `placement 1.${minor}` : undefined)
  })
  api.close()
  await server.stop()
})
