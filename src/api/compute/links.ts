// Links, times and pages, in the form that all resources share.
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { ComputeRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

interface Link {
  rel: string
  href: string
}

/** The pair that every resource has: one with the version in it, one without. */
export const linksTo = ({ base }: ComputeRequest, path: string): Link[] => [
  { rel: 'self', href: `${base}/v2.1/${path}` },
  { rel: 'bookmark', href: `${base}/${path}` },
]

export const bookmark = ({ base }: ComputeRequest, path: string): Link[] => [
  { rel: 'bookmark', href: `${base}/${path}` },
]

/** Whole seconds, with the zone as a letter. */
export const shownTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

export const ShownTime = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' })
export const ShownRecordTime = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}$' })

/** Microseconds and no zone, as in the records of services and launches. */
export const shownRecordTime = <T extends number | null>(ms: T) =>
  (ms === null ? null : `${new Date(ms).toISOString().slice(0, 23)}000`) as T extends null ? null : string

/** The paging parameters. */
export const PAGE = { limit: Type.Optional(Type.Integer({ minimum: 0 })), marker: Type.Optional(Type.String()) }

/** The page size: what the client asks for, up to the maximum. */
export function limitOf(request: ComputeRequest, max: number): number {
  const given = request.parameter('limit')
  if (given === null) return max
  if (!/^\d{1,9}$/.test(given)) {
    throw problem('compute_invalid', { reason: `limit must be a whole number, not ${given.slice(0, 100)}` })
  }
  // Zero means the maximum, as upstream.
  return Math.min(Number(given) || max, max)
}

interface PageEnd {
  limit: number
  /** The last one of the page, if there are more. */
  marker: string | null
}

/** The link to the next page, with the same query; null on the last page. */
export function nextLinks(request: ComputeRequest, path: string, { limit, marker }: PageEnd): Link[] | null {
  if (marker === null) return null
  const next = new URLSearchParams(request.query)
  next.set('marker', marker)
  if (limit < limits.serverPageMax) next.set('limit', String(limit))
  return [{ rel: 'next', href: `${request.base}/v2.1/${path}?${next.toString()}` }]
}
