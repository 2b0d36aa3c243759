// How leases begin and end. Each is one transaction under the lock of the lease, finds out for itself what is left to do,
// and may be run twice.
import type { Drivers } from '../metal/drivers/registry.ts'
import { all, type Write } from '../store/transaction.ts'
import { query } from '../store/statement.ts'
import { closeGoods, offerGoods, removeGoods } from './goods.ts'
import { ensureReservationProvider } from './hosts.ts'
import { completeNodes, takeNodesBack } from './node-goods.ts'
import { leasablesOf, lockLeasables, type RevisedLeasable } from './leasables.ts'
import { replaceBookings } from './bookings.ts'
import { lockLeases, placesOf, type StoredLease } from './rows.ts'
import { dropLease, finishEvent, saveLease, setStatus, stepLeases } from './lease-writes.ts'
import type { EventType } from './types.ts'

const providersThere = query((db, a: { uuids: readonly string[] }, on) =>
  db.selectFrom('providers').select('uuid').where(on.isIn('uuid', a.uuids)),
)

function isDue({ due }: StoredLease, event: EventType, now: number): boolean {
  const at = due[event]
  return at !== undefined && at !== null && at <= now
}

/** Starts those of these leases that are due, and says which. */
export function* startLeases(ids: readonly string[], now: number): Write<string[]> {
  const due = yield* lockDue(ids, now)
  yield* start(due, now)
  return due.map(({ id }) => id)
}

/** Starts a lease of nodes if it is due; false while it has too few of them, null when there was nothing to do. */
export function* startLeaseOfNodes(id: string, newUuid: () => string, now: number): Write<boolean | null> {
  const [lease] = yield* lockDue([id], now)
  if (!lease) return null
  const { lease: after, isEnough } = yield* completeNodes(lease, newUuid, now)
  if (!isEnough) {
    yield* setStatus(id, 'STARTING', now)
    return false
  }
  // What it lacks is given when it can be had: healing sees to that.
  yield* saveLease(after)
  yield* start([after], now)
  return true
}

function* lockDue(ids: readonly string[], now: number): Write<StoredLease[]> {
  return (yield* lockLeases(ids)).filter(
    lease => isDue(lease, 'start_lease', now) && (lease.status === 'PENDING' || lease.status === 'STARTING'),
  )
}

function* start(leases: readonly StoredLease[], now: number): Write<void> {
  if (leases.length === 0) return
  const started = leases.map(({ id }) => id)
  const leasables = yield* leasablesOf(yield* placesOf(started))
  yield* ensureProviders(leasables, now)
  yield* offerGoods(leases, leasables, now)
  yield* stepLeases(started, { lease: 'ACTIVE', reservations: 'active', events: ['start_lease'] }, now)
}

function* ensureProviders(leasables: readonly RevisedLeasable[], now: number): Write<void> {
  const uuids = leasables.flatMap(({ reservationProvider }) => reservationProvider ?? [])
  const there = new Set((yield* all(providersThere({ uuids }))).map(({ uuid }) => uuid))
  for (const leasable of leasables) {
    const { reservationProvider } = leasable
    if (reservationProvider !== null && !there.has(reservationProvider)) yield* ensureReservationProvider(leasable, now)
  }
}

/** Nothing happens then but that it is known to have happened. */
export function* passBeforeEnd(ids: readonly string[], now: number): Write<string[]> {
  const due = (yield* lockLeases(ids)).filter(lease => isDue(lease, 'before_end_lease', now)).map(({ id }) => id)
  yield* finishEvent(due, 'before_end_lease', now)
  return due
}

/** Ends the lease if it is due; the lease when it is over now, null when there was nothing to do or something is left. */
export function* endLeaseIfDue(
  id: string,
  drivers: Drivers,
  now: number,
): Write<{ over: StoredLease | null; isLeft: boolean }> {
  const [lease] = yield* lockLeases([id])
  if (!lease || !isDue(lease, 'end_lease', now)) return { over: null, isLeft: false }
  // It begins before it ends, however late.
  if (lease.status === 'PENDING' && isDue(lease, 'start_lease', now)) return { over: null, isLeft: true }
  const isOver = yield* endLease(lease, drivers, now)
  if (isOver && lease.is_deleted) yield* dropLease(id)
  return { over: isOver ? lease : null, isLeft: !isOver }
}

/**
 * Takes access away, deletes the servers, then the flavor, inventories and class, and gives the slots back last. False
 * while someone else still has some of it: then the lease is TERMINATING, and this is to be run again.
 */
export function* endLease(lease: StoredLease, drivers: Drivers, now: number): Write<boolean> {
  const held = yield* lockLeasables(yield* placesOf([lease.id]))
  for (const reservation of lease.reservations) yield* closeGoods(reservation, now)
  let isEmpty = yield* takeNodesBack(lease, drivers, now)
  for (const reservation of lease.reservations) isEmpty = (yield* removeGoods(reservation, now)) && isEmpty
  if (!isEmpty) {
    yield* setStatus(lease.id, 'TERMINATING', now)
    return false
  }
  yield* replaceBookings(held, lease.id, new Map())
  if (lease.status !== 'TERMINATED') {
    const events = ['start_lease', 'before_end_lease', 'end_lease'] as const
    yield* stepLeases([lease.id], { lease: 'TERMINATED', reservations: 'deleted', events }, now)
  }
  return true
}
