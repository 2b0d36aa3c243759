// Checks whether a lease can start: the leases before it may not have given their hosts back yet.
import { add, type Booked, isWithin, meets, type Size } from '../calendar/calendar.ts'
import type { RevisedLeasable } from '../calendar/resources.ts'

/**
 * Why a lease can't start; null when it can. `given` are the reservations that have started and are not over. Nodes are
 * not checked here: their own state says whether they are available.
 */
export function keptFrom(
  lease: string,
  leasables: readonly RevisedLeasable[],
  given: ReadonlySet<string>,
): string | null {
  // The client must not learn which host it is, nor who else uses it.
  const isFull = leasables.some(host => host.kind === 'host' && isKept(host, lease, given))
  return isFull ? 'A host of it is still held by the lease before this one.' : null
}

/** The calendar allows for bookings that overlap. All others should be over, but exist until all is given back. */
function isKept({ booked, capacity }: RevisedLeasable, lease: string, given: ReadonlySet<string>): boolean {
  const mine = booked.filter(one => one.lease === lease)
  const [first] = mine
  if (!first) return false
  const others = booked.filter(one => one.lease !== lease)
  const inTheWay = others.filter(one => !meets(one, first) && (one.end <= first.start || given.has(one.reservation)))
  if (inTheWay.length === 0) return false
  const beside = others.filter(one => meets(one, first) && given.has(one.reservation))
  return !fitTogether([...mine, ...inTheWay, ...beside], capacity)
}

function fitTogether(booked: readonly Booked[], capacity: Size): boolean {
  const sum: Size = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
  for (const one of booked) add(sum, one, 1)
  return !booked.some(({ isWhole }) => isWhole) && isWithin(sum, capacity)
}
