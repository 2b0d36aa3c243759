// Shared code of the small resources: fields, pages, and bodies with known members only.
import type { TProperties, TSchema } from 'typebox'
import { applyPatches, parsePatches, type Patch } from '../../metal/json-patch.ts'
import type { Json } from '../../metal/drivers/port.ts'
import { flagOf } from '../../metal/nodes/attributes.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { INSTANT } from '../instants.ts'
import type { Form } from '../operation.ts'
import { Flag, FlagWord, from, named, oneOf, orNull, Text, Uuid } from '../shapes.ts'
import { type JsonText, jsonText } from '../../shared/json.ts'
import { readInParts } from '../../http/written.ts'
import { onePage, partsOf, type RowsById, type Sized } from '../../store/sized.ts'
import { nextLink, pageOf, pagingOf, parsePaging } from './paging.ts'
import { type Answer, flagParameter, type MetalRequest, type Parameters, parametersOf } from './request.ts'
import { since, type Word } from './versions.ts'
import { isObject } from '../../shared/is-object.ts'
import { unexpected } from '../wanted.ts'
import { Type } from '../../shared/type.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

interface Resource<Row> {
  /** Its name in lists, such as `ports`. */
  name: string
  short: readonly string[]
  sortKeys: readonly string[]
  /** What brought ?detail=, if it came with the resource. */
  detailSince?: Word
  /** The page marker is a name; other resources use a UUID. */
  isNamed?: true
  /** All fields of a row, before the client's selection. */
  show: (row: Row, request: MetalRequest) => Json
  /** The schema with all fields, for the document. */
  shape: TSchema & { title: string; properties: TProperties }
}

const DETAIL: Word = 'detailParameter'

/** A field: its schema, its value for a row, and the feature that brought it. */
type Field<Row> = readonly [shape: TSchema, show: (row: Row, request: MetalRequest) => unknown, needs?: Word]

/** A resource, with one line for each field. */
export function resourceOf<Row>(
  title: string,
  about: Omit<Resource<Row>, 'show' | 'shape'>,
  fields: Readonly<Record<string, Field<Row>>>,
): Resource<Row> {
  const lines = Object.entries(fields)
  const shapes = lines.map(([name, [shape, , needs]]) => [name, needs ? from(since(needs), shape) : shape])
  return {
    ...about,
    show: (row, request) =>
      Object.fromEntries(
        lines
          .filter(([, [, , needs]]) => !needs || request.has[needs])
          .map(([name, [, show]]) => [name, show(row, request)]),
      ),
    shape: named(title, Object.fromEntries(shapes) as TProperties),
  }
}

const fieldNames = ({ shape }: Pick<Resource<never>, 'shape'>) => Object.keys(shape.properties)

/** Comma-separated names of fields. */
export const Fields = from(since('fields'), Text)
export const FIELDS_PARAMETER = parametersOf({ fields: Fields })

/** The query parameters of every list, and further ones of this list. */
export const listParameters = (
  { sortKeys, isNamed, detailSince = DETAIL }: Pick<Resource<never>, 'sortKeys' | 'isNamed' | 'detailSince'>,
  more: Readonly<Record<string, TSchema>> = {},
): Parameters =>
  parametersOf({
    ...pagingOf(['id', ...sortKeys], isNamed),
    fields: Fields,
    detail: from(since(detailSince), Flag),
    ...more,
  })

/** The schema when the client selects fields: all are optional. */
export const inPart = (shape: Resource<never>['shape']) =>
  Type.Object(
    Object.fromEntries(Object.entries(shape.properties).map(([name, field]) => [name, Type.Optional(field)])),
    { title: `${shape.title}InPart`, description: 'The fields that were asked for.' },
  )

/** The schema of a list, with a link to the next page. */
export const listShape = (name: string, item: TSchema, more: TProperties = {}) =>
  Type.Object({ [name]: Type.Array(item), next: Type.Optional(Text), ...more })

/** One resource, with the selected fields. */
export function shownOne<Row>(resource: Resource<Row>, row: Row, request: MetalRequest): Json {
  const fields = request.parameters(FIELDS_PARAMETER).get('fields')
  const all = resource.show(row, request)
  return fields === undefined ? all : picked(all, fieldsOf(fields, fieldNames(resource), request))
}

/** What a list is about: all that match, without their documents, and how the rows of some are read. */
interface Found<Id extends number, Row extends { id: Id }> {
  all: readonly (Sized<Id> & { uuid: string })[]
  /** Null when they are whole already. */
  rowsById: RowsById<Id, Row> | null
}

/** A page of what was found. It ends early when its rows are large. */
export function shownList<Id extends number, Row extends { id: Id }>(
  resource: Resource<Row>,
  { all, rowsById }: Found<Id, Row>,
  request: MetalRequest,
  path: string,
  detailed: boolean,
): Answer {
  const given = new Map(request.query)
  const paging = parsePaging(given, ['id', ...resource.sortKeys], resource.isNamed)
  const { page: asked, more } = pageOf(all, paging)
  const { page, hasMore, bytes } = onePage(asked, paging.limit)
  const detail = given.get('detail')
  if (detail !== undefined && !request.has[resource.detailSince ?? DETAIL]) throw refuse('Unknown parameter detail.')
  const isDetail = (detail !== undefined && flagParameter('detail', detail)) || detailed
  const fields = given.get('fields')
  if (isDetail && fields !== undefined) throw refuse("Can't fetch a subset of fields with 'detail' set")
  const names = fields === undefined ? resource.short : fieldsOf(fields, fieldNames(resource), request)
  const parts =
    rowsById === null
      ? [page as unknown as Row[]]
      : partsOf(request.context.store, { keys: page, bytes, rows: null }, rowsById)
  const shown = readInParts(bytes, parts, row => {
    const fields = resource.show(row, request)
    return isDetail ? fields : picked(fields, names)
  })
  if (!more && !hasMore) return { status: 200, body: { [resource.name]: shown } }
  const next = nextLink(request, path, paging.limit, page.at(-1)!.uuid)
  return { status: 200, body: { [resource.name]: shown, next } }
}

function fieldsOf(given: string, known: readonly string[], request: MetalRequest): string[] {
  request.require('fields', 'Use of the fields parameter')
  const names = given.split(',').map(name => name.trim())
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined) throw refuse(unknownField(unknown, known))
  return [...names, 'links']
}

/** The refusal of a field that is none. */
export const unknownField = (name: string, known: Iterable<string>): string =>
  `Field(s) "${name.slice(0, 100)}" are not valid for fields: it takes ${[...known].join(', ')}.`

const picked = (all: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.filter(name => name in all).map(name => [name, all[name]]))

/** Checks a member. The schema says the same for the document. */
interface Check extends Form {
  (value: unknown): boolean
  /** What a value that holds means. */
  read(value: unknown): unknown
}
export const is = (schema: TSchema, holds: (value: unknown) => boolean, read: Check['read'] = value => value): Check =>
  Object.assign((value: unknown) => holds(value), { schema, read })

export const isText = (max = 255) =>
  is(Type.String({ maxLength: max }), value => typeof value === 'string' && value.length <= max)
/** Command lines send flags as words. */
export const isFlag = is(FlagWord, value => flagOf(value) !== null, flagOf)
export const isUuid = is(Uuid, value => typeof value === 'string' && canonicalUuid(value) !== null)
export const isDocument = is(
  Type.Object(
    {},
    { additionalProperties: true, description: `An object of at most ${limits.nodeJsonBytesMax} bytes.` },
  ),
  value => isObject(value) && JSON.stringify(value).length <= limits.nodeJsonBytesMax,
)
/** An instant, or a duration from now. Only the type is checked here; instants.ts reads the value. */
export const isTime = is(Type.Union([Text, Type.Number()], { description: `A ${INSTANT}.` }), value =>
  ['string', 'number'].includes(typeof value),
)

/** The uuid in the path. What has no name is found by it alone. */
export function uuidIn(request: MetalRequest): string {
  const uuid = canonicalUuid(request.param('uuid'))
  if (uuid !== null) return uuid
  throw problem('invalid_name_in_path', { what: 'a resource', name: request.param('uuid').slice(0, 100) })
}

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/
/** A MAC address in lower case with colons; null if the text is none. */
export const macOf = (text: string): string | null => {
  const lower = text.trim().toLowerCase().replaceAll('-', ':')
  return MAC.test(lower) ? lower : null
}
export const isMac = is(
  Type.String({
    pattern: '^\\s*[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}\\s*$',
    description: 'A MAC address such as 52:54:00:12:34:56.',
  }),
  value => typeof value === 'string' && macOf(value) !== null,
)

/** A body form with one check per member. */
export interface Members extends Form {
  checks: Readonly<Record<string, Check>>
}

interface MoreOfMembers {
  /** Members that must be given. */
  required?: readonly string[]
  /** Members that came with a later version. */
  needs?: Readonly<Record<string, Word>>
}

export function membersOf(
  title: string,
  checks: Members['checks'],
  { required = [], needs = {} }: MoreOfMembers = {},
): Members {
  const shapes = Object.entries(checks).map(([name, { schema }]) => {
    const shape = required.includes(name) ? schema : Type.Optional(orNull(schema))
    return [name, needs[name] ? Type.Optional(from(since(needs[name]), orNull(schema))) : shape] as const
  })
  return { checks, schema: Type.Object(Object.fromEntries(shapes), { title, additionalProperties: false }) }
}

/** The members of the request's body. */
export const membersIn = (request: MetalRequest, form: Members): Json => members(request.object(form), form)

/** The refusal of a member that a body doesn't have. */
export const unknownMember = (name: string, known: readonly string[]): string =>
  `Unknown attribute ${name.slice(0, 100)}: expected any of ${known.join(', ')}.`

/** Checks all members. Unknown ones are refused, and null counts as absent. */
export function members(body: Json, { checks }: Pick<Members, 'checks'>): Json {
  const found: Json = {}
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(checks, name)) throw refuse(unknownMember(name, Object.keys(checks)))
    if (value === null || value === undefined) continue
    if (!checks[name]!(value)) throw refuse(unexpected(checks[name]!.schema, name, value))
    found[name] = checks[name]!.read(value)
  }
  return found
}

/** A JSON patch. Each resource decides which members it may change. */
export const PATCH: Form = {
  schema: Type.Array(
    Type.Object(
      {
        op: oneOf('add', 'replace', 'remove'),
        path: Type.String({ pattern: '^(/[A-Za-z0-9_-]+)+$' }),
        value: Type.Optional(Type.Unknown()),
      },
      { title: 'Patch', additionalProperties: false },
    ),
    { maxItems: limits.patchesMax },
  ),
}

/** The refusal of a patch for what can't be patched. */
export const notPatched = (path: readonly string[], known: readonly string[]): string =>
  `Cannot patch /${path.join('/').slice(0, 200)}. Only the following can be updated: ${known.join(', ')}`

/** The patch in the body, of members that the resource has. */
export function patchesIn(request: MetalRequest, form: Members): Patch[] {
  const patches = parsePatches(request.json(PATCH))
  for (const { path } of patches) {
    if (!Object.hasOwn(form.checks, path[0]) || path[0] === 'uuid')
      throw refuse(
        notPatched(
          path,
          Object.keys(form.checks).filter(name => name !== 'uuid'),
        ),
      )
  }
  return patches
}

/** Applies a patch, then runs the same checks as for a new resource. */
export const patchedMembers = (patches: readonly Patch[], before: Json, form: Members): Json =>
  members(applyPatches(before, patches), form)

export const asText = (value: unknown): string | null => (value as string | undefined) ?? null
export const asJson = (value: unknown): JsonText<Json> => jsonText((value ?? {}) as Json)
export const asFlag = (value: unknown, otherwise: 0 | 1): 0 | 1 => (value === undefined ? otherwise : value ? 1 : 0)
