// What would come of a lease: where it would go, or why it doesn't fit and when it would. Nothing is booked.
import { limits } from '../limits.ts'
import { fit, type Request } from './fit.ts'
import { type Leasing, MINUTE_MS } from './leasing.ts'
import type { NewLease, Refusal } from './types.ts'
import { nextWindows, reasonsOf } from './why-not.ts'
import { wishOf } from './wishes.ts'

export interface LeaseExplained extends Refusal {
  fits: boolean
  /** For each reservation, the slots by name of the host or node. */
  places: readonly Readonly<Record<string, number>>[]
}

export async function explainLease(
  { calendar, clock, config }: Leasing,
  { start_at, end_at, reservations }: Pick<NewLease, 'start_at' | 'end_at' | 'reservations'>,
): Promise<LeaseExplained> {
  const cleaningMs = config.leaseCleaningMinutes * MINUTE_MS
  const window = { start: start_at, free: end_at + cleaningMs }
  const request: Request = { window, except: null, cleaningMs, wishes: reservations.map(terms => wishOf(terms)) }
  await calendar.catchUp()
  const { leasables } = calendar
  const names = new Map(leasables.map(({ id, name }) => [id, name]))
  const { places } = fit(leasables, request)
  return {
    fits: places !== null,
    places: (places ?? []).map(place => Object.fromEntries([...place].map(([id, slots]) => [names.get(id)!, slots]))),
    reasons: reasonsOf(leasables, request),
    windows: places ? [] : nextWindows(leasables, request, clock.now(), limits.explainLooksMax),
  }
}
