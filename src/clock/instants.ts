// Points in time as people write them: an instant, or how long from now.

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
