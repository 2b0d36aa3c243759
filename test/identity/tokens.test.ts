// Tokens of our own users: how one gets them, what they say, what they open, and how they end.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type SigningKey, rotateSigningKeys, signingKeys } from '../../src/identity/signing-keys.ts'
import { readToken, writeToken } from '../../src/identity/token-text.ts'
import { openStore } from '../../src/store/open.ts'
import { eachIdentity, Identity, inProject, passwordAuth, until } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'

const HOURS_12 = 12 * 60 * 60_000

const names = (list: { name: string }[]) => list.map(({ name }) => name).sort()

eachIdentity('tokens', ({ api, databases, start, database }) => {
  test('the version documents need no token', async () => {
    for (const path of ['', '/']) {
      const { body } = expectStatus(await api.get(path), 300)
      assert.equal(body.versions.values[0].id, 'v3.14')
    }
    for (const path of ['/v3', '/v3/']) {
      const { body } = expectStatus(await api.get(path), 200)
      assert.equal(body.version.links[0].href, `${api.origin}/identity/v3/`)
    }
  })

  test('a name and a password give a token for the project that is asked for', async () => {
    const { body, headers } = expectStatus(await api.logIn('alice', undefined, inProject('office')), 201)
    const { token } = body
    assert.deepEqual([token.user.name, token.project.name], ['alice', 'office'])
    assert.deepEqual(names(token.roles), ['member', 'reader'])
    assert.deepEqual(token.methods, ['password'])
    assert.equal(Date.parse(token.expires_at) - Date.parse(token.issued_at), 12 * 60 * 60_000)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
  })

  test('user and project may be named by id', async () => {
    const { user, project } = expectStatus(await api.logIn('bob'), 201).body.token
    const auth = {
      identity: { methods: ['password'], password: { user: { id: user.id, password: 'bob-pw' } } },
      scope: { project: { id: project.id } },
    }
    const { body } = expectStatus(await api.post('/v3/auth/tokens', { auth }), 201)
    assert.deepEqual([body.token.user.name, body.token.project.name], ['bob', 'lab'])
  })

  test('without a scope it is for the default project, or the only one; with neither it opens nothing', async () => {
    const project = async (name: string) => expectStatus(await api.logIn(name), 201).body.token.project?.name
    assert.equal(await project('alice'), 'lab')
    assert.equal(await project('bob'), 'lab')
    assert.equal(await project('carol'), undefined)
    const { body } = expectStatus(await api.logIn('alice', undefined, 'unscoped'), 201)
    assert.deepEqual([body.token.project, body.token.roles, body.token.catalog], [undefined, undefined, undefined])
  })

  test('a token for the whole system is for admins', async () => {
    const scope = { system: { all: true } }
    const { body } = expectStatus(await api.logIn('alice', undefined, scope), 201)
    assert.deepEqual(body.token.system, { all: true })
    assert.equal(body.token.project, undefined)
    expectStatus(await api.logIn('bob', undefined, scope), 401)
  })

  test('whatever is wrong with a proof, the answer is the same', async () => {
    const wrong = [
      await api.logIn('alice', 'wrong'),
      await api.logIn('nobody', 'wrong'),
      await api.logIn('bob', undefined, inProject('office')),
      await api.logIn('bob', undefined, inProject('nowhere')),
      await api.logIn('bob', undefined, { domain: { id: 'default' } }),
      await api.post('/v3/auth/tokens', { auth: { identity: { methods: ['token'], token: { id: 'nonsense' } } } }),
      await api.post('/v3/auth/tokens', { auth: { identity: { methods: ['totp'], totp: {} } } }),
    ]
    const elsewhere = passwordAuth('alice')
    Object.assign(elsewhere.auth.identity.password.user, { domain: { name: 'Elsewhere' } })
    wrong.push(await api.post('/v3/auth/tokens', elsewhere))
    for (const answer of wrong) {
      expectStatus(answer, 401)
      assert.deepEqual(answer.body, {
        error: {
          code: 401,
          title: 'Unauthorized',
          message: 'The request you have made requires authentication.',
        },
      })
      assert.match(String(answer.headers['www-authenticate']), /^Keystone uri="http:.*\/identity\/v3"$/)
    }
  })

  test('the catalog has every API under the host that the client spoke to', async () => {
    const token = await api.token('bob')
    const { body } = expectStatus(await api.get('/v3/auth/catalog', { token, headers: { host: 'cloud.example' } }), 200)
    const urls = body.catalog.map((service: { type: string; endpoints: { interface: string; url: string }[] }) => [
      service.type,
      service.endpoints.find(endpoint => endpoint.interface === 'public')!.url,
    ])
    assert.deepEqual(Object.fromEntries(urls), {
      identity: 'http://cloud.example/identity',
      placement: 'http://cloud.example/placement',
      baremetal: 'http://cloud.example/baremetal',
      compute: 'http://cloud.example/compute/v2.1',
      image: 'http://cloud.example/image',
      reservation: 'http://cloud.example/reservation/v1',
    })
  })

  test('a token opens the other APIs as far as its roles go', async () => {
    const admin = await api.token('alice')
    const member = await api.token('bob')
    assert.deepEqual([await api.knock(admin), await api.knock(member), await api.knock(null)], [200, 200, 401])
    assert.equal(await api.knock(`${admin}x`), 401)
    const providers = (token: string) =>
      fetch(`${api.origin}/placement/resource_providers`, { headers: { 'x-auth-token': token } })
    assert.equal((await providers(admin)).status, 200)
    assert.equal((await providers(member)).status, 403)
    const fsck = (token: string) => fetch(`${api.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': token } })
    assert.equal((await fsck(admin)).status, 200)
    assert.equal((await fsck(member)).status, 403)
    assert.equal((await fsck('x')).status, 401)
  })

  test('one may ask about one’s own token; about another’s only as admin or service', async () => {
    const [admin, service, bob] = [await api.token('alice'), await api.token('nova'), await api.token('bob')]
    for (const asking of [bob, admin, service]) {
      const { body, headers } = expectStatus(await api.validate(bob, asking), 200)
      assert.equal(body.token.user.name, 'bob')
      assert.equal(headers['x-subject-token'], bob)
    }
    expectStatus(await api.validate(admin, bob), 403)
    expectStatus(await api.validate('nonsense', bob), 403)
    const { body } = expectStatus(await api.validate('nonsense', admin), 404)
    assert.equal(body.error.title, 'Not Found')
    expectStatus(await api.validate(bob, 'nonsense'), 401)
    expectStatus(await api.get('/v3/auth/tokens', { token: bob }), 404)
    const head = await api.request('HEAD', '/v3/auth/tokens', undefined, {
      token: bob,
      headers: { 'x-subject-token': bob },
    })
    expectStatus(head, 200)
    assert.equal(head.body, null)
    assert.equal(
      (await api.get('/v3/auth/tokens?nocatalog', { token: bob, headers: { 'x-subject-token': bob } })).body.token
        .catalog,
      undefined,
    )
  })

  test('a token gives another one, for another project, that ends when it does', async () => {
    const first = expectStatus(await api.logIn('alice'), 201)
    const id = first.headers['x-subject-token']
    const auth = { identity: { methods: ['token'], token: { id } }, scope: inProject('office') }
    const { body } = expectStatus(await api.post('/v3/auth/tokens', { auth }), 201)
    assert.equal(body.token.project.name, 'office')
    assert.deepEqual(body.token.methods.sort(), ['password', 'token'])
    assert.equal(body.token.expires_at, first.body.token.expires_at)
  })

  test('a revoked token opens nothing any more, here at once', async () => {
    const [token, other] = [await api.token('bob'), await api.token('bob')]
    assert.equal(await api.knock(token), 200)
    expectStatus(await api.del('/v3/auth/tokens', { token, headers: { 'x-subject-token': token } }), 204)
    assert.equal(await api.knock(token), 401)
    const auth = { identity: { methods: ['token'], token: { id: token } } }
    expectStatus(await api.post('/v3/auth/tokens', { auth }), 401)
    assert.equal(await api.knock(other), 200)
    const admin = await api.token('alice')
    expectStatus(await api.del('/v3/auth/tokens', { token: other, headers: { 'x-subject-token': admin } }), 403)
    expectStatus(await api.del('/v3/auth/tokens', { token: admin, headers: { 'x-subject-token': other } }), 204)
    assert.equal(await api.knock(other), 401)
  })

  if (databases.kind === 'postgres') {
    test('tokens of one process are good in another, and so are their revocations', async () => {
      const beside = new Identity((await start(database())).origin)
      const token = await api.token('bob')
      assert.equal(await beside.knock(token), 200)
      expectStatus(await beside.del('/v3/auth/tokens', { token, headers: { 'x-subject-token': token } }), 204)
      assert.equal(await beside.knock(token), 401)
      assert.equal(
        await until(
          () => api.knock(token),
          status => status === 401,
        ),
        401,
      )
      beside.close()
    })
  }

  test('a token ends', async () => {
    const brief = new Identity((await start(await databases.create(), { tokenHours: 1 / 3_600 })).origin)
    const { body, headers } = expectStatus(await brief.logIn('bob'), 201)
    assert.equal(Date.parse(body.token.expires_at) - Date.parse(body.token.issued_at), 1_000)
    const token = headers['x-subject-token'] as string
    assert.equal(
      await until(
        () => brief.knock(token),
        status => status === 401,
      ),
      401,
    )
    brief.close()
  })

  test('a token lasts no longer than all do, whatever it says of itself', async () => {
    const now = Date.now()
    const keys = await keysOf(database())
    const facts = readToken(await api.token('bob'), keys[0]!.secret)!
    const forged = (issuedAt: number) =>
      api.knock(writeToken({ ...facts, issuedAt, expiresAt: now + 10 * HOURS_12 }, keys[0]!.secret))
    assert.equal(await forged(now), 200)
    assert.equal(await forged(now - HOURS_12), 401)
    assert.equal(await forged(now + 5 * 60_000), 401)
  })

  test('after a rotation of keys old tokens last until they end, and what is new is signed with the new key', async () => {
    const old = await api.token('bob')
    await rotate(database())
    assert.equal(await api.knock(old), 200)
    const [newest, before] = await keysOf(database())
    const fresh = await until(
      () => api.token('bob'),
      token => readToken(token, newest!.secret) !== null,
    )
    assert.deepEqual([await api.knock(fresh), await api.knock(old)], [200, 200])
    // Whoever has the retired key can't make tokens with it that were got after its time.
    const facts = readToken(old, before!.secret)!
    assert.equal(await api.knock(writeToken({ ...facts, issuedAt: before!.retiredAt! + 60_000 }, before!.secret)), 401)
  })

  test('a key that was seen by someone goes at once, with all its tokens', async () => {
    const old = await api.token('bob')
    assert.equal(await api.knock(old), 200)
    await rotate(database(), { forgetAll: true })
    const refused = await until(
      () => api.knock(old),
      status => status === 401,
    )
    assert.equal(refused, 401)
    assert.equal((await keysOf(database())).length, 1)
    const fresh = await until(
      () => api.token('bob').then(token => api.knock(token)),
      status => status === 200,
    )
    assert.equal(fresh, 200)
  })

  test('a retired key is removed once its last token has ended', async () => {
    const other = await databases.create()
    await start(other)
    await rotate(other, { now: Date.now() - 2 * HOURS_12 })
    assert.equal((await keysOf(other)).length, 2)
    await rotate(other)
    assert.deepEqual(
      (await keysOf(other)).map(({ id }) => id),
      [3, 2],
    )
  })

  test('a token of another database is unknown here', async () => {
    const other = new Identity((await start(await databases.create())).origin)
    assert.equal(await api.knock(await other.token('alice')), 401)
    other.close()
  })

  test('headers that claim to be someone do nothing', async () => {
    const forged = {
      'x-roles': 'admin',
      'x-user-id': 'alice',
      'x-project-id': 'lab',
      'x-identity-status': 'Confirmed',
      'openstack-system-scope': 'all',
    }
    assert.equal(await api.knock(null, forged), 401)
    assert.equal(await api.knock('admin', forged), 401)
    assert.equal(await api.knock('alice:lab', forged), 401)
    const token = await api.token('bob')
    const asBob = { headers: { ...forged, 'x-auth-token': token } }
    assert.equal((await fetch(`${api.origin}/placement/resource_providers`, asBob)).status, 403)
    assert.equal((await fetch(`${api.origin}/holdfast/v1/fsck`, asBob)).status, 403)
    const { body } = expectStatus(await api.validate(token), 200)
    assert.deepEqual(names(body.token.roles), ['member', 'reader'])
  })
})

async function keysOf(database: string): Promise<SigningKey[]> {
  const store = openStore(database)
  try {
    return await store.read(signingKeys)
  } finally {
    await store.close()
  }
}

async function rotate(database: string, { forgetAll = false, now = Date.now() } = {}): Promise<void> {
  const store = openStore(database)
  try {
    await store.write(() => rotateSigningKeys({ fresh: randomBytes(32), now, lifeMs: HOURS_12, forgetAll }))
  } finally {
    await store.close()
  }
}
