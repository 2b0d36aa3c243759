// A reservation's resources in the ledger and in compute: a resource class, a private flavor (for hosts only from the
// start on), and while the lease runs an inventory on each host where it has slots. Each step is idempotent.
import { evict } from '../../compute/evict.ts'
import {
  closeFlavors,
  createFlavor,
  createFlavors,
  deleteFlavor,
  deleteFlavors,
  grantAll,
  type NewFlavor,
  newFlavor,
  RESERVED,
} from '../../compute/flavors.ts'
import { closeShares, dropShares, putShares, type Share, usersOfClass } from '../../ledger/shares.ts'
import { ownedClasses } from '../../ledger/resource-classes.ts'
import { limits } from '../../shared/limits.ts'
import { Problem } from '../../problems/problem.ts'
import { type Command, query } from '../../store/statement.ts'
import { all, type Write } from '../../store/transaction.ts'
import { type Size, SIZES } from '../calendar/calendar.ts'
import type { RevisedLeasable } from '../calendar/resources.ts'
import type { LeaseCompute, Told } from '../compute/port.ts'
import { type FlavorTerms, type InstanceTerms, isOfInstances, type Lease, type Reservation } from '../types.ts'

/** Marks classes, providers and flavors in the ledger and in compute as managed by leases. */
export const OWNER = 'leases'

export const classOf = (reservation: string) => `CUSTOM_RESERVATION_${reservation.replaceAll('-', '_').toUpperCase()}`

/** Whole hosts have a flavor for a server as large as a host, and for smaller ones: so many fit on a host of each. */
const PARTS = [1, 2, 4, 8] as const

const partId = (reservation: string, part: number) => (part === 1 ? reservation : `${reservation}-${part}`)

/** The flavors that a reservation of any kind may have. */
export const allFlavorIds = (reservation: string): string[] => PARTS.map(part => partId(reservation, part))

/** The flavors that this one may have. */
const flavorIdsOf = ({ id, terms }: Pick<Reservation, 'id' | 'terms'>): string[] =>
  terms.resource_type === 'physical:host' ? allFlavorIds(id) : [id]

/** Nodes are given as allocations; all other reservations have a class and a flavor. */
const isNamed = ({ terms }: Pick<Reservation, 'terms'>) => terms.resource_type !== 'physical:node'

const flavorsThere = query((db, a: { ids: readonly string[] }, on) =>
  db
    .selectFrom('flavors')
    .select(['id', 'vcpus', 'ram_mb as memory_mb', 'disk_gb', 'managed_by'])
    .where(on.isIn('id', a.ids)),
)

const toldOf = (reservations: readonly Pick<Reservation, 'id' | 'lease_id'>[]): Told[] =>
  reservations.map(({ id, lease_id }) => ({ reservation: id, lease: lease_id }))

type NewReservation = Pick<Reservation, 'id' | 'lease_id' | 'terms'>

/** Written with new reservations: their classes and flavors exist, but nobody may use them before the start. */
export function newResources(reservations: readonly NewReservation[], compute: LeaseCompute, now: number): Command[] {
  const named = reservations.filter(isNamed)
  if (named.length === 0) return []
  const classes = named.map(({ id }) => classOf(id))
  const flavored = named.filter(({ terms }) => isOfInstances(terms))
  const flavors = flavored.flatMap(({ id, terms }) =>
    isOfInstances(terms) ? newFlavor(flavorFor(id, terms), now) : [],
  )
  return [ownedClasses(classes, OWNER, now), ...flavors, ...compute.begin(toldOf(flavored), now)]
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

/** By a flavor: the same as that one was, and one unit of the class. */
function flavorFor(id: string, terms: InstanceTerms | FlavorTerms): NewFlavor {
  if (terms.resource_type === 'virtual:instance') return flavorOf(id, terms)
  const { vcpus, ram_mb, disk_gb, ephemeral_gb, swap_mb, rxtx_factor, extra_specs } = terms.flavor
  const own = flavorOf(id, { vcpus, memory_mb: ram_mb, disk_gb })
  return { ...own, ephemeral_gb, swap_mb, rxtx_factor, extra_specs: { ...extra_specs, ...own.extra_specs } }
}

/** A flavor can't change its size, so a new one with the same id replaces it. */
export function* remakeFlavor(reservation: Reservation, compute: LeaseCompute, now: number): Write<void> {
  const { id, terms } = reservation
  if (!isOfInstances(terms)) return
  yield* deleteFlavor(id)
  yield* createFlavor(flavorFor(id, terms), now)
  yield* compute.changed(toldOf([reservation]), now)
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

/**
 * A flavor as large as the smallest host, and its parts. Made at the start, because the hosts may change until then.
 * Returns their ids.
 */
function* putHostFlavors(
  reservation: Reservation,
  leasables: readonly RevisedLeasable[],
  now: number,
): Write<string[]> {
  const { id } = reservation
  const hosts = leasables.filter(({ booked }) => booked.some(one => one.reservation === id))
  const smallest = (name: (typeof SIZES)[number], least: number) =>
    Math.max(hosts.length === 0 ? 0 : Math.min(...hosts.map(({ capacity }) => capacity[name])), least)
  const size = { vcpus: smallest('vcpus', 1), memory_mb: smallest('memory_mb', 1), disk_gb: smallest('disk_gb', 0) }
  const wanted = new Map(
    PARTS.filter(part => size.vcpus >= part).map(part => [partId(id, part), partOf(size, part)] as const),
  )
  const there = yield* all(flavorsThere({ ids: flavorIdsOf(reservation) }))
  // A flavor that someone else made with the same id is replaced.
  const isRight = (found: (typeof there)[number]) =>
    found.managed_by === OWNER && SIZES.every(name => found[name] === wanted.get(found.id)?.[name])
  const right = new Set(there.filter(isRight).map(found => found.id))
  const wrong = there.filter(found => !right.has(found.id) && (wanted.has(found.id) || found.managed_by === OWNER))
  if (wrong.length > 0) yield* deleteFlavors(wrong.map(found => found.id))
  const lacking = [...wanted].filter(([part]) => !right.has(part))
  yield* createFlavors(
    lacking.map(([part, partSize]) => ({ ...flavorOf(id, partSize), id: part, name: `${RESERVED}${part}` })),
    now,
  )
  return [...wanted.keys()]
}

const partOf = ({ vcpus, memory_mb, disk_gb }: Size, part: number): Size => ({
  vcpus: Math.floor(vcpus / part),
  memory_mb: Math.max(Math.floor(memory_mb / part), 1),
  disk_gb: Math.floor(disk_gb / part),
})

/** Writes the inventories before it grants access, so that a visible flavor always works. */
export function* provideResources(
  leases: readonly Pick<Lease, 'project_id' | 'reservations'>[],
  leasables: readonly RevisedLeasable[],
  compute: LeaseCompute,
  now: number,
): Write<void> {
  const reservations = leases.flatMap(lease => lease.reservations.map(one => ({ ...one, project: lease.project_id })))
  const access: { flavor_id: string; project_id: string }[] = []
  for (const reservation of reservations.filter(isNamed)) {
    const isHosts = reservation.terms.resource_type === 'physical:host'
    const ids = isHosts ? yield* putHostFlavors(reservation, leasables, now) : [reservation.id]
    for (const id of ids) access.push({ flavor_id: id, project_id: reservation.project })
  }
  yield* putShares(
    reservations.flatMap(reservation => sharesOf(reservation, leasables)),
    OWNER,
    now,
  )
  yield* grantAll(access)
  yield* compute.changed(toldOf(reservations.filter(isNamed)), now)
}

interface Closed {
  /** The ids of the flavors. */
  ids: string[]
  classes: string[]
}

/** Withdraws access to the flavors, so that nobody can start servers with them. */
function* closeFlavorsOf(
  reservations: readonly Reservation[],
  compute: LeaseCompute,
  now: number,
): Write<Closed | null> {
  const named = reservations.filter(isNamed)
  if (named.length === 0) return null
  const ids = named.flatMap(flavorIdsOf)
  const closed = yield* closeFlavors(ids)
  // Only the first time: the end is tried again and again, and whoever works on it must be able to finish.
  yield* compute.changed(toldOf(named.filter(({ id }) => closed.has(id))), now)
  return { ids, classes: named.map(({ id }) => classOf(id)) }
}

/**
 * Closes the flavors and inventories, and deletes the servers of ours that use them. Returns whether any were deleted.
 * With a Nova there may be such from before; its own are deleted there, because access to their flavors changed.
 */
export function* closeResources(
  reservations: readonly Reservation[],
  compute: LeaseCompute,
  now: number,
): Write<boolean> {
  const closed = yield* closeFlavorsOf(reservations, compute, now)
  return closed !== null && (yield* evict(closed.classes, closed.ids, now))
}

/** Closes the flavors and inventories and deletes nothing: for a lease whose end failed. */
export function* closeResourcesOnly(
  reservations: readonly Reservation[],
  compute: LeaseCompute,
  now: number,
): Write<void> {
  const closed = yield* closeFlavorsOf(reservations, compute, now)
  if (closed) yield* closeShares(closed.classes, [], now)
}

/** Removes class, inventories and flavor. Returns null, or a sentence that names who still uses them. */
export function* removeResources(reservation: Reservation, compute: LeaseCompute, now: number): Write<string | null> {
  if (!isNamed(reservation)) return null
  const { id } = reservation
  try {
    yield* dropShares(classOf(id), now)
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'class_in_use') throw error
    const users = yield* usersOfClass(classOf(id), limits.leaseHoldersShown)
    return `${classOf(id)} is still in use by ${users.join(', ')}.`
  }
  const there = yield* all(flavorsThere({ ids: flavorIdsOf(reservation) }))
  const ours = there.filter(({ managed_by }) => managed_by === OWNER)
  if (ours.length === 0) return null
  yield* deleteFlavors(ours.map(flavor => flavor.id))
  yield* compute.changed(toldOf([reservation]), now)
  return null
}
