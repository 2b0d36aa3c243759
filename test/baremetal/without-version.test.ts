// Paths without /v1, which clients use that take the catalog's URL as it is: the same as those with it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Baremetal, expectFault } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'

void describe('paths without a version', () => {
  let server: Server
  let api: Baremetal
  before(async () => {
    server = await startServer('sqlite::memory:')
    api = new Baremetal(server.origin)
  })
  after(async () => {
    api.close()
    await server.stop()
  })

  void test('answer as those with it, headers and links too', async () => {
    const uuid = await api.node({ name: 'n1' })
    for (const path of ['/nodes', '/nodes/', '/nodes/detail', '/nodes/n1', `/nodes/${uuid}/states`, '/drivers']) {
      const [short, long] = [await api.get(path), await api.get(`/v1${path}`)]
      assert.deepEqual(expectStatus(short, 200).body, expectStatus(long, 200).body)
      const [version] = [short, long].map(({ headers }) => headers['x-openstack-ironic-api-version'])
      assert.equal(version, '1.82')
    }
    const { links } = (await api.get('/nodes/n1')).body
    for (const { href } of links) {
      const path = href.slice(`${api.origin}/baremetal`.length)
      assert.equal(expectStatus(await api.get(path), 200).body.uuid, uuid)
    }
  })

  void test('negotiate the version, and have what the version has', async () => {
    expectFault(await api.get('/nodes', { version: '1.999' }), 406)
    expectFault(await api.get('/allocations', { version: '1.51' }), 404)
    expectStatus(await api.get('/allocations', { version: '1.52' }), 200)
  })

  void test('pages go on with the version in the link', async () => {
    await api.node({ name: 'n2' })
    const { next } = expectStatus(await api.get('/nodes?limit=1'), 200).body
    assert.match(next, /\/baremetal\/v1\/nodes\?/)
  })

  void test('take what is sent, and ask for a token', async () => {
    const made = expectStatus(await api.post('/nodes', { driver: 'fake-hardware', name: 'n3' }), 201)
    assert.equal(made.headers.location, `${api.origin}/baremetal/v1/nodes/${made.body.uuid}`)
    expectStatus(await api.patch('/nodes/n3', [{ op: 'add', path: '/extra/a', value: 1 }]), 200)
    expectStatus(await api.del('/nodes/n3'), 204)
    expectStatus(await api.get('/nodes', { token: null }), 401)
  })

  void test('the root is still the list of versions, and what is unknown is 404', async () => {
    assert.equal(expectStatus(await api.get('/'), 200).body.default_version.id, 'v1')
    for (const path of ['/nonsense', '/v1/v1/nodes', '/v2/nodes']) expectFault(await api.get(path), 404)
  })
})
