// Memory proposes, the database disposes. The calendar in memory says which hosts would do; the transaction locks those,
// looks at them again, and books what still fits. What was wrong is read again and proposed anew, a bounded number of times;
// after that all hosts that could do are locked at once, so that the answer is the truth.
import { limits } from '../../shared/limits.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Write } from '../../store/transaction.ts'
import type { CalendarMirror } from '../calendar/mirror.ts'
import type { Booked } from '../calendar/calendar.ts'
import type { Places, Request } from '../calendar/candidates.ts'
import { fit } from '../calendar/fit.ts'
import { lockLeasables, type RevisedLeasable } from '../calendar/resources.ts'
import type { LeaseContext } from '../context.ts'
import { refusalOf } from '../calendar/why-not.ts'
import { bookedFor } from '../calendar/wishes.ts'
import type { Terms } from '../types.ts'

/** Which hosts and nodes to look at; null when none would do. */
export type Propose = (request: Request) => readonly ProviderId[] | null

export type Verdict<T> =
  | { kind: 'done'; value: T }
  /** Nothing was written: what was proposed is not so any more. */
  | { kind: 'stale'; wanted: Request; proposed: readonly ProviderId[] }
  | { kind: 'full'; wanted: Request }

/** Places for the request on what is held now, and what is held. */
interface Placed {
  places: Places
  held: readonly RevisedLeasable[]
}

/** Locks what is proposed, and whatever else is named, and finds places on it. */
export function* findPlaces(
  request: Request,
  propose: Propose,
  others: readonly ProviderId[] = [],
): Write<Placed | Exclude<Verdict<never>, { kind: 'done' }>> {
  const proposed = propose(request)
  if (proposed === null) return { kind: 'full', wanted: request }
  const held = yield* lockLeasables([...new Set([...proposed, ...others])])
  const { places } = fit(held, request)
  return places ? { places, held } : { kind: 'stale', wanted: request, proposed }
}

/** Runs the attempt until it is done, or is known not to fit; then that is thrown. One at a time in this process. */
export function book<T>(context: LeaseContext, attempt: (propose: Propose) => Write<Verdict<T>>): Promise<T> {
  const { calendar, store, clock, seesHosts = false } = context
  const refusal = (wanted: Request) => refusalOf(calendar.leasables, wanted, clock.now(), seesHosts)
  return calendar.inTurn(async () => {
    let isCaughtUp = false
    let isLast = false
    for (let attempts = 1; ; attempts++) {
      isLast ||= attempts > limits.bookingAttemptsMax
      const verdict = await store.write(() => attempt(isLast ? everythingIn(calendar) : bestIn(calendar)))
      if (verdict.kind === 'done') return verdict.value
      if (verdict.kind === 'stale') await calendar.refresh(verdict.proposed)
      if (isLast) throw refusal(verdict.wanted)
      if (verdict.kind === 'stale') continue
      // Others may have given back what this process still believes taken. After that memory is as good as the database
      // was a moment ago; a small pool is locked and looked at all the same, a large one would stop everyone else.
      if (!isCaughtUp) await calendar.catchUp()
      else if (everythingIn(calendar)(verdict.wanted)!.length <= limits.refusalLocksMax) isLast = true
      else throw refusal(verdict.wanted)
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

/** What is booked of each host and node when these places are taken. */
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
