// Reads points in time that clients send.
import { instantOf } from '../clock/instants.ts'
import { limits } from '../shared/limits.ts'
import { problem } from '../problems/problem.ts'

export const INSTANT = 'time like 2030-01-01T10:00:00Z, or a duration like 90s, 10m, 2h or PT10M'

/** The instant that a time or a duration means; it must lie in the future. */
export function futureInstant(name: string, value: unknown, now: number): number {
  const at = instantOf(value, now)
  const refuse = (reason: string) => problem('invalid_parameter', { reason: `Invalid value for ${name}: ${reason}.` })
  if (at === null) throw refuse(`expected a ${INSTANT}`)
  if (at <= now) throw refuse('it must lie in the future')
  if (at > now + limits.futureMsMax) throw refuse('it lies too far in the future')
  return Math.round(at)
}
