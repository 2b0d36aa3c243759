// A reservation's resources in the ledger and in compute: a resource class, a private flavor (for hosts only from the
// start on), and while the lease runs an inventory on each host where it has slots. Each step is idempotent.
import {
  closeFlavors,
  createFlavor,
  deleteFlavor,
  grantAll,
  type NewFlavor,
  newFlavor,
  RESERVED,
} from '../../compute/flavors.ts'
import { evict } from '../../compute/evict.ts'
import { closeShares, dropShares, putShares, type Share, usersOfClass } from '../../ledger/shares.ts'
import { ownedClasses } from '../../ledger/resource-classes.ts'
import { limits } from '../../shared/limits.ts'
import { Problem } from '../../problems/problem.ts'
import { type Command, query } from '../../store/statement.ts'
import { one, type Read, type Write } from '../../store/transaction.ts'
import { type Size, SIZES } from '../calendar/calendar.ts'
import type { RevisedLeasable } from '../calendar/resources.ts'
import type { Lease, Reservation } from '../types.ts'

/** Marks classes, providers and flavors in the ledger and in compute as managed by leases. */
export const OWNER = 'leases'

export const classOf = (reservation: string) => `CUSTOM_RESERVATION_${reservation.replaceAll('-', '_').toUpperCase()}`

/** Nodes are given as allocations; all other reservations have a class and a flavor. */
const isNamed = ({ terms }: Pick<Reservation, 'terms'>) => terms.resource_type !== 'physical:node'

const flavorThere = query((db, a: { id: string }) =>
  db.selectFrom('flavors').select(['vcpus', 'ram_mb as memory_mb', 'disk_gb', 'managed_by']).where('id', '=', a.id),
)

function* hasFlavor(id: string): Read<boolean> {
  return (yield* one(flavorThere({ id }))) !== undefined
}

/** Written with new reservations: their classes and flavors exist, but nobody may use them before the start. */
export function newResources(reservations: readonly Pick<Reservation, 'id' | 'terms'>[], now: number): Command[] {
  const named = reservations.filter(isNamed)
  if (named.length === 0) return []
  const classes = named.map(({ id }) => classOf(id))
  const flavors = named.flatMap(({ id, terms }) =>
    terms.resource_type === 'virtual:instance' ? newFlavor(flavorOf(id, terms), now) : [],
  )
  return [ownedClasses(classes, OWNER, now), ...flavors]
}

const flavorOf = (id: string, { vcpus, memory_mb, disk_gb }: Size): NewFlavor => ({
  id,
  name: `${RESERVED}${id}`,
  vcpus,
  ram_mb: memory_mb,
  disk_gb,
  is_public: false,
  extra_specs: { [`resources:${classOf(id)}`]: '1' },
  managed_by: OWNER,
})

/** A flavor can't change its size, so a new one with the same id replaces it. */
export function* remakeFlavor({ id, terms }: Reservation, now: number): Write<void> {
  if (terms.resource_type !== 'virtual:instance') return
  yield* deleteFlavor(id)
  yield* createFlavor(flavorOf(id, terms), now)
}

/** The inventory of the reservation's class on each host where it has slots. */
export function sharesOf(reservation: Reservation, leasables: readonly RevisedLeasable[]): Share[] {
  if (reservation.terms.resource_type === 'physical:node') return []
  return leasables.flatMap(({ reservationProvider, capacity, booked }) => {
    const mine = booked.find(one => one.reservation === reservation.id)
    if (!mine || reservationProvider === null) return []
    // A whole host offers as many servers as it has vCPUs.
    const total = mine.isWhole ? Math.max(capacity.vcpus, 1) : mine.slots
    return { provider: reservationProvider, resourceClass: classOf(reservation.id), total }
  })
}

/** A flavor as large as the smallest host. Made at the start, because the hosts may change until then. */
function* putHostFlavor({ id }: Reservation, leasables: readonly RevisedLeasable[], now: number): Write<void> {
  const hosts = leasables.filter(({ booked }) => booked.some(one => one.reservation === id))
  const smallest = (name: keyof Size, least: number) =>
    Math.max(hosts.length === 0 ? 0 : Math.min(...hosts.map(({ capacity }) => capacity[name])), least)
  const size = { vcpus: smallest('vcpus', 1), memory_mb: smallest('memory_mb', 1), disk_gb: smallest('disk_gb', 0) }
  const there = yield* one(flavorThere({ id }))
  // A flavor that someone else made with the same id is replaced.
  if (there?.managed_by === OWNER && SIZES.every(name => there[name] === size[name])) return
  if (there) yield* deleteFlavor(id)
  yield* createFlavor(flavorOf(id, size), now)
}

/** Writes the inventories before it grants access, so that a visible flavor always works. */
export function* provideResources(
  leases: readonly Pick<Lease, 'project_id' | 'reservations'>[],
  leasables: readonly RevisedLeasable[],
  now: number,
): Write<void> {
  const reservations = leases.flatMap(lease => lease.reservations.map(one => ({ ...one, project: lease.project_id })))
  for (const reservation of reservations) {
    if (reservation.terms.resource_type === 'physical:host') yield* putHostFlavor(reservation, leasables, now)
  }
  yield* putShares(
    reservations.flatMap(reservation => sharesOf(reservation, leasables)),
    OWNER,
    now,
  )
  yield* grantAll(reservations.filter(isNamed).map(({ id, project }) => ({ flavor_id: id, project_id: project })))
}

/** Withdraws access to the flavors, so that nobody can start servers with them. Returns flavor ids and classes. */
function* closeFlavorsOf(reservations: readonly Reservation[]): Write<{ ids: string[]; classes: string[] }> {
  const ids = reservations.filter(isNamed).map(({ id }) => id)
  if (ids.length > 0) yield* closeFlavors(ids)
  return { ids, classes: ids.map(classOf) }
}

/** Closes the flavors and inventories, and deletes the servers that use them. Returns whether any were deleted. */
export function* closeResources(reservations: readonly Reservation[], now: number): Write<boolean> {
  const { ids, classes } = yield* closeFlavorsOf(reservations)
  return ids.length > 0 && (yield* evict(classes, ids, now))
}

/** Closes the flavors and inventories and deletes nothing: for a lease whose end failed. */
export function* closeResourcesOnly(reservations: readonly Reservation[], now: number): Write<void> {
  const { ids, classes } = yield* closeFlavorsOf(reservations)
  if (ids.length > 0) yield* closeShares(classes, [], now)
}

/** Removes class, inventories and flavor. Returns null, or a sentence that names who still uses them. */
export function* removeResources(reservation: Reservation, now: number): Write<string | null> {
  if (!isNamed(reservation)) return null
  const { id } = reservation
  try {
    yield* dropShares(classOf(id), now)
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'class_in_use') throw error
    const users = yield* usersOfClass(classOf(id), limits.leaseHoldersShown)
    return `${classOf(id)} is still in use by ${users.join(', ')}.`
  }
  if (yield* hasFlavor(id)) yield* deleteFlavor(id)
  return null
}
