// /v1/leases
import {
  createLease,
  deleteLease,
  findLease,
  keysOfLeases,
  someLeases,
  updateLease,
} from '../../leases/lifecycle/leases.ts'
import { withTrouble } from '../../leases/nova/trouble.ts'
import type { FlavorTerms, Lease, LeaseEvent, Reservation, Terms } from '../../leases/types.ts'
import type { Context } from '../../process/context.ts'
import { readInParts } from '../../http/written.ts'
import { bytesOf, inParts } from '../../store/sized.ts'
import type { Operation } from '../operation.ts'
import { shownDate, shownTime, shownTimeOrNull } from './dates.ts'
import { leaseChangeOf, newLeaseOf } from './lease-bodies.ts'
import { LEASE_CHANGE, LeaseShape, NEW_LEASE } from './lease-forms.ts'
import { type Answer, flavored, leaseContext, membersIn, type ReservationRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

/** Leases over a Nova may have trouble there, which is no part of the lease itself. */
const seen = async ({ compute, store }: Pick<Context, 'compute' | 'store'>, leases: readonly Lease[]) =>
  compute.kind === 'nova' ? store.read(() => withTrouble(leases)) : leases

/** Where names come from. */
type Known = Pick<Context, 'fleet' | 'names'>

const shownRow = ({ created_at, updated_at }: { created_at: number; updated_at: number | null }) => ({
  created_at: shownTime(created_at),
  updated_at: shownTimeOrNull(updated_at),
})

function shownTerms(id: string, terms: Terms): object {
  // A flavor has the id of its reservation. Upstream also uses aggregates and server groups; here there are none.
  if (terms.resource_type === 'virtual:instance') {
    return { ...terms, flavor_id: id, aggregate_id: null, server_group_id: null }
  }
  if (terms.resource_type === 'flavor:instance') return shownFlavorTerms(id, terms)
  return terms
}

/** As upstream: the sizes and the flavor are those of the reservation, and the properties are the flavor that was named. */
const shownFlavorTerms = (id: string, { resource_type, amount, affinity, flavor }: FlavorTerms) => ({
  resource_type,
  vcpus: flavor.vcpus,
  memory_mb: flavor.ram_mb,
  disk_gb: flavor.disk_gb,
  amount,
  affinity,
  resource_properties: JSON.stringify({
    id: flavor.id,
    name: flavor.name,
    ram: flavor.ram_mb,
    disk: flavor.disk_gb,
    swap: flavor.swap_mb === 0 ? '' : flavor.swap_mb,
    'OS-FLV-EXT-DATA:ephemeral': flavor.ephemeral_gb,
    'OS-FLV-DISABLED:disabled': false,
    vcpus: flavor.vcpus,
    'os-flavor-access:is_public': flavor.is_public,
    rxtx_factor: flavor.rxtx_factor,
    extra_specs: flavor.extra_specs,
  }),
  flavor_id: id,
  aggregate_id: null,
  server_group_id: null,
})

const shownReservation = (reservation: Reservation, { fleet }: Known) => ({
  id: reservation.id,
  lease_id: reservation.lease_id,
  // Upstream this is the id of a second row; here there is only the reservation.
  resource_id: reservation.id,
  status: reservation.status,
  missing_resources: reservation.missing_resources,
  resources_changed: reservation.resources_changed,
  ...shownTerms(reservation.id, reservation.terms),
  ...(reservation.terms.resource_type === 'physical:node' && {
    nodes: reservation.nodes.map(one => ({ ...one, name: fleet.withUuid(one.node)?.name ?? null })),
  }),
  ...shownRow(reservation),
})

const shownEvent = (event: LeaseEvent) => ({
  id: event.id,
  lease_id: event.lease_id,
  event_type: event.event_type,
  time: shownDate(event.time),
  status: event.status,
  ...shownRow(event),
})

const shownLease = (lease: Lease, known: Known) => ({
  id: lease.id,
  name: lease.name,
  start_date: shownDate(lease.start_at),
  end_date: shownDate(lease.end_at),
  status: lease.status,
  ...(lease.status_reason !== null && { status_reason: lease.status_reason }),
  degraded: lease.degraded,
  user_id: lease.user_id,
  project_id: lease.project_id,
  // Ours, for people.
  user_name: known.names.user(lease.user_id),
  project_name: known.names.project(lease.project_id),
  trust_id: null,
  ...shownRow(lease),
  reservations: lease.reservations.map(one => shownReservation(one, known)),
  events: lease.events.map(shownEvent),
})

const One = Type.Object({ lease: LeaseShape })

listAllLeases.operation = {
  summary: 'List the leases of the project',
  answers: { 200: Type.Object({ leases: Type.Array(LeaseShape) }) },
} satisfies Operation

export async function listAllLeases({ context, visible }: ReservationRequest): Promise<Answer> {
  const { store } = context
  const keys = await store.read(() => keysOfLeases(visible))
  function* parts() {
    for (const part of inParts(keys)) {
      const ids = part.map(({ id }) => id)
      yield store.read(() => someLeases(ids)).then(leases => seen(context, leases))
    }
  }
  const leases = readInParts(bytesOf(keys), parts(), lease => shownLease(lease, context))
  return { status: 200, body: { leases } }
}

postLease.operation = {
  summary: 'Book instances, hosts or nodes for a time',
  body: [NEW_LEASE],
  answers: { 201: One },
} satisfies Operation

export async function postLease(request: ReservationRequest): Promise<Answer> {
  // Others can't say whose a lease is, and which ids its reservations have: as upstream, that is ignored.
  const mover = request.may('blazar:leases:move', {}) ? request.principal : null
  const wanted = await flavored(request, newLeaseOf(membersIn(request, NEW_LEASE), request.now, mover))
  const lease = await createLease(leaseContext(request), request.principal, wanted)
  return { status: 201, body: { lease: shownLease(lease, request.context) } }
}

showLease.operation = { summary: 'Show a lease', answers: { 200: One } } satisfies Operation

export async function showLease(request: ReservationRequest): Promise<Answer> {
  const { context } = request
  const found = await context.store.read(() => findLease(request.param('id'), request.visible))
  const [lease] = await seen(context, [found])
  return { status: 200, body: { lease: shownLease(lease!, context) } }
}

putLease.operation = {
  summary: 'Change a lease',
  body: [LEASE_CHANGE],
  bodyIsOptional: true,
  answers: { 200: One },
} satisfies Operation

export async function putLease(request: ReservationRequest): Promise<Answer> {
  const change = leaseChangeOf(membersIn(request, LEASE_CHANGE), request.now)
  const changed = await updateLease(leaseContext(request), request.param('id'), request.visible, change)
  const [lease] = await seen(request.context, [changed])
  return { status: 200, body: { lease: shownLease(lease!, request.context) } }
}

deleteOneLease.operation = {
  summary: 'Delete a lease and give back what it has',
  answers: { 204: null },
} satisfies Operation

export async function deleteOneLease(request: ReservationRequest): Promise<Answer> {
  const { user, userName } = request.caller
  await deleteLease(request.context, request.param('id'), request.visible, userName ?? user)
  return { status: 204 }
}
