// Tokens of Keystone: asked about once, believed for a while, refused when it says no, and 503 when it can't be asked.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { limits } from '../../src/shared/limits.ts'
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

  test('a token that is past its end is refused, whatever Keystone says of it', async () => {
    keystone.tokens.set('past', { user: 'ann', project: 'lab', roles: ['admin'], expiresInMs: -1_000 })
    keystone.tokens.set('endless', { user: 'ann', project: 'lab', roles: ['admin'], expiresInMs: NaN })
    assert.deepEqual([await api.knock('past'), await api.knock('endless')], [401, 401])
  })

  test('who is admin of a domain only is nobody here', async () => {
    keystone.tokens.set('domain-token', { user: 'dora', domain: 'tenants', roles: ['admin', 'member', 'reader'] })
    assert.deepEqual([await providers('domain-token'), await api.knock('domain-token')], [403, 403])
    const audit = await fetch(`${api.origin}/holdfast/v1/audit`, { headers: { 'x-auth-token': 'domain-token' } })
    assert.equal(audit.status, 403)
  })

  test('made up tokens, however many at once, don’t keep out those that Keystone knows', async () => {
    const flooded = new Identity(await start({ keystoneCacheSeconds: 1, trustForwarded: '1' }))
    const from = (address: string) => ({ 'x-forwarded-for': address })
    keystone.tokens.set('known', { user: 'ann', project: 'lab', roles: ['admin'] })
    keystone.tokens.set('new-elsewhere', { user: 'ann', project: 'lab', roles: ['admin'] })
    keystone.tokens.set('new-there', { user: 'ann', project: 'lab', roles: ['admin'] })
    assert.equal(await flooded.knock('known', from('10.0.0.1')), 200)
    const { promise: heldUp, resolve: letGo } = Promise.withResolvers<void>()
    const before = keystone.validations
    keystone.junkHeldUp = heldUp
    const junk = Array.from({ length: 200 }, (_, i) => flooded.knock(`junk-${i}`, from('10.0.0.1')))
    await until(
      () => Promise.resolve(keystone.validations - before),
      asked => asked >= limits.keystoneStrangersPerAddressMax,
    )
    // From another address, and from the same with one that is asked about again, while all of the junk is in the way.
    assert.equal(await flooded.knock('new-elsewhere', from('10.0.0.2')), 200)
    const known = keystone.tokens.get('known')!
    keystone.tokens.set('known', { ...known, roles: ['nothing'] })
    assert.equal(
      await until(
        () => flooded.knock('known', from('10.0.0.1')),
        status => status === 403,
      ),
      403,
    )
    const late = flooded.knock('new-there', from('10.0.0.1'))
    letGo()
    assert.equal(await late, 200)
    assert.deepEqual(new Set(await Promise.all(junk)), new Set([401]))
    flooded.close()
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
