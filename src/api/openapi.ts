// Generates OpenAPI 3.1 documents from the operations of the handlers. Pure: tables in, a document out.
import type { TSchema } from 'typebox'
import { type Form, type Operation, propertiesOf } from './operation.ts'
import { from } from './shapes.ts'

type Json = { [name: string]: Json } | Json[] | string | number | boolean | null
type Members = Record<string, Json>

export interface RouteDescription {
  method: string
  /** Below the server's URL, with `:name` for parameters. */
  path: string
  /** The handler's name. */
  id: string
  operation: Operation
  /** The permission that it needs; null for none. */
  policy: { action: string; rule: string } | null
  /** Needs no token. */
  isOpen?: boolean
  /** The version that brought it. */
  since?: string | undefined
}

export interface ApiDescription {
  title: string
  /** The newest version, which the document is about. */
  version: string
  description: string
  /** The path of the API, without a host. */
  url: string
  /** The header that asks for a version, if there are several. */
  versionHeader?: { name: string; example: string }
  /** The shape of every refusal. */
  refusal: TSchema
  routes: readonly RouteDescription[]
}

export interface Document {
  openapi: string
  info: Members
  servers: Json
  security: Json
  tags: Json
  paths: Record<string, Record<string, Members>>
  components: { schemas: Members } & Members
}

const VERSION_PARAMETER = { $ref: '#/components/parameters/Version' }
const REFUSAL = { $ref: '#/components/responses/Refusal' }

export function documentOf(api: ApiDescription): Document {
  const { title, version, description, url, versionHeader, routes } = api
  const schemas = new Schemas(versionHeader !== undefined)
  const paths: Document['paths'] = {}
  const ids = new Set<string>()
  for (const route of routes) {
    const path = (paths[templateOf(route.path)] ??= {})
    if (versionHeader) path['parameters'] ??= [VERSION_PARAMETER] as unknown as Members
    path[route.method.toLowerCase()] = operationOf(route, idIn(ids, route), schemas)
  }
  const refusal = schemas.reference(api.refusal)
  const tags = [...new Set(routes.map(tagOf))].map(name => ({ name }))
  return {
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' } },
    servers: [{ url }],
    security: [{ token: [] }, { password: [] }],
    tags,
    paths,
    components: {
      schemas: schemas.all(),
      responses: { Refusal: { description: 'Refused.', content: { 'application/json': { schema: refusal } } } },
      ...(versionHeader && { parameters: { Version: versionParameter(versionHeader, version) } }),
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token' },
        password: { type: 'http', scheme: 'basic' },
      },
    },
  }
}

const versionParameter = ({ name, example }: { name: string; example: string }, version: string) => ({
  name,
  in: 'header',
  description: `The version that the request is meant in; without it the oldest. This document is about ${version}.`,
  schema: { type: 'string' },
  example,
})

const templateOf = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}') || '/'
const tagOf = ({ path }: RouteDescription) =>
  /([a-z][\w-]*)/.exec(path.replace(/^\/(v[\d.]+|holdfast\/v1)(?=\/|$)/, ''))?.[1] ?? 'versions'

/** A handler's first route gets its name as id; further routes add the last word of the path, or the method. */
function idIn(taken: Set<string>, { id, operation, method, path }: RouteDescription): string {
  const name = operation.id ?? id
  const last = /([a-z]+)[^a-z]*$/.exec(path)?.[1] ?? ''
  const found = [name, name + capital(last), name + capital(method.toLowerCase())].find(one => !taken.has(one))
  if (name === '' || found === undefined) throw new Error(`${method} ${path} needs an id of its own`)
  taken.add(found)
  return found
}
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

function operationOf(route: RouteDescription, operationId: string, schemas: Schemas): Members {
  const { operation, policy, isOpen, since } = route
  const notes = [operation.description, since === undefined ? undefined : `New in ${since}.`].filter(Boolean)
  const parameters = [...pathParameters(route.path), ...queryParameters(operation.query ?? [], schemas)]
  const body = operation.body?.[0] ? newestOf(operation.body.filter(form => form !== null)) : null
  return {
    operationId,
    tags: [tagOf(route)],
    summary: operation.summary,
    ...(notes.length > 0 && { description: notes.join(' ') }),
    ...(since !== undefined && { 'x-holdfast-since': since }),
    ...(policy && { 'x-holdfast-policy': policy }),
    ...(isOpen && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: !operation.bodyIsOptional, content: contentOf(schemas.reference(body)) },
    }),
    responses: { ...successes(operation, schemas), default: REFUSAL },
  }
}

const pathParameters = (path: string): Json[] =>
  Array.from(path.matchAll(/:(\w+)/g), ([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

/** The newest form, with the version of each member that older forms lack. */
function newestOf([newest, ...older]: readonly Form[]): TSchema | null {
  if (!newest) return null
  const sinceOf = (name: string) => {
    let since = newest.since
    for (const form of older) {
      if (!Object.hasOwn(propertiesOf(form.schema), name)) return since
      since = form.since
    }
    return since
  }
  const members = Object.entries(propertiesOf(newest.schema)).map(([name, schema]) => {
    const since = sinceOf(name)
    return [name, since === undefined ? schema : from(since, schema)]
  })
  return members.length === 0 ? newest.schema : { ...newest.schema, properties: Object.fromEntries(members) as object }
}

function queryParameters(forms: readonly Form[], schemas: Schemas): Json[] {
  const form = newestOf(forms)
  if (!form) return []
  const { required = [], patternProperties } = form as {
    required?: string[]
    patternProperties?: Record<string, TSchema>
  }
  const plain = Object.entries(propertiesOf(form)).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    schema: schemas.reference(schema),
  }))
  if (!patternProperties) return plain
  const schema = schemas.reference({ type: 'object', patternProperties })
  const suffixed = {
    name: 'suffixed',
    in: 'query',
    description: 'The same with a suffix.',
    style: 'form',
    explode: true,
  }
  return [...plain, { ...suffixed, schema }]
}

const WORDS: Record<number, string> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Accepted: it is under way.',
  204: 'Done.',
  300: 'The versions that there are.',
}

const successes = ({ answers, otherTypes = {} }: Operation, schemas: Schemas): Members =>
  Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => {
      const description = WORDS[Number(status)] ?? 'Done.'
      if (schema === null) return [status, { description }]
      const others = status === '200' ? Object.entries(otherTypes) : []
      const content = {
        ...contentOf(schemas.reference(schema)),
        ...Object.fromEntries(others.map(([type, other]) => [type, { schema: schemas.reference(other) }])),
      }
      return [status, { description, content }]
    }),
  )

const contentOf = (schema: Members): Members => {
  const { contentMediaType: type } = schema
  return { [typeof type === 'string' ? type : 'application/json']: { schema } }
}

/** The named shapes, each kept once. */
class Schemas {
  readonly #all = new Map<string, Members>()
  readonly #hasVersions: boolean

  constructor(hasVersions: boolean) {
    this.#hasVersions = hasVersions
  }

  all(): Members {
    return Object.fromEntries([...this.#all].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** A schema as it is written where it is used: a reference if it has a name. */
  reference(schema: TSchema): Members {
    const { 'x-holdfast-since': since, ...rest } = JSON.parse(JSON.stringify(schema)) as Members
    const version = this.#hasVersions && typeof since === 'string' ? sinceMembers(since, rest) : {}
    const { title } = rest
    const inner = shortened(this.#within(rest))
    if (typeof title !== 'string') return { ...inner, ...version }
    const known = this.#all.get(title)
    if (known && JSON.stringify(known) !== JSON.stringify(inner)) throw new Error(`two shapes are named ${title}`)
    this.#all.set(title, inner)
    return { $ref: `#/components/schemas/${title}`, ...version }
  }

  #within(schema: Members): Members {
    return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, this.#member(name, value)]))
  }

  #member(name: string, value: Json): Json {
    if (name === 'properties' || name === 'patternProperties') {
      return Object.fromEntries(Object.entries(value as Members).map(([key, one]) => [key, this.#inner(one)]))
    }
    if (name === 'anyOf') return (value as Json[]).map(one => this.#inner(one))
    if (name === 'items' || name === 'additionalProperties') return this.#inner(value)
    return value
  }

  #inner(schema: Json): Json {
    return typeof schema === 'object' ? this.reference(schema as unknown as TSchema) : schema
  }
}

const sinceMembers = (since: string, { description }: Members): Members => ({
  description: typeof description === 'string' ? `${description} New in ${since}.` : `New in ${since}.`,
  'x-holdfast-since': since,
})

/** Writes "a plain type or null" in the short form, `type: [..., 'null']`. */
function shortened(schema: Members): Members {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [some, none] = anyOf as [Members, Members]
  const isPlain = typeof some['type'] === 'string' && !('enum' in some) && !('const' in some)
  if (!isPlain || JSON.stringify(none) !== '{"type":"null"}') return schema
  return { ...some, ...rest, type: [some['type']!, 'null'] }
}
