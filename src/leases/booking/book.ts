// Books places: the calendar in memory proposes hosts; the transaction locks them, checks them again and books what
// still fits. A stale proposal is read again and retried a bounded number of times; the last try locks every matching
// host, so that its answer is exact.
import { limits } from '../../shared/limits.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Write } from '../../store/transaction.ts'
import type { CalendarMirror } from '../calendar/mirror.ts'
import type { Booked } from '../calendar/calendar.ts'
import type { Places, Request } from '../calendar/candidates.ts'
import { fit } from '../calendar/fit.ts'
import { type Known, lockLeasables, type RevisedLeasable } from '../calendar/resources.ts'
import type { LeaseContext } from '../context.ts'
import { refusalOf } from './refusal.ts'
import { bookedFor } from '../calendar/wishes.ts'
import type { Terms } from '../types.ts'

/** Names the hosts and nodes to lock; null when the request doesn't fit. */
export type Propose = (request: Request) => readonly ProviderId[] | null

export type Verdict<T> =
  | { kind: 'done'; value: T }
  /** The proposal was out of date, and nothing was written. */
  | { kind: 'stale'; wanted: Request; proposed: readonly ProviderId[] }
  | { kind: 'full'; wanted: Request }

/** Places for the request, and the leasables that are locked now. */
export interface Placed {
  places: Places
  held: readonly RevisedLeasable[]
}

/** Locks the proposed leasables and `others`, and finds places on them. */
export function* findPlaces(
  request: Request,
  propose: Propose,
  known: Known,
  others: readonly ProviderId[] = [],
): Write<Placed | Exclude<Verdict<never>, { kind: 'done' }>> {
  const proposed = propose(request)
  if (proposed === null) return { kind: 'full', wanted: request }
  const held = yield* lockLeasables([...new Set([...proposed, ...others])], known)
  const { places } = fit(held, request)
  return places ? { places, held } : { kind: 'stale', wanted: request, proposed }
}

/** Repeats the attempt until it is done; throws when the request doesn't fit. One booking at a time in this process. */
export function book<T>(context: LeaseContext, attempt: (propose: Propose) => Write<Verdict<T>>): Promise<T> {
  const { calendar, store } = context
  const refusal = (wanted: Request) => refusalOf(context, wanted)
  return calendar.inTurn(async () => {
    let isCaughtUp = false
    let isLast = false
    for (let attempts = 1; ; attempts++) {
      isLast ||= attempts > limits.bookingAttemptsMax
      const verdict = await store.write(() => attempt(isLast ? everythingIn(calendar) : bestIn(calendar)))
      if (verdict.kind === 'done') return verdict.value
      if (verdict.kind === 'stale') await calendar.refresh(verdict.proposed)
      if (isLast) throw await refusal(verdict.wanted)
      if (verdict.kind === 'stale') continue
      // Another process may have freed a host that our memory shows as booked, so catch up first. If it still doesn't
      // fit, lock all of a small pool to be sure. Locking a large pool would stop everyone else.
      if (!isCaughtUp) await calendar.catchUp()
      else if (everythingIn(calendar)(verdict.wanted)!.length <= limits.refusalLocksMax) isLast = true
      else throw await refusal(verdict.wanted)
      isCaughtUp = true
    }
  })
}

const bestIn =
  (calendar: CalendarMirror): Propose =>
  request => {
    const { places } = fit(calendar.leasables, request)
    return places && [...new Set(places.flatMap(place => [...place.keys()]))]
  }

const everythingIn =
  (calendar: CalendarMirror): Propose =>
  ({ wishes }) =>
    calendar.leasables.filter(one => wishes.some(wish => wish.accepts(one))).map(({ id }) => id)

/** The bookings on each host and node when these places are taken. */
export function bookedAt(
  lease: { id: string; start_at: number; end_at: number },
  reservations: readonly { id: string; terms: Terms }[],
  places: Places,
  cleaningMs: number,
): Map<ProviderId, Booked[]> {
  const window = { start: lease.start_at, end: lease.end_at, free: lease.end_at + cleaningMs }
  const booked = new Map<ProviderId, Booked[]>()
  for (const [index, { id, terms }] of reservations.entries()) {
    for (const [leasable, slots] of places[index]!) {
      booked.getOrInsertComputed(leasable, () => []).push(bookedFor(lease.id, id, terms, window, slots))
    }
  }
  return booked
}
