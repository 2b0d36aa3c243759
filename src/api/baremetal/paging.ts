// Pages of lists: marker, limit, sort order, and the link to the next page.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { oneOf, Text, Uuid } from '../shapes.ts'
import type { MetalRequest } from './request.ts'
import { expected } from '../../shared/expected.ts'
import { Type } from '../../shared/type.ts'

export interface Paging<Key extends string> {
  limit: number
  marker: string | null
  sortKey: Key
  descending: boolean
}

/** The paging parameters of a list with these sort keys. The marker is a UUID, or a name. */
export const pagingOf = (sortKeys: readonly string[], isNamed = false) => ({
  limit: Type.Integer({ minimum: 1 }),
  marker: isNamed ? Text : Uuid,
  sort_key: oneOf(...sortKeys),
  sort_dir: oneOf('asc', 'desc'),
})

const refuse = (reason: string) => problem('invalid_parameter', { reason })

export function parsePaging<Key extends string>(
  given: ReadonlyMap<string, string>,
  keys: readonly Key[],
  isNamed = false,
): Paging<Key> {
  const limit = given.get('limit')
  if (limit !== undefined && (!/^\d{1,9}$/.test(limit) || Number(limit) === 0)) {
    throw refuse(`limit must be positive: ${expected('a whole number of at least 1', 'limit', limit)}`)
  }
  const marker = given.get('marker') || null
  if (marker !== null && !isNamed && canonicalUuid(marker) === null) throw refuse(expected('a UUID', 'marker', marker))
  const key = given.get('sort_key') ?? 'id'
  if (!(keys as readonly string[]).includes(key)) {
    throw refuse(
      `The sort_key value "${key.slice(0, 100)}" is an invalid field for sorting: expected one of ${keys.join(', ')}.`,
    )
  }
  const direction = given.get('sort_dir') ?? 'asc'
  if (direction !== 'asc' && direction !== 'desc') {
    throw refuse(`Invalid sort_dir, a direction: ${direction.slice(0, 100)}. Acceptable values are "asc" or "desc"`)
  }
  return {
    limit: Math.min(Number(limit ?? limits.nodePageMax), limits.nodePageMax),
    marker: marker && !isNamed ? canonicalUuid(marker) : marker,
    sortKey: key as Key,
    descending: direction === 'desc',
  }
}

/** The link to the next page: the same query with a new marker. */
export function nextLink({ base, query }: MetalRequest, path: string, limit: number, marker: string): string {
  const next = new URLSearchParams(query)
  next.set('limit', String(limit))
  next.set('marker', marker)
  return `${base}/v1/${path}?${next.toString()}`
}

/** Pages a list in memory, for resources with few rows. */
export function pageOf<Row extends { uuid: string }>(
  rows: readonly Row[],
  { limit, marker, sortKey, descending }: Paging<string>,
): { page: Row[]; more: boolean } {
  const sorted =
    sortKey === 'id' ? [...rows] : rows.toSorted((a, b) => compare(valueOf(a, sortKey), valueOf(b, sortKey)))
  if (descending) sorted.reverse()
  const at = marker === null ? -1 : sorted.findIndex(row => row.uuid === marker)
  if (marker !== null && at < 0) throw problem('metal_not_found', { what: 'Marker', name: marker })
  const rest = sorted.slice(at + 1)
  return { page: rest.slice(0, limit), more: rest.length > limit }
}

const valueOf = (row: object, key: string) => (row as Record<string, string | number | null>)[key] ?? ''
const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
