// What a reservation is in the ledger and in compute: a resource class and a private flavor from the moment it is made, and
// while the lease runs an inventory on each host where it has slots. Each step may be taken twice.
import {
  createFlavor,
  deleteFlavor,
  grantAll,
  type NewFlavor,
  newFlavor,
  projectsOf,
  revokeAccess,
} from '../compute/flavors.ts'
import { deleteServersOfFlavor } from '../compute/servers.ts'
import { dropShares, putShares, type Share } from '../ledger/shares.ts'
import { ownedClasses } from '../ledger/resource-classes.ts'
import { Problem } from '../problem.ts'
import { type Command, query } from '../store/statement.ts'
import { one, type Read, type Write } from '../store/transaction.ts'
import type { RevisedLeasable } from './leasables.ts'
import type { InstanceTerms, Lease, Reservation } from './types.ts'

/** The word under which the ledger and compute know what belongs to leases. */
export const OWNER = 'leases'

export const classOf = (reservation: string) => `CUSTOM_RESERVATION_${reservation.replaceAll('-', '_').toUpperCase()}`

const flavorThere = query((db, a: { id: string }) => db.selectFrom('flavors').select('id').where('id', '=', a.id))

function* hasFlavor(id: string): Read<boolean> {
  return (yield* one(flavorThere({ id }))) !== undefined
}

/** With the reservations: what will be offered once the lease starts has a name, and nobody may use it yet. */
export function newGoods(reservations: readonly Pick<Reservation, 'id' | 'terms'>[], now: number): Command[] {
  const named = reservations.filter(({ terms }) => terms.resource_type !== 'physical:node')
  if (named.length === 0) return []
  const classes = named.map(({ id }) => classOf(id))
  const flavors = named.flatMap(({ id, terms }) =>
    terms.resource_type === 'virtual:instance' ? newFlavor(flavorOf(id, terms), now) : [],
  )
  return [ownedClasses(classes, OWNER, now), ...flavors]
}

const flavorOf = (id: string, { vcpus, memory_mb, disk_gb }: InstanceTerms): NewFlavor => ({
  id,
  name: `reservation:${id}`,
  vcpus,
  ram_mb: memory_mb,
  disk_gb,
  is_public: false,
  extra_specs: { [`resources:${classOf(id)}`]: '1' },
  managed_by: OWNER,
})

/** A flavor can't change its size: the one of the new size takes the place and the id of the old. */
export function* remakeFlavor({ id, terms }: Reservation, now: number): Write<void> {
  if (terms.resource_type !== 'virtual:instance') return
  yield* deleteFlavor(id)
  yield* createFlavor(flavorOf(id, terms), now)
}

/** How much of its class a reservation offers on each host where it has slots. */
export function sharesOf(reservation: Reservation, leasables: readonly RevisedLeasable[]): Share[] {
  if (reservation.terms.resource_type === 'physical:node') return []
  return leasables.flatMap(({ reservationProvider, capacity, booked }) => {
    const mine = booked.find(one => one.reservation === reservation.id)
    if (!mine || reservationProvider === null) return []
    // Of a whole host: as many servers as it could have at all.
    const total = mine.isWhole ? Math.max(capacity.vcpus, 1) : mine.slots
    return { provider: reservationProvider, resourceClass: classOf(reservation.id), total }
  })
}

/** The inventories first, then access for the project: whoever sees the flavor can use it. */
export function* offerGoods(
  leases: readonly Pick<Lease, 'project_id' | 'reservations'>[],
  leasables: readonly RevisedLeasable[],
  now: number,
): Write<void> {
  const reservations = leases.flatMap(lease => lease.reservations.map(one => ({ ...one, project: lease.project_id })))
  yield* putShares(
    reservations.flatMap(reservation => sharesOf(reservation, leasables)),
    OWNER,
    now,
  )
  const ofInstances = reservations.filter(({ terms }) => terms.resource_type === 'virtual:instance')
  yield* grantAll(ofInstances.map(({ id, project }) => ({ flavor_id: id, project_id: project })))
}

/** Nobody can start anything with it any more, and what was started goes. */
export function* closeGoods({ id, terms }: Reservation, now: number): Write<void> {
  if (terms.resource_type !== 'virtual:instance' || !(yield* hasFlavor(id))) return
  for (const project of yield* projectsOf(id)) yield* revokeAccess(id, project)
  yield* deleteServersOfFlavor(id, now)
}

/** True when nothing is left of it; false while someone still has some of it. */
export function* removeGoods({ id, terms }: Reservation, now: number): Write<boolean> {
  if (terms.resource_type === 'physical:node') return true
  try {
    yield* dropShares(classOf(id), now)
  } catch (error) {
    if (error instanceof Problem && error.kind === 'class_in_use') return false
    throw error
  }
  if (yield* hasFlavor(id)) yield* deleteFlavor(id)
  return true
}
