// Whether a lease can have what it booked: at its start whoever was there before it may not be gone yet.
import { type Booked, meets, type Size, SIZES } from '../calendar/calendar.ts'
import type { RevisedLeasable } from '../calendar/resources.ts'

/**
 * Why a lease can't start; null when nobody is in its way. `given` are the reservations that have started and are not over.
 * Nodes are asked themselves whether they can be had.
 */
export function keptFrom(
  lease: string,
  leasables: readonly RevisedLeasable[],
  given: ReadonlySet<string>,
): string | null {
  // Its client need not know which host that is, nor who else has something there.
  const isFull = leasables.some(host => host.kind === 'host' && isKept(host, lease, given))
  return isFull ? 'A host of it is still held by the lease before this one.' : null
}

/** The calendar has seen to those who overlap; all others should be gone, and a booking goes when all is given back. */
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

const fitTogether = (booked: readonly Booked[], capacity: Size): boolean =>
  !booked.some(({ isWhole }) => isWhole) &&
  SIZES.every(name => booked.reduce((sum, one) => sum + one[name], 0) <= capacity[name])
