// Every route × every caller × every kind of owner: what is allowed is exactly what the tables say, what is not there for
// a caller can't be told from what is missing, and a refusal changes nothing. PostgreSQL gets one route of each kind: policy
// is decided above the store, so what is left to try there is how things and their owners are found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIS } from '../../src/api/documents.ts'
import { propertiesOf } from '../../src/api/operation.ts'
import { type Call, CALLS, IDENTITY_CALLS, MORE_CALLS } from './routes.ts'
import { as } from '../support/callers.ts'
import type { Options } from '../support/client.ts'
import { oneOfEach } from '../support/rounds.ts'
import {
  CALLERS,
  eachSetting,
  expected,
  MINE,
  missingId,
  OWNERS,
  ownersOf,
  policy,
  type Setting,
  THEIRS,
  told,
  type Whose,
} from './setting.ts'

void test('every route has an action, and every route that takes a body says how it is called', () => {
  const all = [...CALLS, ...IDENTITY_CALLS]
  const open = all.filter(({ action }) => action === null).map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(open, [
    'GET /placement/',
    'GET /baremetal/v1',
    'GET /baremetal/v1/lookup',
    'POST /baremetal/v1/heartbeat/:ident',
    'GET /holdfast/v1/calendar/:token.ics',
    'GET /holdfast/v1/media/:node/:signature/boot.iso',
    'GET /holdfast/v1/media/:node/:signature/configdrive.iso',
    'GET /holdfast/v1/openapi',
    'GET /holdfast/v1/openapi/:api',
    'POST /identity/v3/auth/tokens',
  ])
  for (const { method, path, action, body } of all) {
    assert.notEqual(action, undefined, `${method} ${path} has no action`)
    if (action !== null) assert.ok(action in policy.table, `${action} is in no table`)
    const takesBody = method !== 'GET' && method !== 'DELETE'
    assert.ok(!takesBody || body, `${method} ${path}: test/policy/routes.ts doesn't say what to send`)
  }
})

/** What a browser says of a page that isn't ours, or of one whose name was made to point here. */
const FOREIGN = [
  { host: 'evil.example' },
  { origin: 'http://evil.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
]

async function check(setting: Setting, call: Call): Promise<void> {
  const cases = Object.entries(CALLERS).flatMap(([name, { who, options }]) =>
    Object.entries(ownersOf(call.kind)).map(([owners, whose]) => ({
      name: `${name}, ${call.kind ?? 'nothing'} ${owners}`,
      options,
      whose,
      expected: expected(call, who, whose),
    })),
  )
  const ids = new Map<Whose, string>()
  for (const { whose } of cases) {
    if (call.kind !== null && !ids.has(whose)) ids.set(whose, await setting.make(call.kind, whose))
  }
  const idOf = (whose: Whose) => ids.get(whose) ?? missingId()
  await setting.quiet()
  const hash = await setting.hash()
  assert.equal((await setting.send(call, idOf(cases[0]!.whose), { token: null })).status, 401)
  const { token, headers } = as('admin,service', MINE)
  for (const foreign of FOREIGN) {
    const answer = await setting.send(call, idOf(cases[0]!.whose), {
      token: token!,
      headers: { ...headers, ...foreign },
    })
    assert.equal(answer.status, 403, JSON.stringify(foreign))
    assert.match(JSON.stringify(answer.body), /other sites|not known as/)
  }
  for (const { name, options, whose, expected } of cases.filter(({ expected }) => expected !== 'allowed')) {
    const id = idOf(whose)
    const answer = await setting.send(call, id, options)
    if (expected === 'forbidden') {
      assert.equal(answer.status, 403, `${name}: ${told(answer, id)}`)
    } else {
      const missing = missingId()
      assert.equal(told(answer, id), told(await setting.send(call, missing, options), missing), name)
      assert.ok([400, 404].includes(answer.status), `${name}: ${answer.status}`)
    }
  }
  assert.equal(await setting.hash(), hash, 'a refusal has changed something')
  for (const { name, options, whose } of cases.filter(({ expected }) => expected === 'allowed')) {
    const isReading = call.method === 'GET'
    const id = call.kind !== null && !isReading ? await setting.make(call.kind, whose) : idOf(whose)
    const answer = await setting.send(call, id, options)
    assert.ok(![401, 403].includes(answer.status) && answer.status < 500, `${name}: ${told(answer, id)}`)
    if (call.kind === null) continue
    const missing = missingId()
    assert.notEqual(
      told(answer, id),
      told(await setting.send(call, missing, options), missing),
      `${name}: as if missing`,
    )
  }
  await setting.quiet()
}

/** Placement's, of which all values count, or the first. */
const MAY_REPEAT = new Set(['required', 'member_of', 'same_subtree', 'limit', 'group_policy'])

const isRepeatable = (path: string) => /(allocation_candidates|resource_providers)$/.test(path)

/** Each route with parameters that mean one thing, and their names. */
const SINGLE = Object.entries(APIS)
  .filter(([api]) => api !== 'identity')
  .flatMap(([api, { routes, url }]) =>
    routes.map(({ method, path, operation: { query = [] } }) => {
      const names = new Set(query.flatMap(({ schema }) => Object.keys(propertiesOf(schema))))
      const single = [...names].filter(name => !(isRepeatable(path) && MAY_REPEAT.has(name)))
      return { api: api as Call['api'], method, path: `${url === '/' ? '' : url}${path}`, names: single }
    }),
  )
  .filter(({ names }) => names.length > 0)

const ALL = [...CALLS.filter(({ action }) => action !== null), ...MORE_CALLS]

/** Routes are of one kind when they are in one API, read or write things of one kind, and have the same rule. */
const kindOf = ({ api, method, kind, action }: Call) => [api, method === 'GET', kind, policy.table[action!]].join(', ')

eachSetting('the matrix', (setting, database) => {
  const [single, calls] =
    database === 'sqlite' ? [SINGLE, ALL] : [oneOfEach(SINGLE, ({ api }) => api), oneOfEach(ALL, kindOf)]

  for (const { api, method, path, names } of single) {
    void test(`${method} ${path} takes ${names.join(', ')} once, whoever asks`, async () => {
      const call = CALLS.find(call => call.method === method && call.path === path)
      const id = call?.kind ? await setting.make(call.kind, OWNERS['of its project']) : missingId()
      for (const name of names) {
        const query = `?${name}=${MINE}&${name}=${THEIRS}`
        const ask = (options: Options) =>
          setting.send({ api, method, path: path + query, action: null, kind: null }, id, options)
        for (const { options } of Object.values(CALLERS)) {
          const { status } = await ask(options)
          assert.ok([400, 403, 404].includes(status), `${name}: ${status}`)
        }
        const answer = await ask(as('admin,service', MINE))
        // Chassis and hosts are none of the kinds that are made here.
        if (!call?.kind && path.includes(':') && answer.status === 404) continue
        assert.equal(answer.status, 400, told(answer, id))
        assert.match(JSON.stringify(answer.body), new RegExp(`${name}.* may be specified only once`))
      }
    })
  }

  for (const call of calls) {
    const { method, path, action, body } = call
    const what = MORE_CALLS.includes(call) && body ? ` with ${JSON.stringify(body('ID'))}` : ''
    void test(`${method} ${path}${what} is ${action}`, () => check(setting, call))
  }

  void test('the ledger is whole after all of this', () => setting.things.metal.fsck())
})

eachSetting(
  'without --test-clock',
  ({ client }) => {
    void test('there is no clock to be moved, for nobody', async () => {
      for (const [method, path] of [
        ['GET', '/holdfast/v1/clock'],
        ['POST', '/holdfast/v1/clock'],
      ] as const) {
        for (const [name, { options }] of Object.entries(CALLERS)) {
          assert.equal((await client.request(method, path, { advance: 60 }, options)).status, 404, name)
        }
        assert.equal((await client.request(method, path, { advance: 60 }, { token: null })).status, 401)
      }
    })
  },
  { testClock: false },
)
