// A refusal says what would be right: each member, parameter and path is sent wrong in every way that its document
// knows. The answer names the place and what belongs there, and nothing has changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIS } from '../../src/api/documents.ts'
import type { RouteDescription } from '../../src/api/openapi.ts'
import { CALLS, IDENTITY_CALLS } from '../policy/routes.ts'
import { eachSetting, type Setting } from '../policy/setting.ts'
import { as } from '../support/callers.ts'
import type { Answer, Client, Options } from '../support/client.ts'
import { eachIdentity, inProject, passwordAuth, type Setting as IdentitySetting } from '../support/identity.ts'
import { allows } from './from-schema.ts'
import { idsIn, VERSIONS } from './ids.ts'

interface Schema {
  type?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: unknown
}

/** What is said beside the name of the place. */
const RIGHT = new RegExp(
  [
    /expecting to find [\w ]+, an? |longer than/,
    /expected|must (be|have|not)|one of|at most|at least|too (long|short)|less than|greater than|such as|mandatory/,
    /required|needs|missing|is not (a|an|of type|one of)\b|does not match|there (are|is)|only|no member|like/,
    /is (true or false|uefi or bios|a list|an object|a string)|whole number|between|acceptable|use one of|has \d+ to/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)
const BARE = /^Invalid (input|value) for (field\/attribute )?\S+\.?$/

/** One of each kind; those that the schema allows are left out. */
const VALUES: readonly unknown[] = [
  -7.5,
  1e15,
  '',
  'no such \u0001 !',
  'x'.repeat(5_000),
  true,
  ['?', ['?']],
  { '?': 1 },
]
const TEXTS = ['no such !', '-7.5', 'x'.repeat(3_000)]

/** What is sent wrong: its name, and the body or query. */
interface Mistake {
  name: string
  body?: unknown
  query?: string
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The one of the alternatives that the value is, or the first that has members. */
function chosen(schema: Schema, value: unknown): Schema {
  if (!schema.anyOf) return schema
  const found = schema.anyOf.find(one => allows(one)(value)) ?? schema.anyOf.find(one => one.type !== 'null')!
  return chosen(found, value)
}

/** All that can be wrong in a body that is right. */
function* mistakes(given: Schema, right: unknown): Generator<{ name: string; value: unknown }> {
  const schema = chosen(given, right)
  if (Array.isArray(right) && schema.items && right.length > 0) {
    for (const { name, value } of mistakes(schema.items, right[0])) yield { name, value: [value, ...right.slice(1)] }
    return
  }
  if (!isObject(right) || !schema.properties) return
  for (const [name, member] of Object.entries(schema.properties)) {
    const isAllowed = allows(member)
    for (const wrong of VALUES) if (!isAllowed(wrong)) yield { name, value: { ...right, [name]: wrong } }
    if (schema.required?.includes(name)) {
      const { [name]: _, ...rest } = right
      yield { name, value: rest }
    }
    if (right[name] === undefined) continue
    for (const inner of mistakes(member, right[name]))
      yield { name: inner.name, value: { ...right, [name]: inner.value } }
  }
  if (schema.additionalProperties === false) yield { name: 'x-unknown', value: { ...right, 'x-unknown': 1 } }
}

function* mistakesOf({ operation }: RouteDescription, right: unknown): Generator<Mistake> {
  const form = operation.body?.[0]
  if (form) for (const { name, value } of mistakes(form.schema, right)) yield { name, body: value }
  const { properties = {}, required = [] } = (operation.query?.[0]?.schema ?? {}) as Schema
  for (const [name, schema] of Object.entries(properties)) {
    const isAllowed = allows(schema)
    const others = required.filter(other => other !== name).map(other => `${other}=x`)
    for (const text of TEXTS) {
      if (isAllowed(text) || isAllowed(Number(text))) continue
      yield { name, query: [...others, `${name}=${encodeURIComponent(text)}`].join('&') }
    }
  }
}

const NO_NAME = 'no such !'
/**
 * Names that we don't know, or that anything may have; paths that say nothing to whoever has no secret; and lights, for
 * which a machine is asked, and that is written down.
 */
const ANY_NAME =
  /:(component|project|class|tag|token|node|signature|api)\b|compute.*:action|schemas\/:name|allocations\/:consumer|\/users\/:user\//

/** The words of a refusal in any of the formats; Ironic's is JSON in JSON. */
const wordsOf = ({ body }: Answer) => JSON.stringify(body).replaceAll('\\', '')

const CONSUMER = { project_id: 'p', user_id: 'u', consumer_generation: null, consumer_type: 'INSTANCE' }
const inventory = { resource_provider_generation: 0, inventories: {} }

/** Bodies that are right, where those of the calls are the shortest that a server would refuse for another reason. */
const BODIES: Readonly<Record<string, (id: string) => unknown>> = {
  'PUT /placement/allocations/:consumer_uuid': id => ({
    ...CONSUMER,
    allocations: { [id]: { resources: { VCPU: 1 } } },
  }),
  'POST /placement/reshaper': id => ({ inventories: { [id]: inventory }, allocations: {} }),
  'PUT /placement/resource_providers/:uuid/inventories/:resource_class': () => ({
    resource_provider_generation: 1,
    total: 1,
  }),
  'POST /identity/v3/auth/tokens': () => passwordAuth('alice', 'alice-pw', inProject('lab')),
}

type Calls = readonly { method: string; path: string; body?: (id: string) => unknown }[]

interface Asking {
  client: Client
  api: string
  calls: Calls
  pathOf: (path: string) => string
  id: string
  who: Options
}

function routesOf({ api, calls, id }: Asking) {
  const { url, routes } = APIS[api]!
  return routes.map(route => {
    const path = `${url === '/' ? '' : url}${route.path}`
    const call = calls.find(one => one.method === route.method && one.path === path)
    return { route, path, right: (BODIES[`${route.method} ${path}`] ?? call?.body)?.(id) }
  })
}

const askedOf = ({ client, who }: Asking, method: string, path: string, body: unknown) =>
  client.request(method, path, body, { version: null, ...who, headers: { ...VERSIONS, ...who.headers } })

/** Sends every mistake to every route of an API; returns what is not said. */
async function unsaid(asking: Asking) {
  const { pathOf } = asking
  const bad: string[] = []
  let count = 0
  for (const { route, path, right } of routesOf(asking)) {
    for (const { name, body, query } of mistakesOf(route, right)) {
      const to = `${pathOf(path)}${query === undefined ? '' : `?${query}`}`
      const sent = body ?? (route.method === 'GET' ? undefined : right)
      const answer = await askedOf(asking, route.method, to, sent)
      count++
      const words = wordsOf(answer)
      const isSaid = answer.status >= 400 && answer.status < 500 && words.includes(name) && RIGHT.test(words)
      if (!isSaid || BARE.test(words)) {
        bad.push(
          `${route.method} ${path} ${name}: ${JSON.stringify(body ?? query).slice(0, 120)}: ${answer.status} ${words.slice(0, 300)}`,
        )
      }
    }
  }
  return { bad, count }
}

/** Puts a name that nothing can have into every path; returns what is not said. */
async function unnamed(asking: Asking) {
  const bad: string[] = []
  for (const { route, path, right } of routesOf(asking)) {
    for (const name of path.match(/:\w+/g) ?? []) {
      if (ANY_NAME.test(path)) continue
      const to = asking.pathOf(path.replace(name, 'NO_NAME')).replace('NO_NAME', encodeURIComponent(NO_NAME))
      const answer = await askedOf(asking, route.method, to, right)
      const words = wordsOf(answer)
      const isSaid = answer.status >= 400 && answer.status < 500 && (words.includes(NO_NAME) || RIGHT.test(words))
      if (!isSaid) bad.push(`${route.method} ${path} ${name}: ${answer.status} ${words.slice(0, 300)}`)
    }
  }
  return bad
}

// Refusals are made before a database is asked.
const KINDS = ['sqlite'] as const

const refusing = (setting: Setting) => {
  void test('name the place and what belongs there, and change nothing', async () => {
    const { pathOf, node } = await idsIn(setting)
    await setting.quiet()
    const before = await setting.hash()
    let total = 0
    const all: string[] = []
    for (const api of Object.keys(APIS).filter(api => api !== 'identity')) {
      const asking = { client: setting.client, api, calls: CALLS, pathOf, id: node, who: as('admin,service', 'mine') }
      const { bad, count } = await unsaid(asking)
      all.push(...bad, ...(await unnamed(asking)))
      total += count
    }
    assert.deepEqual(all, [], `${all.length} of ${total}`)
    assert.ok(total > 1_000, `only ${total}`)
    await setting.quiet()
    assert.deepEqual(await setting.hash(), before)
  })
}
eachSetting('refusals', refusing, {}, KINDS)

const refusingIdentity = ({ api }: IdentitySetting) => {
  void test('name the place and what belongs there', async () => {
    const { body, headers } = await api.logIn('alice', undefined, inProject('lab'))
    const token = headers['x-subject-token'] as string
    const ids: Record<string, string> = { ':user': body.token.user.id, ':id': body.token.project.id }
    const pathOf = (path: string) =>
      path
        .replace('/identity', '')
        .replaceAll(/:\w+/g, name => (path.includes('/users/:id') ? ids[':user']! : (ids[name] ?? 'x')))
    const asking = { client: api, api: 'identity', calls: IDENTITY_CALLS, pathOf, id: 'x', who: { token } }
    assert.deepEqual((await unsaid(asking)).bad, [])
    assert.deepEqual(await unnamed(asking), [])
  })
}
eachIdentity('refusals of identity', refusingIdentity, {}, KINDS)
