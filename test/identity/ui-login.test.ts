// How the dashboard logs in: one address for users of our own and for Keystone's, which the page could not reach.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { limits } from '../../src/shared/limits.ts'
import { VERSION } from '../../src/shared/version.ts'
import { inProject, passwordAuth, usersText } from '../support/identity.ts'
import { type Server, startServer } from '../support/server.ts'
import { FakeKeystone } from './fake-keystone.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-ui-login-'))
const servers: Server[] = []
const keystone = new FakeKeystone()
const start = async (settings: Partial<Config>) => {
  const server = await startServer('sqlite::memory:', { placementPolicy: 'secure', ...settings })
  servers.push(server)
  return server.origin
}
before(async () => {
  writeFileSync(join(folder, 'users.yaml'), await usersText())
  await keystone.start()
})
after(async () => {
  for (const server of servers) await server.stop()
  await keystone.stop()
  rmSync(folder, { recursive: true })
})

const TOKENS = '/ui/identity/v3/auth/tokens'
const PROJECTS = '/ui/identity/v3/auth/projects'

interface Told {
  name: string
  version: string
  identity: string
  token: { project?: { name: string }; user: { name: string } }
  projects: { name: string }[]
  error: { code: number; message: string }
}

const client = (origin: () => string) => {
  const ask = async (method: string, path: string, token?: string, body?: unknown) => {
    const answer = await fetch(origin() + path, {
      method,
      headers: { 'content-type': 'application/json', ...(token !== undefined && { 'x-auth-token': token }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: (text === '' ? {} : JSON.parse(text)) as Told }
  }
  const logIn = (body: unknown) => ask('POST', TOKENS, undefined, body)
  const knock = async (token: string) => (await ask('GET', '/baremetal/v1/nodes', token)).status
  return { ask, logIn, knock }
}

describe('the dashboard’s way in, for users of our own', () => {
  let origin = ''
  const { ask, logIn, knock } = client(() => origin)
  before(async () => {
    origin = await start({ auth: 'password', users: join(folder, 'users.yaml') })
  })

  test('it is told who keeps the users, without a token', async () => {
    const { body, headers } = await ask('GET', '/ui/config.json')
    assert.deepEqual(body, { name: 'holdfast', version: VERSION, identity: 'password' })
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.match(headers.get('content-security-policy')!, /frame-ancestors 'none'/)
  })

  test('a password opens a project, and logging out ends the token at once', async () => {
    const { status, headers, body } = await logIn(passwordAuth('alice', undefined, inProject('office')))
    assert.equal(status, 201)
    assert.equal(body.token.project!.name, 'office')
    const token = headers.get('x-subject-token')!
    assert.equal(await knock(token), 200)
    assert.equal((await ask('DELETE', TOKENS, token)).status, 204)
    assert.deepEqual([await knock(token), (await ask('DELETE', TOKENS, token)).status], [401, 401])
  })

  test('a token without a project tells which projects there are, and is changed for one of them', async () => {
    const unscoped = (await logIn(passwordAuth('alice', undefined, 'unscoped'))).headers.get('x-subject-token')!
    const { body } = await ask('GET', PROJECTS, unscoped)
    assert.deepEqual(
      body.projects.map(({ name }) => name),
      ['lab', 'office'],
    )
    const identity = { methods: ['token'], token: { id: unscoped } }
    const scoped = await logIn({ auth: { identity, scope: inProject('lab') } })
    assert.equal(scoped.body.token.project!.name, 'lab')
  })

  test('what is wrong is refused in one form, and guessing ends', async () => {
    for (const body of ['', '{', '[]', '{}', { auth: {} }, { auth: { identity: { methods: [] } } }]) {
      const { status, body: said } = await logIn(body)
      assert.deepEqual([status, said.error.code], [400, 400], JSON.stringify(body))
    }
    assert.equal((await logIn(`{"auth": "${'x'.repeat(limits.strangersBodyBytesMax)}"}`)).status, 413)
    assert.equal((await ask('GET', PROJECTS)).status, 401)
    assert.equal((await ask('PUT', TOKENS)).status, 405)
    const guesses: number[] = []
    for (let i = 0; i <= limits.attemptsPerUserMax; i++) guesses.push((await logIn(passwordAuth('bob', 'x'))).status)
    assert.deepEqual([guesses[0], guesses.at(-1)], [401, 429])
  })
})

describe('the dashboard’s way in, for users of Keystone', () => {
  let origin = ''
  const { ask, logIn, knock } = client(() => origin)
  before(async () => {
    const keystoneUrl = `${keystone.url}/v3`
    origin = await start({ auth: 'keystone', keystoneUrl, keystonePassword: keystone.password })
    keystone.passwords.set('ann', 'right')
  })

  test('Keystone gets the login as it is, and its token opens what its roles open', async () => {
    assert.equal((await ask('GET', '/ui/config.json')).body.identity, 'keystone')
    const auth = passwordAuth('ann', 'right', inProject('lab'))
    const { status, headers, body } = await logIn({ ...auth, more: 'is left out' })
    assert.deepEqual([status, body.token.user.name], [201, 'ann'])
    assert.deepEqual(keystone.entered.at(-1), auth)
    const token = headers.get('x-subject-token')!
    assert.equal(await knock(token), 200)
    assert.deepEqual((await ask('GET', PROJECTS, token)).body.projects, [{ id: 'id-of-lab', name: 'lab' }])
    assert.equal((await ask('DELETE', TOKENS, token)).status, 204)
    assert.equal(keystone.tokens.has(token), false)
    assert.equal(await knock(token), 401, 'it is not believed any longer')
  })

  test('only logins are sent on, and guessing ends before Keystone hears of it', async () => {
    assert.equal((await logIn({ auth: { identity: { methods: ['oauth1'] } } })).status, 401)
    assert.equal((await logIn('{')).status, 400)
    assert.equal((await ask('GET', TOKENS)).status, 405)
    const before = keystone.entered.length
    for (let i = 0; i < limits.attemptsPerUserMax; i++) {
      assert.equal((await logIn(passwordAuth('ann', 'wrong'))).status, 401)
    }
    const { status, headers } = await logIn(passwordAuth('ann', 'wrong'))
    assert.equal(status, 429)
    assert.ok(Number(headers.get('retry-after')) > 0)
    assert.equal(keystone.entered.length - before, limits.attemptsPerUserMax)
  })

  test('a Keystone that can’t answer is told as that, and counts as no guess', async () => {
    keystone.passwords.set('ben', 'right')
    for (let i = 0; i <= limits.attemptsPerUserMax; i++) {
      keystone.broken = 503
      assert.equal((await logIn(passwordAuth('ben', 'right'))).status, 503)
    }
    keystone.broken = null
    assert.equal((await logIn(passwordAuth('ben', 'right'))).status, 201)
  })
})

describe('the dashboard’s way in, where nobody is asked', () => {
  for (const auth of ['none', 'noauth2'] as const) {
    test(`with --auth ${auth}`, async () => {
      const origin = await start({ auth })
      const { ask, logIn } = client(() => origin)
      assert.equal((await ask('GET', '/ui/config.json')).body.identity, auth)
      assert.equal((await logIn(passwordAuth('anyone', 'x'))).status, auth === 'none' ? 201 : 404)
      assert.equal((await ask('DELETE', TOKENS)).status, auth === 'none' ? 204 : 401)
    })
  }
})
