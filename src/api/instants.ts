// Points in time as clients write them: an instant, or how long from now.
import { limits } from '../limits.ts'
import { problem } from '../problem.ts'

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SHORT = /^(\d{1,9})\s*([smhd])$/
const ISO_DURATION = /^P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/
const ISO_INSTANT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/

/** The instant meant by an ISO 8601 time (UTC unless it says otherwise), a number of seconds, `10m`, `2h` or `PT10M`; else null. */
export function instantOf(value: unknown, now: number): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? now + value * 1_000 : null
  if (typeof value !== 'string') return null
  const text = value.trim()
  const [, amount, unit] = SHORT.exec(text) ?? []
  if (unit !== undefined) return now + Number(amount) * UNITS[unit]!
  if (/^\d{1,9}$/.test(text)) return now + Number(text) * 1_000
  const parts = text.length > 2 ? ISO_DURATION.exec(text) : null
  if (parts) {
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map(part => Number(part ?? 0))
    return now + ((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1_000
  }
  const zone = /(Z|[+-]\d{2}:?\d{2})$/.test(text) ? '' : 'Z'
  const ms = ISO_INSTANT.test(text) ? Date.parse(text.replace(' ', 'T') + zone) : NaN
  return Number.isNaN(ms) ? null : ms
}

/** The same, for a time that has to come. */
export function futureInstant(name: string, value: unknown, now: number): number {
  const at = instantOf(value, now)
  const refuse = (reason: string) => problem('invalid_parameter', { reason: `Invalid value for ${name}: ${reason}.` })
  if (at === null) throw refuse('expected a time like 2030-01-01T10:00:00Z, or a duration like 90s, 10m, 2h or PT10M')
  if (at <= now) throw refuse('it must lie in the future')
  if (at > now + limits.futureMsMax) throw refuse('it lies too far in the future')
  return Math.round(at)
}
