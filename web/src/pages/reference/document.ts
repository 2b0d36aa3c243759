// An OpenAPI document as a list of operations, with references followed.

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  description?: string
  format?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  additionalProperties?: Schema | boolean
}

export interface Parameter {
  name: string
  in: 'query' | 'path' | 'header'
  required?: boolean
  description?: string
  schema?: Schema
  /** For a version: the one that the document is about. */
  example?: string
}

interface Ref {
  $ref: string
}

interface RawOperation {
  summary?: string
  description?: string
  tags?: string[]
  security?: unknown[]
  parameters?: (Parameter | Ref)[]
  requestBody?: { content?: Record<string, { schema?: Schema }> }
  responses?: Record<string, { description?: string; content?: Record<string, { schema?: Schema }> } | Ref>
  'x-holdfast-policy'?: { action: string; rule: string }
}

export interface Document {
  info: { title: string; version: string; description?: string }
  servers?: { url: string }[]
  paths: Record<string, Record<string, unknown>>
  components?: Record<string, Record<string, unknown>>
}

export interface Operation {
  key: string
  method: string
  path: string
  tag: string
  summary: string
  description: string
  policy: { action: string; rule: string } | null
  parameters: Parameter[]
  body: Schema | null
  answers: { status: string; schema: Schema | null }[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const DEPTH_MAX = 6

export function operationsIn(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) => {
    const shared = (item['parameters'] ?? []) as (Parameter | Ref)[]
    return METHODS.filter(method => item[method] !== undefined).map(method =>
      operationOf(document, { method, path, shared, raw: item[method] as RawOperation }),
    )
  })
}

interface Found {
  method: string
  path: string
  shared: readonly (Parameter | Ref)[]
  raw: RawOperation
}

function operationOf(document: Document, { method, path, shared, raw }: Found): Operation {
  const parameters = [...shared, ...(raw.parameters ?? [])].map(one => followed<Parameter>(document, one))
  const body = Object.values(raw.requestBody?.content ?? {})[0]?.schema
  return {
    key: `${method} ${path}`,
    method: method.toUpperCase(),
    path: `${prefixOf(document)}${path}`,
    tag: raw.tags?.[0] ?? '',
    summary: raw.summary ?? '',
    description: raw.description ?? '',
    policy: raw['x-holdfast-policy'] ?? null,
    parameters,
    body: body ? followed<Schema>(document, body) : null,
    answers: Object.entries(raw.responses ?? {}).map(([status, answer]) => {
      const { content } = followed<{ content?: Record<string, { schema?: Schema }> }>(document, answer)
      const schema = Object.values(content ?? {})[0]?.schema
      return { status, schema: schema ? followed<Schema>(document, schema) : null }
    }),
  }
}

const prefixOf = ({ servers }: Document) => (servers?.[0]?.url ?? '').replace(/\/$/, '')

/** What a reference points to. */
export function followed<T extends object>(document: Document, thing: T | Ref): T {
  if (!('$ref' in thing) || typeof thing.$ref !== 'string') return thing as T
  const [, , kind = '', name = ''] = thing.$ref.split('/')
  return (document.components?.[kind]?.[decodeURIComponent(name)] ?? {}) as T
}

/** A schema in a few words: `uuid`, `one of none, power failure`, `list of string`. */
export function typeOf(document: Document, schema: Schema | undefined, depth = 0): string {
  if (!schema || depth > DEPTH_MAX) return 'anything'
  if (schema.$ref) return schema.$ref.split('/').at(-1)!
  if (schema.enum) return `one of ${schema.enum.map(String).join(', ')}`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const some = schema.anyOf ?? schema.oneOf
  if (some) return some.map(one => typeOf(document, one, depth + 1)).join(' or ')
  if (schema.type === 'array') return `list of ${typeOf(document, schema.items, depth + 1)}`
  return schema.format ?? ([schema.type].flat().join(' or ') || 'anything')
}

/** An example of what a schema takes, to begin with. */
export function exampleOf(document: Document, schema: Schema, depth = 0): unknown {
  const known = followed<Schema>(document, schema)
  if (depth > DEPTH_MAX) return null
  if (known.const !== undefined) return known.const
  if (known.enum) return known.enum[0]
  const first = (known.anyOf ?? known.oneOf)?.[0]
  if (first) return exampleOf(document, first, depth + 1)
  const type = [known.type].flat()[0]
  if (type === 'array') return known.items ? [exampleOf(document, known.items, depth + 1)] : []
  if (type === 'object' || known.properties) {
    const names = known.required ?? Object.keys(known.properties ?? {})
    const entries = names.map(name => [name, exampleOf(document, known.properties?.[name] ?? {}, depth + 1)])
    return Object.fromEntries(entries) as unknown
  }
  return { string: '', integer: 0, number: 0, boolean: false }[type ?? ''] ?? null
}

/** The path with its parameters filled in. Each stays within its own segment. */
export function addressOf(
  path: string,
  values: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
) {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(values[name] ?? '')
    // The browser would take these for steps in the path.
    return /^\.{1,2}$/.test(value) ? value.replaceAll('.', '%2E') : value
  })
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  return search === '' ? filled : `${filled}?${search}`
}
