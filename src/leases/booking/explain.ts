// Explains a lease, or the change of one, without booking it: where it would go, or why it doesn't fit and when it
// would. The real booking is tried and undone, so the verdict and the refusals are those of the real one.
import { rehearsing } from '../../audit/rehearsal.ts'
import type { Principal } from '../../metal/nodes/provider.ts'
import type { Refusal } from '../../problems/leases.ts'
import { Problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { Leasable } from '../calendar/calendar.ts'
import type { Places } from '../calendar/candidates.ts'
import { mostOf, type Naming } from '../calendar/why-not.ts'
import type { LeaseContext } from '../context.ts'
import { type BookedLease, bookChange, bookNew } from '../lifecycle/leases.ts'
import type { LeaseChange, NewLease } from '../types.ts'
import { namingOf, reasonsFor } from './refusal.ts'

interface LeaseExplained extends Refusal {
  fits: boolean
  /** What the refusal of the real one says; null if it fits. */
  message: string | null
  /** For each reservation, the slots by host or node name. Callers who may not see hosts get numbers as names. */
  places: readonly Readonly<Record<string, number>>[]
}

export const explainLease = (context: LeaseContext, who: Principal, wanted: NewLease): Promise<LeaseExplained> =>
  explained(context, trial => bookNew(trial, who, wanted))

/** What a change would come to; the lease's own bookings are not in its way. */
export const explainChange = (
  context: LeaseContext,
  id: string,
  project: string | null,
  change: LeaseChange,
): Promise<LeaseExplained> => explained(context, trial => bookChange(trial, id, project, change))

async function explained(
  context: LeaseContext,
  attempt: (trial: LeaseContext) => Promise<BookedLease>,
): Promise<LeaseExplained> {
  const trial: LeaseContext = {
    ...context,
    store: rehearsing(context.store),
    // The service may count what it is asked, so it is asked about real leases only.
    config: { ...context.config, leaseServiceUrl: null },
    looksMax: limits.explainLooksMax,
  }
  try {
    await context.calendar.catchUp()
    const { request, places } = await attempt(trial)
    const { leasables } = context.calendar
    const naming = namingOf(context)
    return {
      fits: true,
      message: null,
      places: naming.seesHosts ? named(places, leasables, naming) : numbered(places),
      reasons: await reasonsFor(context, request),
      windows: [],
      until_at: null,
      most: mostOf(leasables, request),
    }
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'lease_does_not_fit') throw error
    return { fits: false, message: error.message, places: [], ...(error.details as Refusal) }
  }
}

function named(places: Places, leasables: readonly Leasable[], { nameOf }: Naming): LeaseExplained['places'] {
  const names = new Map(leasables.map(leasable => [leasable.id, nameOf(leasable)]))
  return places.map(place => Object.fromEntries([...place].map(([id, slots]) => [names.get(id)!, slots])))
}

/** The same number in two reservations is the same host. */
function numbered(places: Places): LeaseExplained['places'] {
  const numbers = new Map([...new Set(places.flatMap(place => [...place.keys()]))].map((id, index) => [id, index + 1]))
  return places.map(place => Object.fromEntries([...place].map(([id, slots]) => [`#${numbers.get(id)!}`, slots])))
}
