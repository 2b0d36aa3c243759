// What a reservation is in the ledger and in compute: a resource class and a private flavor from the moment it is made, and
// while the lease runs an inventory on each host where it has slots. Each step may be taken twice.
import { createFlavor, deleteFlavor, grantAccess, projectsOf, revokeAccess } from '../compute/flavors.ts'
import { deleteServersOfFlavor } from '../compute/servers.ts'
import { dropShares, putShares, type Share } from '../ledger/shares.ts'
import { ensureClass } from '../ledger/resource-classes.ts'
import { Problem } from '../problem.ts'
import { query } from '../store/statement.ts'
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

/** With the reservation: what will be offered once the lease starts has a name, and nobody may use it yet. */
export function* makeGoods({ id, terms }: Pick<Reservation, 'id' | 'terms'>, now: number): Write<void> {
  if (terms.resource_type === 'physical:node') return
  yield* ensureClass(classOf(id), now, OWNER)
  if (terms.resource_type === 'virtual:instance') yield* makeFlavor(id, terms, now)
}

function* makeFlavor(id: string, { vcpus, memory_mb, disk_gb }: InstanceTerms, now: number): Write<void> {
  yield* createFlavor(
    {
      id,
      name: `reservation:${id}`,
      vcpus,
      ram_mb: memory_mb,
      disk_gb,
      is_public: false,
      extra_specs: { [`resources:${classOf(id)}`]: '1' },
      managed_by: OWNER,
    },
    now,
  )
}

/** A flavor can't change its size: the one of the new size takes the place and the id of the old. */
export function* remakeFlavor({ id, terms }: Reservation, now: number): Write<void> {
  if (terms.resource_type !== 'virtual:instance') return
  yield* deleteFlavor(id)
  yield* makeFlavor(id, terms, now)
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
  for (const { id, terms, project } of reservations) {
    if (terms.resource_type !== 'virtual:instance') continue
    if (!(yield* projectsOf(id)).includes(project)) yield* grantAccess(id, project)
  }
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
