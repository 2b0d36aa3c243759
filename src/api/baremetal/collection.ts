// What the small resources have in common: fields, pages, and bodies with only known members.
import { parsePatches, applyPatches } from '../../metal/json-patch.ts'
import type { Json } from '../../metal/drivers/port.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../limits.ts'
import { problem } from '../../problem.ts'
import { nextLink, pageOf, PAGING, parsePaging } from './paging.ts'
import { type Answer, flagParameter, type MetalRequest } from './request.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

export interface Resource<Row extends { uuid: string }> {
  /** As the list names it: `ports`. */
  name: string
  /** All fields of one, before the client's choice. */
  show: (row: Row, request: MetalRequest) => Json
  short: readonly string[]
  fields: readonly string[]
  sortKeys: readonly string[]
}

export const LIST_PARAMETERS = [...PAGING, 'fields', 'detail']

/** One, with the fields that were asked for. */
export function shownOne<Row extends { uuid: string }>(resource: Resource<Row>, row: Row, request: MetalRequest): Json {
  const fields = request.parameters(new Set(['fields'])).get('fields')
  const all = resource.show(row, request)
  return fields === undefined ? all : picked(all, fieldsOf(fields, resource.fields, request))
}

export function shownList<Row extends { uuid: string }>(
  resource: Resource<Row>,
  rows: readonly Row[],
  request: MetalRequest,
  path: string,
  detailed: boolean,
): Answer {
  const given = new Map(request.query)
  const paging = parsePaging(given, ['id', ...resource.sortKeys])
  const { page, more } = pageOf(rows, paging)
  const detail = given.get('detail')
  if (detail !== undefined && !request.has.detailParameter) throw refuse('Unknown parameter detail.')
  const isDetail = detailed || (detail !== undefined && flagParameter('detail', detail))
  const fields = given.get('fields')
  if (isDetail && fields !== undefined) throw refuse("Can't fetch a subset of fields with 'detail' set")
  const names = fields === undefined ? resource.short : fieldsOf(fields, resource.fields, request)
  const shown = page.map(row => {
    const all = resource.show(row, request)
    return isDetail ? all : picked(all, names)
  })
  if (!more) return { status: 200, body: { [resource.name]: shown } }
  const next = nextLink(request, path, paging.limit, page.at(-1)!.uuid)
  return { status: 200, body: { [resource.name]: shown, next } }
}

function fieldsOf(given: string, known: readonly string[], request: MetalRequest): string[] {
  request.require('fields', 'Use of the fields parameter')
  const names = given.split(',').map(name => name.trim())
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined) throw refuse(`Field(s) "${unknown.slice(0, 100)}" are not valid`)
  return [...names, 'links']
}

const picked = (all: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.filter(name => name in all).map(name => [name, all[name]]))

type Check = (value: unknown) => boolean
export const isText =
  (max = 255): Check =>
  value =>
    typeof value === 'string' && value.length <= max
export const isFlag: Check = value => typeof value === 'boolean'
export const isUuid: Check = value => typeof value === 'string' && canonicalUuid(value) !== null
export const isDocument: Check = value =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  JSON.stringify(value).length <= limits.nodeJsonBytesMax

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/
/** In lower case, whatever way it was written. */
export const macOf = (text: string): string | null => {
  const lower = text.trim().toLowerCase().replaceAll('-', ':')
  return MAC.test(lower) ? lower : null
}
export const isMac: Check = value => typeof value === 'string' && macOf(value) !== null

/** The members of a body, each known and of its kind; null is as good as absent. */
export function members(body: Json, checks: Readonly<Record<string, Check>>): Json {
  const found: Json = {}
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(checks, name)) throw refuse(`Unknown attribute ${name.slice(0, 100)}.`)
    if (value === null || value === undefined) continue
    if (!checks[name]!(value)) throw refuse(`Invalid input for field/attribute ${name}.`)
    found[name] = value
  }
  return found
}

/** A patched document, with the same checks as a new one. */
export function patchedMembers(request: MetalRequest, before: Json, checks: Readonly<Record<string, Check>>): Json {
  const patches = parsePatches(request.json())
  for (const { path } of patches) {
    if (!Object.hasOwn(checks, path[0]) || path[0] === 'uuid')
      throw refuse(`Cannot patch /${path.join('/').slice(0, 200)}.`)
  }
  return members(applyPatches(before, patches), checks)
}

export const asText = (value: unknown): string | null => (value as string | undefined) ?? null
export const asJson = (value: unknown): string => JSON.stringify(value ?? {})
export const asFlag = (value: unknown, otherwise: 0 | 1): 0 | 1 => (value === undefined ? otherwise : value ? 1 : 0)
