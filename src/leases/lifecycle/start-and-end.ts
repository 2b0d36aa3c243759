// Starts and ends leases. Each step is one transaction under the lock of the lease, finds out what is left to do, and
// is idempotent.
import { textIn, timeOf } from '../../events/subject.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { all, mark, type Write } from '../../store/transaction.ts'
import { query } from '../../store/statement.ts'
import { limits } from '../../shared/limits.ts'
import { closeResources, closeResourcesOnly, provideResources, removeResources } from './reservation-resources.ts'
import type { LeaseCompute } from '../compute/port.ts'
import type { Means } from '../context.ts'
import { ensureReservationProvider } from '../pool/reservation-provider.ts'
import { COMMANDS_RUN, completeNodes, takeNodesBack } from './reservation-nodes.ts'
import { leasablesOf, lockLeasables, type RevisedLeasable } from '../calendar/resources.ts'
import { replaceBookings } from '../booking/rows.ts'
import { lockLeases, placesOf, type StoredLease } from './rows.ts'
import { dropLease, finishEvent, leaseBecame, postpone, saveLease, setStatus, stepLeases } from './writes.ts'
import type { EventType } from '../types.ts'
import { keptFrom } from './predecessors.ts'

const TOO_FEW = 'Too few of its nodes can be had yet.'

const providersThere = query((db, a: { uuids: readonly string[] }, on) =>
  db.selectFrom('providers').select('uuid').where(on.isIn('uuid', a.uuids)),
)

const givenAt = query((db, a: { places: readonly ProviderId[] }, on) =>
  db
    .selectFrom('bookings')
    .innerJoin('lease_reservations as r', 'r.id', 'bookings.reservation_id')
    .select('r.id')
    .distinct()
    .where(on.isIn('bookings.provider_id', a.places, 'bigint'))
    .where('r.status', '=', 'active'),
)

function isDue({ due }: StoredLease, event: EventType, now: number): boolean {
  const at = due[event]
  return at !== undefined && at !== null && at <= now
}

/** Starts those leases that are due and can start. Returns their ids. */
export function* startLeases(ids: readonly string[], compute: LeaseCompute, now: number): Write<string[]> {
  const { ready, leasables } = yield* withoutWaiting(yield* lockDue(ids, now), now)
  yield* start(ready, leasables, compute, now)
  return ready.map(({ id }) => id)
}

interface Ready {
  ready: StoredLease[]
  /** The hosts and nodes with bookings of all due leases. */
  leasables: readonly RevisedLeasable[]
}

/** Finds the leases that can start. The others wait for the leases before them, and show that as their reason. */
function* withoutWaiting(due: readonly StoredLease[], now: number): Write<Ready> {
  if (due.length === 0) return { ready: [], leasables: [] }
  const places = yield* placesOf(due.map(({ id }) => id))
  const leasables = yield* leasablesOf(places)
  const given = new Set((yield* all(givenAt({ places }))).map(({ id }) => id))
  const ready: StoredLease[] = []
  for (const lease of due) {
    const reason = keptFrom(lease.id, leasables, given)
    if (reason === null) {
      ready.push(lease)
      for (const { id } of lease.reservations) given.add(id)
    } else yield* wait(lease, reason, now)
  }
  return { ready, leasables }
}

function* wait(lease: StoredLease, reason: string, now: number): Write<void> {
  if (lease.status !== 'STARTING' || lease.status_reason !== reason) {
    yield* setStatus(lease.id, 'STARTING', now, reason)
    yield* markLate(lease, reason)
  }
  yield* postpone(lease.id, 'start_lease', now + limits.leaseWaitMs)
}

/** Says that a lease can't begin in time, and why. */
const markLate = (lease: StoredLease, reason: string) =>
  mark(leaseBecame(lease, 'error', { from: lease.status, to: 'STARTING', reason: textIn(reason) }))

/** Starts a lease of nodes if it is due; false while too few nodes are available, null when it is not due or waits. */
export function* startLeaseOfNodes(
  id: string,
  { drivers, compute }: Means,
  newUuid: () => string,
  now: number,
): Write<boolean | null> {
  const { ready, leasables } = yield* withoutWaiting(yield* lockDue([id], now), now)
  const [lease] = ready
  if (!lease) return null
  const { lease: after, isEnough } = yield* completeNodes(lease, drivers, newUuid, now)
  if (!isEnough) {
    yield* setStatus(id, 'STARTING', now, TOO_FEW)
    if (lease.status_reason !== TOO_FEW) yield* markLate(lease, TOO_FEW)
    return false
  }
  // Healing gives it the missing nodes later.
  if (after !== lease) yield* saveLease(lease, after)
  yield* start([after], leasables, compute, now)
  return true
}

function* lockDue(ids: readonly string[], now: number): Write<StoredLease[]> {
  return (yield* lockLeases(ids)).filter(
    lease => isDue(lease, 'start_lease', now) && (lease.status === 'PENDING' || lease.status === 'STARTING'),
  )
}

function* start(
  leases: readonly StoredLease[],
  leasables: readonly RevisedLeasable[],
  compute: LeaseCompute,
  now: number,
): Write<void> {
  if (leases.length === 0) return
  const started = leases.map(({ id }) => id)
  yield* ensureProviders(leasables, now)
  yield* provideResources(leases, leasables, compute, now)
  yield* stepLeases(started, { lease: 'ACTIVE', reservations: 'active', events: ['start_lease'] }, now)
  yield* mark(...leases.map(lease => leaseBecame(lease, 'started', { from: lease.status, to: 'ACTIVE' })))
}

function* ensureProviders(leasables: readonly RevisedLeasable[], now: number): Write<void> {
  const uuids = leasables.flatMap(({ reservationProvider }) => reservationProvider ?? [])
  const there = new Set((yield* all(providersThere({ uuids }))).map(({ uuid }) => uuid))
  for (const leasable of leasables) {
    const { reservationProvider } = leasable
    if (reservationProvider !== null && !there.has(reservationProvider)) yield* ensureReservationProvider(leasable, now)
  }
}

/** The lease's people are told. Nothing else happens. */
export function* passBeforeEnd(ids: readonly string[], now: number): Write<string[]> {
  const due = (yield* lockLeases(ids)).filter(lease => isDue(lease, 'before_end_lease', now))
  const passed = due.map(({ id }) => id)
  yield* finishEvent(passed, 'before_end_lease', now)
  // A lease that is ending already needs no reminder.
  const running = due.filter(({ is_deleted, status }) => !is_deleted && !['TERMINATING', 'TERMINATED'].includes(status))
  yield* mark(...running.map(lease => leaseBecame(lease, 'before_end', { until: timeOf(lease.end_at) })))
  return passed
}

/** The result of trying to end a lease. */
export interface Ending {
  lease: StoredLease
  isOver: boolean
  /** It is worth an audit entry: the first try, the end, or servers were deleted. */
  isNews: boolean
  /** It waits for commands on its nodes, which may end at any moment. */
  isKept: boolean
}

/** Ends the lease if it is due; null when it is not. */
export function* endLeaseIfDue(id: string, means: Means, now: number): Write<Ending | null> {
  const [lease] = yield* lockLeases([id])
  if (!lease || !isDue(lease, 'end_lease', now)) return null
  // A late lease starts before it ends.
  if (lease.status === 'PENDING' && isDue(lease, 'start_lease', now))
    return { lease, isOver: false, isNews: false, isKept: false }
  const { isOver, isEmptier, isKept } = yield* endLease(lease, means, 'the calendar', now)
  if (isOver && lease.is_deleted) yield* dropLease(lease)
  return { lease, isOver, isNews: isOver || isEmptier || lease.status !== 'TERMINATING', isKept }
}

/**
 * Closes the lease's resources, so that nobody can use more of them; deletes its servers; removes flavor, inventories
 * and class; and frees the slots last. While something still uses them the lease stays TERMINATING, and this has to run
 * again. `by` is who ends it, for those whose commands run on its nodes.
 */
export function* endLease(
  lease: StoredLease,
  { drivers, compute }: Means,
  by: string,
  now: number,
): Write<{ isOver: boolean; isEmptier: boolean; isKept: boolean }> {
  const held = yield* lockLeasables(yield* placesOf([lease.id]))
  const isEmptier = yield* closeResources(lease.reservations, compute, now)
  yield* mark({ kind: 'lease', id: lease.id })
  const waitsFor = yield* takeNodesBack(lease, drivers, by, now)
  const users: string[] = []
  for (const reservation of lease.reservations) {
    const sentence = yield* removeResources(reservation, compute, now)
    if (sentence !== null) users.push(sentence)
  }
  if (waitsFor.size > 0 || users.length > 0) {
    const reason = [...waitsFor, ...users].join(' ')
    // A Nova deletes servers in its own time; what it doesn't do is told as trouble.
    const isWrong = users.length > 0 && compute.kind === 'own'
    yield* terminate(lease, isWrong ? 'error' : 'changed', reason, now)
    return { isOver: false, isEmptier, isKept: waitsFor.has(COMMANDS_RUN) }
  }
  yield* replaceBookings(held, lease.id, new Map())
  if (lease.status !== 'TERMINATED') {
    const events = ['start_lease', 'before_end_lease', 'end_lease'] as const
    yield* stepLeases([lease.id], { lease: 'TERMINATED', reservations: 'deleted', events }, now)
    yield* mark(leaseBecame(lease, 'ended', { from: lease.status, to: 'TERMINATED' }))
  }
  return { isOver: true, isEmptier, isKept: false }
}

/**
 * For a lease whose end failed: closes its resources and shows the reason. Returns whether the lease was not
 * TERMINATING before.
 */
export function* closeLease(id: string, compute: LeaseCompute, reason: string, now: number): Write<boolean> {
  const [lease] = yield* lockLeases([id])
  if (!lease || !isDue(lease, 'end_lease', now) || lease.status === 'PENDING') return false
  yield* closeResourcesOnly(lease.reservations, compute, now)
  yield* terminate(lease, 'error', reason, now)
  return lease.status !== 'TERMINATING'
}

/** Sets TERMINATING. A lease that has not started by now never will. */
function* terminate(lease: StoredLease, became: 'changed' | 'error', reason: string, now: number): Write<void> {
  yield* setStatus(lease.id, 'TERMINATING', now, reason)
  yield* finishEvent([lease.id], 'start_lease', now)
  // It is tried again and again, and told once.
  if (lease.status === 'TERMINATING') return
  yield* mark(leaseBecame(lease, became, { from: lease.status, to: 'TERMINATING', reason: textIn(reason) }))
}
