// Application credentials: made for oneself, with no more than one has, and gone when they are taken back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rawAnswer } from '../placement/raw.ts'
import { eachIdentity, Identity, inProject, until } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'

eachIdentity('application credentials', ({ api, databases, start }) => {
  const own = async (name: string) => {
    const { body, headers } = expectStatus(await api.logIn(name), 201)
    return {
      token: headers['x-subject-token'] as string,
      path: `/v3/users/${body.token.user.id}/application_credentials`,
      id: body.token.user.id as string,
    }
  }
  const create = (path: string, token: string, credential: object) =>
    api.post(path, { application_credential: credential }, { token })
  const logIn = (credential: object, scope?: object) => {
    const identity = { methods: ['application_credential'], application_credential: credential }
    return api.post('/v3/auth/tokens', { auth: { identity, ...(scope && { scope }) } })
  }

  test('one gets in with id and secret, or with names, to the project that it was made in', async () => {
    const { token, path, id } = await own('alice')
    const { body } = expectStatus(await create(path, token, { name: 'script' }), 201)
    const { id: credential, secret } = body.application_credential
    for (const given of [
      { id: credential, secret },
      { name: 'script', user: { id }, secret },
      { name: 'script', user: { name: 'alice', domain: { name: 'Default' } }, secret },
    ]) {
      const { token: got } = expectStatus(await logIn(given), 201).body
      assert.deepEqual([got.user.name, got.project.name, got.methods], ['alice', 'lab', ['application_credential']])
      assert.equal(got.application_credential.restricted, true)
    }
    expectStatus(await logIn({ id: credential, secret: 'wrong' }), 401)
    expectStatus(await logIn({ id: 'none', secret }), 401)
    expectStatus(await logIn({ name: 'script', user: { name: 'bob' }, secret }), 401)
    const elsewhere = { project: { name: 'office', domain: { id: 'default' } } }
    for (const other of [elsewhere, { system: { all: true } }, { unscoped: {} }]) {
      expectStatus(await logIn({ id: credential, secret }, other), 401)
    }
    expectStatus(await create(path, token, { name: 'script' }), 409)
  })

  test('one that was made in mode none, where nobody proves who they are, is worth nothing in mode password', async () => {
    const database = await databases.create()
    const open = await start(database, { auth: 'none' })
    const anyone = new Identity(open.origin)
    const { headers, body } = expectStatus(await anyone.logIn('alice', 'anything', inProject('lab')), 201)
    const path = `/v3/users/${body.token.user.id}/application_credentials`
    const made = await anyone.post(
      path,
      { application_credential: { name: 'back door' } },
      { token: String(headers['x-subject-token']) },
    )
    const { id, secret } = expectStatus(made, 201).body.application_credential
    anyone.close()
    await open.stop()
    const closed = new Identity((await start(database)).origin)
    const identity = { methods: ['application_credential'], application_credential: { id, secret } }
    expectStatus(await closed.post('/v3/auth/tokens', { auth: { identity } }), 401)
    closed.close()
  })

  test('the secret is told once', async () => {
    const { token, path } = await own('bob')
    const { body } = expectStatus(await create(path, token, { name: 'once', description: 'd' }), 201)
    const { id, secret } = body.application_credential
    assert.ok(secret.length >= 32)
    const listed = expectStatus(await api.get(path, { token }), 200)
    const shown = expectStatus(await api.get(`${path}/${id}`, { token }), 200)
    assert.deepEqual(
      [listed.body.application_credentials[0].name, shown.body.application_credential.name],
      ['once', 'once'],
    )
    for (const answer of [listed, shown]) assert.ok(!JSON.stringify(answer.body).includes('secret'))
  })

  test('it has the roles that it was given, and no others', async () => {
    const { token, path } = await own('alice')
    const roles = [{ name: 'reader' }]
    const { id, secret } = expectStatus(await create(path, token, { name: 'reads', roles }), 201).body
      .application_credential
    const { body } = expectStatus(await logIn({ id, secret }), 201)
    assert.deepEqual(
      body.token.roles.map((role: { name: string }) => role.name),
      ['reader'],
    )
    const bob = await own('bob')
    expectStatus(await create(bob.path, bob.token, { name: 'more', roles: [{ name: 'admin' }] }), 400)
    expectStatus(await create(path, bob.token, { name: 'foreign' }), 403)
    expectStatus(await api.get(path, { token: bob.token }), 403)
  })

  test('it can’t make others of its kind, nor become a token for more, unless it is unrestricted', async () => {
    const { token, path } = await own('alice')
    for (const unrestricted of [false, true]) {
      const name = `unrestricted ${unrestricted}`
      const { id, secret } = (await create(path, token, { name, unrestricted })).body.application_credential
      const inside = (await logIn({ id, secret })).headers['x-subject-token'] as string
      assert.equal(await api.knock(inside), 200)
      expectStatus(await create(path, inside, { name: `${name} child` }), unrestricted ? 201 : 403)
      const auth = { identity: { methods: ['token'], token: { id: inside } } }
      expectStatus(await api.post('/v3/auth/tokens', { auth }), 401)
    }
  })

  test('when it is taken back, its tokens end', async () => {
    const { token, path } = await own('bob')
    const { id, secret } = (await create(path, token, { name: 'brief' })).body.application_credential
    const inside = (await logIn({ id, secret })).headers['x-subject-token'] as string
    assert.equal(await api.knock(inside), 200)
    expectStatus(await api.del(`${path}/${id}`, { token }), 204)
    assert.equal(
      await until(
        () => api.knock(inside),
        status => status === 401,
      ),
      401,
    )
    expectStatus(await logIn({ id, secret }), 401)
    expectStatus(await api.del(`${path}/${id}`, { token }), 404)
    expectStatus(await api.get(`${path}/${id}`, { token }), 404)
  })

  test('it may have an end, which is also that of its tokens', async () => {
    const { token, path } = await own('bob')
    const expires_at = new Date(Date.now() + 60_000).toISOString().replace('Z', '')
    const { id, secret } = expectStatus(await create(path, token, { name: 'ends', expires_at }), 201).body
      .application_credential
    const { body } = expectStatus(await logIn({ id, secret }), 201)
    assert.equal(Date.parse(body.token.expires_at), Date.parse(`${expires_at}Z`))
    for (const wrong of ['yesterday', '2020-01-01T00:00:00', 7]) {
      expectStatus(await create(path, token, { name: `wrong ${wrong}`, expires_at: wrong }), 400)
    }
  })

  test('a stranger who never sends the body is told to go', async () => {
    const { path } = await own('bob')
    const answer = await rawAnswer(api.origin, {
      line: `POST /identity${path} HTTP/1.1`,
      headers: ['content-type: application/json', 'content-length: 20000'],
      body: '{',
    })
    assert.equal(answer.status, 401)
  })

  test('bad input is refused and makes nothing', async () => {
    const { token, path } = await own('carol')
    // Carol's token is for no project, so there is nothing that a credential could be for.
    expectStatus(await create(path, token, { name: 'nowhere' }), 403)
    const bob = await own('bob')
    const before = (await api.get(bob.path, { token: bob.token })).body.application_credentials.length
    for (const wrong of [
      {},
      { name: '' },
      { name: 7 },
      { name: 'x'.repeat(256) },
      { name: 'x', roles: 'admin' },
      { name: 'x', roles: [7] },
      { name: 'x', access_rules: [{}] },
      { name: 'x', description: 'x'.repeat(1_001) },
      { name: 'x\0' },
    ]) {
      expectStatus(await create(bob.path, bob.token, wrong), 400)
    }
    expectStatus(await api.post(bob.path, '{', { token: bob.token }), 400)
    assert.equal((await api.get(bob.path, { token: bob.token })).body.application_credentials.length, before)
  })
})
