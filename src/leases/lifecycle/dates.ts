// The dates of a lease: which are allowed, and when its events are due.
import { problem } from '../../problems/problem.ts'
import { MINUTE_MS } from '../context.ts'
import type { EventType, Lease } from '../types.ts'

const invalid = (reason: string) => problem('lease_invalid', { reason })

export const minuteOf = (now: number) => now - (now % MINUTE_MS)

export function checkNewDates({ start_at, end_at }: Pick<Lease, 'start_at' | 'end_at'>, now: number): void {
  if (start_at < minuteOf(now)) throw invalid('Start date must be later than current date: it must not be in the past.')
  if (end_at <= start_at) throw invalid('End date must be later than current and start date.')
}

/** Checks the dates of a changed lease. `after` has both dates, also those that stay. */
export function checkMovedDates(before: Lease, after: Pick<Lease, 'start_at' | 'end_at'>, now: number): void {
  const hasStarted = before.status !== 'PENDING' || before.start_at < now
  if (after.start_at !== before.start_at) {
    if (hasStarted) throw invalid('The start date of a lease that has started can not be changed.')
    if (after.start_at < minuteOf(now))
      throw invalid('Start date must be later than current date: it must not be in the past.')
  }
  if (after.end_at !== before.end_at && after.end_at < minuteOf(now)) {
    throw invalid('End date must be later than current and start date: it must not be in the past.')
  }
  if (after.end_at < after.start_at)
    throw invalid('End date must be later than current and start date: it must not be earlier than the start.')
}

interface Dates {
  start_at: number
  end_at: number
}

/** The time of the event before the end; null for none. A requested time must be inside the lease. */
export function beforeEndOf({ start_at, end_at }: Dates, given: number | null, usualMs: number): number | null {
  if (given !== null) {
    if (given <= start_at || given >= end_at) throw invalid('The before_end date must be between start and end.')
    return given
  }
  return usualMs === 0 ? null : Math.max(end_at - usualMs, start_at)
}

type Times = Partial<Record<EventType, number>>

export function timesOf({ start_at, end_at }: Dates, beforeEnd: number | null): Times {
  return {
    start_lease: start_at,
    end_lease: end_at,
    ...(beforeEnd !== null && { before_end_lease: beforeEnd }),
  }
}
