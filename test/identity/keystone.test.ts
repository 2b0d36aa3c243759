// Tokens of Keystone: asked about once, believed for a while, refused when it says no, and 503 when it can't be asked.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Config } from '../../src/config.ts'
import { inParallel } from '../races/clients.ts'
import { Identity, until } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { FakeKeystone } from './fake-keystone.ts'

eachDatabase('keystone', databases => {
  const keystone = new FakeKeystone()
  const api = new Identity()
  const servers: Server[] = []
  const start = async (settings: Partial<Config> = {}) => {
    const server = await startServer(await databases.create(), {
      auth: 'keystone',
      keystoneUrl: `${keystone.url}/v3/`,
      keystonePassword: keystone.password,
      placementPolicy: 'secure',
      ...settings,
    })
    servers.push(server)
    return server.origin
  }
  before(async () => {
    await keystone.start()
    api.origins = [await start()]
    keystone.tokens.set('admin-token', { user: 'ann', project: 'lab', roles: ['admin', 'member', 'reader'] })
    keystone.tokens.set('reader-token', { user: 'ben', project: 'lab', roles: ['reader'] })
    keystone.tokens.set('system-token', { user: 'ann', system: true, roles: ['admin'] })
  })
  after(async () => {
    api.close()
    for (const server of servers) await server.stop()
    await keystone.stop()
  })
  const providers = async (token: string, headers: Record<string, string> = {}) =>
    (await fetch(`${api.origin}/placement/resource_providers`, { headers: { ...headers, 'x-auth-token': token } }))
      .status

  test('a token that Keystone knows opens what its roles open', async () => {
    assert.deepEqual([await providers('admin-token'), await providers('reader-token')], [200, 403])
    assert.equal(await providers('system-token'), 403)
    assert.deepEqual(
      [await api.knock('reader-token'), await api.knock('nonsense'), await api.knock(null)],
      [200, 401, 401],
    )
    const { status, headers } = await fetch(`${api.origin}/placement/traits`)
    assert.deepEqual([status, headers.get('www-authenticate')], [401, `Keystone uri="${keystone.url}/v3/"`])
  })

  test('many requests with one token are one question, and so are those that come at once', async () => {
    keystone.tokens.set('popular', { user: 'ann', project: 'lab', roles: ['admin'] })
    const before = keystone.validations
    keystone.delayMs = 50
    await inParallel(32, 200, async () => assert.equal(await api.knock('popular'), 200))
    keystone.delayMs = 0
    assert.equal(keystone.validations - before, 1)
  })

  test('our own token is got once, and anew when Keystone has forgotten it', async () => {
    assert.equal(keystone.logins, 1)
    keystone.forgetService()
    keystone.tokens.set('after', { user: 'ann', project: 'lab', roles: ['admin'] })
    assert.equal(await api.knock('after'), 200)
    assert.equal(keystone.logins, 2)
  })

  test('a revoked token is refused when what was believed of it is old', async () => {
    const brief = new Identity(await start({ keystoneCacheSeconds: 1 }))
    keystone.tokens.set('doomed', { user: 'ann', project: 'lab', roles: ['admin'] })
    assert.equal(await brief.knock('doomed'), 200)
    keystone.tokens.delete('doomed')
    assert.equal(
      await until(
        () => brief.knock('doomed'),
        status => status === 401,
      ),
      401,
    )
    brief.close()
  })

  test('a token is not believed beyond its own end', async () => {
    keystone.tokens.set('ends', { user: 'ann', project: 'lab', roles: ['admin'], expiresInMs: 800 })
    assert.equal(await api.knock('ends'), 200)
    keystone.tokens.delete('ends')
    assert.equal(
      await until(
        () => api.knock('ends'),
        status => status === 401,
      ),
      401,
    )
  })

  test('while Keystone is away, what is known goes on, and the rest is 503 in the form of each API', async () => {
    keystone.tokens.set('new', { user: 'ann', project: 'lab', roles: ['admin'] })
    assert.equal(await providers('admin-token'), 200)
    const { port } = keystone
    const ask = (path: string) => fetch(`${api.origin}${path}`, { headers: { 'x-auth-token': 'new' } })
    const isAway = async () => {
      assert.equal(await providers('admin-token'), 200)
      const placement = await ask('/placement/traits')
      const metal = await ask('/baremetal/v1/nodes')
      const ours = await ask('/holdfast/v1/fsck')
      for (const answer of [placement, metal, ours]) {
        assert.equal(answer.status, 503)
        assert.ok(Number(answer.headers.get('retry-after')) > 0)
      }
      assert.equal(((await placement.json()) as { errors: { status: number }[] }).errors[0]!.status, 503)
      assert.match(((await metal.json()) as { error_message: string }).error_message, /identity service/)
      assert.equal((await ask('/placement/')).status, 200, 'the version document needs nobody')
    }
    for (const status of [500, 503, 403]) {
      keystone.broken = status
      await isAway()
    }
    keystone.broken = null
    await keystone.stop()
    await isAway()
    await keystone.start(port)
    assert.equal(await api.knock('new'), 200)
  })

  test('a password of ours that Keystone refuses is 503 for others, not 401', async () => {
    const misled = new Identity(await start({ keystonePassword: 'wrong' }))
    assert.equal(await misled.knock('admin-token'), 503)
    misled.close()
  })

  test('headers that claim to be someone do nothing', async () => {
    const forged = { 'x-roles': 'admin', 'x-user-id': 'ann', 'x-project-id': 'lab', 'openstack-system-scope': 'all' }
    assert.equal(await api.knock(null, forged), 401)
    assert.equal(await providers('reader-token', forged), 403)
    const basic = `Basic ${Buffer.from(`holdfast:${keystone.password}`).toString('base64')}`
    assert.equal(await api.knock(null, { authorization: basic }), 401)
  })

  test('tokens that can be none are not asked about', async () => {
    const before = keystone.validations
    for (const token of ['x'.repeat(5_000), '\xe9', '']) assert.equal(await api.knock(token), 401)
    assert.equal(keystone.validations, before)
  })

  test('/identity says where tokens are handed out', async () => {
    const { body } = expectStatus(await api.logIn('ann'), 404)
    assert.ok(body.error.message.includes(keystone.url))
  })
})
