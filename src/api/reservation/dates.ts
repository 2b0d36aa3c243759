// Reads and writes dates in the reservation API's format, always in UTC.
import { refused, shown } from './fields.ts'
import { Type } from '../../shared/type.ts'

const MINUTE_MS = 60_000
const WHEN = /^(\d{4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)? ?(Z|[+-]\d{2}:?\d{2})?$/

/**
 * Reads `now` (the start of the current minute), upstream's `YYYY-MM-DD HH:MM`, and ISO 8601 with seconds and a zone.
 * So clients can send back the dates of answers. Returns milliseconds since 1970.
 */
export function parseDate(text: unknown, name: string, now: number): number {
  if (text === 'now') return now - (now % MINUTE_MS)
  const time = typeof text === 'string' ? timeOf(text) : null
  if (time !== null) return time
  const form = 'YYYY-MM-DD HH:MM in UTC, ISO 8601, or now'
  throw refused(`${name}: ${shown(text)} is an invalid date. Required format: ${form}.`)
}

function timeOf(text: string): number | null {
  const [, year, month, day, hour, minute, second = '0', fraction = '', zone = 'Z'] = WHEN.exec(text) ?? []
  if (year === undefined) return null
  const parts = [year, month, day, hour, minute, second].map(Number) as [number, ...number[]]
  const wall = new Date(
    Date.UTC(parts[0], parts[1]! - 1, ...parts.slice(2), Number(fraction.padEnd(3, '0').slice(0, 3))),
  )
  // Date would carry the 30th of February over into March.
  const isReal =
    wall.getUTCMonth() + 1 === parts[1] && wall.getUTCDate() === parts[2] && wall.getUTCHours() === parts[3]
  const isOnClock = parts[4]! < 60 && parts[5]! < 60
  const time = wall.getTime() - offsetOf(zone)
  return isReal && isOnClock && time >= 0 ? time : null
}

function offsetOf(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS
}

/** The formats in requests and in answers. */
export const GivenDate = Type.Union([Type.Literal('now'), Type.String({ pattern: WHEN.source })])
export const ShownDate = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}$' })
export const ShownTime = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$' })

/** The time of a lease or an event. Clients read exactly this form: six digits and no zone. */
export const shownDate = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}000`

/** When a row was made or changed. */
export const shownTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
export const shownTimeOrNull = (ms: number | null): string | null => (ms === null ? null : shownTime(ms))
