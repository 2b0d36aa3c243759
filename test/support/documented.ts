// Checks every request and answer of the tests against the OpenAPI documents.
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { after } from 'node:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { APIS } from '../../src/api/documents.ts'
import { type Document, documentOf, type RouteDescription } from '../../src/api/openapi.ts'
import { canonicalUuid } from '../../src/ledger/uuid.ts'
import { undocumented } from './undocumented.ts'

type Members = Record<string, unknown>

export interface Exchange {
  method: string
  /** The full path on the server, with the query. */
  path: string
  sent: string | Buffer | undefined
  status: number
  headers: IncomingHttpHeaders
  text: string
}

// Tests that expect a request to fail would catch the error thrown below, so it is also kept and checked here.
// If files share a process, only the first gets this hook; for the others worker.ts checks.
after(() => assert.deepEqual(undocumented, []))

/** Fails if an exchange doesn't match the document. */
export function requireDocumented(exchange: Exchange): void {
  try {
    check(exchange)
  } catch (error) {
    undocumented.push(error)
    throw error
  }
}

/** The framework's own answer while the server stops, before any API gets the request. */
const ENDING = '{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}'

function check({ method, path, sent, status, headers, text }: Exchange): void {
  if (text === ENDING) return
  const bare = path.split('?', 1)[0]!
  const api = Object.keys(APIS).find(name => APIS[name]!.url !== '/' && bare.startsWith(APIS[name]!.url)) ?? 'operator'
  const found = routeOf(api, method, bare)
  const what = `${method} ${path.slice(0, 200)} → ${status}`
  if (!found) {
    const isOurs = api !== 'operator' || bare.startsWith('/holdfast/')
    assert.ok(!isOurs || status >= 400 || method === 'HEAD' || method === 'OPTIONS', `${what}: not in the document`)
    return
  }
  const isRefused = status >= 400
  assert.ok(isRefused || String(status) in found.operation.answers, `${what}: no such answer in the document`)
  const isJson = headers['content-type']?.startsWith('application/json')
  if (isJson && text !== '') requireShape(api, found, isRefused ? 'default' : status, headers, JSON.parse(text), what)
  else if (!isRefused) assert.equal(text === '', found.operation.answers[status] === null, `${what}: a body, or none`)
  if (!isRefused && sent !== undefined && sent.length > 0) requireTaken(found, sent, what)
}

const segmentsOf = (path: string) => path.split('/').filter(part => part !== '')

/** The route of a path; fixed segments win over parameters. */
function routeOf(name: string, method: string, path: string): RouteDescription | null {
  const { url, routes } = APIS[name]!
  const below = url === '/' ? path : path.slice(url.length)
  const given = segmentsOf(name === 'reservation' ? below.replace(/\.json$/, '') : below)
  // Bare metal's paths may be without the version.
  if (name === 'baremetal' && given.length > 0 && given[0] !== 'v1') given.unshift('v1')
  // Old clients put the node last.
  if (name === 'baremetal' && given[1] === 'nodes' && given[2] === 'states') given.splice(2, 0, given.pop()!)
  const fitting = routes.filter(route => {
    const parts = segmentsOf(route.path)
    return parts.length === given.length && parts.every((part, i) => part.startsWith(':') || part === given[i])
  })
  const named = (route: RouteDescription) => route.path.split(':').length
  const best = Math.min(...fitting.map(named))
  return fitting.find(route => route.method === method && named(route) === best) ?? null
}

const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false })
ajv.addFormat('uuid', text => canonicalUuid(text) !== null)

const validators = new Map<string, ValidateFunction>()

function requireShape(
  api: string,
  { method, path }: RouteDescription,
  status: number | 'default',
  headers: IncomingHttpHeaders,
  body: unknown,
  what: string,
): void {
  const document = addressOf(api, minorOf(headers))
  const template = path.replaceAll(/:(\w+)/g, '{$1}') || '/'
  const way =
    status === 'default'
      ? ['components', 'responses', 'Refusal']
      : ['paths', template, method.toLowerCase(), 'responses', String(status)]
  const pointer = [...way, 'content', 'application/json', 'schema'].map(escape).join('/')
  const key = `${document}#/${pointer}`
  const validate = validators.getOrInsertComputed(key, () => ajv.compile({ $ref: key }))
  if (validate(body)) return
  const wrong = validate.errors!.map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`
  })
  assert.fail(`${what} isn't as documented: ${wrong.join('; ')}\n${JSON.stringify(body).slice(0, 2_000)}`)
}

const escape = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))

/** The version of the answer; Infinity for APIs with only one version. */
function minorOf(headers: IncomingHttpHeaders): number {
  const said = headers['x-openstack-ironic-api-version'] ?? headers['openstack-api-version']
  const [, minor] = /^(?:(?:placement )?1|compute 2)\.(\d+)$/.exec(String(said)) ?? []
  return minor === undefined ? Infinity : Number(minor)
}

const known = new Set<string>()

/** Adds the document of a version to the validator, and returns its address. */
function addressOf(api: string, minor: number): string {
  const address = `https://holdfast/${api}/${minor}`
  if (!known.has(address)) ajv.addSchema(closed(documentAt(documentOf(APIS[api]!), minor)) as object, address)
  known.add(address)
  return address
}

const isNewer = (schema: unknown, minor: number) => {
  const since = (schema as Members | null)?.['x-holdfast-since']
  return typeof since === 'string' && Number(since.split('.')[1]) > minor
}

/** Removes members that later versions added. A schema that changed later allows anything. */
function documentAt(document: Document, minor: number): unknown {
  const at = (value: unknown, isMembers: boolean): unknown => {
    if (Array.isArray(value)) return value.map(one => at(one, false))
    if (typeof value !== 'object' || value === null) return value
    if (!isMembers && isNewer(value, minor) && !('operationId' in value)) return {}
    const entries = Object.entries(value).filter(([, one]) => !isMembers || !isNewer(one, minor))
    const kept = Object.fromEntries(entries.map(([name, one]) => [name, at(one, name === 'properties' && !isMembers)]))
    const { required, properties } = kept as { required?: unknown; properties?: Members }
    if (isMembers || !Array.isArray(required) || !properties) return kept
    return { ...kept, required: required.filter(name => name in properties) }
  }
  return at(document, false)
}

/** Forbids members that aren't in the document, although clients should tolerate them. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one)]))
  const isOpen = inner['type'] === 'object' && 'properties' in inner && !('additionalProperties' in inner)
  return isOpen ? { ...inner, additionalProperties: false } : inner
}

const forms = new WeakMap<object, ValidateFunction>()
const formOf = (schema: object) => forms.get(schema) ?? forms.set(schema, ajv.compile(schema)).get(schema)!

/** An accepted body must match one of the forms that the handler declares. */
function requireTaken({ operation: { body = [] } }: RouteDescription, sent: string | Buffer, what: string): void {
  const declared = body.filter(form => form !== null)
  if (declared.length === 0) return
  const given: unknown = JSON.parse(sent.toString())
  const isTaken = declared.some(({ schema }) => formOf(schema)(given))
  assert.ok(
    isTaken,
    `${what}: accepted, though no form of its body allows it: ${JSON.stringify(given).slice(0, 1_000)}`,
  )
}
