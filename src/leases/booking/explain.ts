// Explains a lease without booking it: where it would go, or why it doesn't fit and when it would.
import { limits } from '../../shared/limits.ts'
import { limitsFor, requireRoom, requireTerm } from '../../quotas/within.ts'
import type { Read } from '../../store/transaction.ts'
import type { Leasable } from '../calendar/calendar.ts'
import { checkNewDates } from '../lifecycle/dates.ts'
import { checkHours, checkLength } from '../enforcement.ts'
import type { Places } from '../calendar/candidates.ts'
import { fit } from '../calendar/fit.ts'
import { requestFor } from '../lifecycle/leases.ts'
import { type LeaseContext, MINUTE_MS } from '../context.ts'
import type { Refusal } from '../../problems/leases.ts'
import type { NewLease } from '../types.ts'
import { nextWindows, reasonsOf } from '../calendar/why-not.ts'

/** The id of a lease that doesn't exist yet. */
const NOT_YET = ''

interface LeaseExplained extends Refusal {
  fits: boolean
  /** For each reservation, the slots by host or node name. Callers who may not see hosts get numbers as names. */
  places: readonly Readonly<Record<string, number>>[]
}

/** Refuses wrong dates and exceeded limits with the same problem as creating the lease would. */
export async function explainLease(
  context: LeaseContext,
  project: string,
  wanted: Pick<NewLease, 'start_at' | 'end_at' | 'reservations'>,
): Promise<LeaseExplained> {
  const { store, calendar, clock, config, seesHosts = false } = context
  const now = clock.now()
  const { start_at, end_at } = wanted
  checkNewDates(wanted, now)
  checkLength(config, project, wanted)
  await store.read(function* () {
    yield* checkHours(config, { id: NOT_YET, project_id: project, start_at, end_at }, now)
    yield* checkQuota(project, wanted, now)
  })
  const request = requestFor(context, wanted, null)
  await calendar.catchUp()
  const { leasables } = calendar
  const { places } = fit(leasables, request)
  return {
    fits: places !== null,
    places: seesHosts ? named(places ?? [], leasables) : numbered(places ?? []),
    reasons: reasonsOf(leasables, request, seesHosts),
    windows: places ? [] : nextWindows(leasables, request, now, limits.explainLooksMax),
  }
}

function named(places: Places, leasables: readonly Leasable[]): LeaseExplained['places'] {
  const names = new Map(leasables.map(({ id, name }) => [id, name]))
  return places.map(place => Object.fromEntries([...place].map(([id, slots]) => [names.get(id)!, slots])))
}

/** The same number in two reservations is the same host. */
function numbered(places: Places): LeaseExplained['places'] {
  const numbers = new Map([...new Set(places.flatMap(place => [...place.keys()]))].map((id, index) => [id, index + 1]))
  return places.map(place => Object.fromEntries([...place].map(([id, slots]) => [`#${numbers.get(id)!}`, slots])))
}

function* checkQuota(
  project: string,
  { start_at, end_at }: Pick<NewLease, 'start_at' | 'end_at'>,
  now: number,
): Read<void> {
  requireTerm(yield* limitsFor(project), 'longest_lease_hours', { from: start_at, until: end_at })
  const asked = new Map([
    ['leases', 1],
    ['lease_hours', (end_at - Math.max(start_at, now)) / (60 * MINUTE_MS)],
  ])
  yield* requireRoom({ project, kinds: ['leases'], now }, asked)
}
