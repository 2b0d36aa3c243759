// What clients may send by mistake or on purpose: refused in Keystone's form, without quoting it, and never a 5xx.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachIdentity, passwordAuth } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'

const identity = (value: unknown, scope?: unknown) => ({
  auth: { identity: value, ...(scope !== undefined && { scope }) },
})
const byPassword = (user: unknown) => identity({ methods: ['password'], password: { user } })

const BODIES: unknown[] = [
  '',
  '{',
  '"hunter2',
  'null',
  '7',
  '[]',
  '{}',
  { auth: null },
  { auth: 'hunter2' },
  identity(null),
  identity({}),
  identity({ methods: 'password' }),
  identity({ methods: [] }),
  identity({ methods: ['password', 'token'] }),
  identity({ methods: ['password'] }),
  identity({ methods: ['password'], password: 'hunter2' }),
  byPassword(null),
  byPassword({}),
  byPassword({ name: 'alice' }),
  byPassword({ name: 'alice', password: null }),
  byPassword({ name: 'alice', password: { hunter2: 'hunter2' } }),
  byPassword({ name: ['alice'], password: 'hunter2' }),
  byPassword({ name: 'x'.repeat(256), password: 'hunter2' }),
  byPassword({ name: 'alice', password: 'hunter2'.repeat(1_000) }),
  byPassword({ name: 'alice', password: 'hunter2\0' }),
  byPassword({ name: 'alice', password: 'hunter2', domain: 'Default' }),
  byPassword({ name: 'alice', password: 'hunter2', domain: {} }),
  identity({ methods: ['token'] }),
  identity({ methods: ['token'], token: { id: 7 } }),
  identity({ methods: ['application_credential'], application_credential: {} }),
  identity({ methods: ['application_credential'], application_credential: { id: 'x' } }),
  identity({ methods: ['application_credential'], application_credential: { name: 'x', secret: 'hunter2' } }),
  ...[
    'lab',
    7,
    null,
    {},
    { pony: {} },
    { project: {} },
    { project: 'lab' },
    { project: { name: 7 } },
    { system: {} },
  ].map(scope => passwordAuth('alice', undefined, scope)),
  Buffer.from([0xff, 0xfe]),
  '['.repeat(30_000),
  `{"auth":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
]

eachIdentity('bad input', ({ api }) => {
  test('a body that asks for no token is 400, and nothing of it comes back', async () => {
    for (const body of BODIES) {
      const answer = expectStatus(await api.post('/v3/auth/tokens', body), 400)
      assert.deepEqual(Object.keys(answer.body.error), ['code', 'title', 'message'])
      assert.doesNotMatch(JSON.stringify(answer.body), /hunter2/)
      assert.equal(answer.headers['x-subject-token'], undefined)
    }
  })

  test('a body or a path that is too long is refused as such', async () => {
    expectStatus(await api.post('/v3/auth/tokens', 'x'.repeat(70_000)), 413)
    expectStatus(await api.get(`/v3/users?name=${'x'.repeat(33_000)}`), 414)
  })

  test('methods and paths that there are not', async () => {
    const { headers } = expectStatus(await api.put('/v3/auth/tokens', {}), 405)
    assert.equal(headers['allow'], 'GET, POST, DELETE')
    for (const path of ['/v2.0/tokens', '/v3/nothing', '/v3/users/a/b', '/nothing']) {
      assert.equal(expectStatus(await api.get(path), 404).body.error.title, 'Not Found')
    }
    const token = await api.token('alice')
    for (const path of ['/v3/users/%00', '/v3/users/%F0%9F%90%B4', '/v3/projects/..%2f']) {
      expectStatus(await api.get(path, { token }), 404)
    }
  })

  test('tokens that are none', async () => {
    const token = await api.token('alice')
    const [body] = token.split('.')
    for (const wrong of [
      '',
      '.',
      'x.y',
      `${body}.`,
      `${body}.${'A'.repeat(43)}`,
      'x'.repeat(20_000),
      '\xe9',
      `${token} `,
    ]) {
      const expected = wrong.trim() === token ? 200 : 401
      assert.equal(await api.knock(wrong), expected, wrong.slice(0, 50))
      expectStatus(await api.get('/v3/users', { token: wrong }), expected)
    }
  })
})
