// Makes appointments of leases and allocations: pure, from what is stored, so that every process shows the same.
import type { StoredLease } from '../leases/lifecycle/rows.ts'
import type { Reservation } from '../leases/types.ts'
import type { Allocation } from '../metal/allocations/rows.ts'
import { limits } from '../shared/limits.ts'
import type { Appointment } from './icalendar.ts'

/** A node of a lease or an allocation. */
interface ShownNode {
  uuid: string
  name: string | null
  description: string | null
  updated_at: number | null
  /** Whether the reader may see more of it than its uuid, which the lease or allocation shows. */
  isSeen: boolean
}

export type NodeWithUuid = (uuid: string) => ShownNode | undefined

export function appointmentOfLease(lease: StoredLease, nodeWith: NodeWithUuid): Appointment {
  const nodes = lease.reservations.flatMap(one => one.nodes).flatMap(({ node }) => nodeWith(node) ?? [])
  return {
    uid: `lease-${lease.id}@holdfast`,
    ...changesOf(lease, [...lease.reservations, ...nodes]),
    startAt: lease.start_at,
    endAt: lease.end_at,
    status: lease.is_deleted ? 'CANCELLED' : 'CONFIRMED',
    summary: `${lease.name}: ${namesOf(nodes) ?? listed(lease.reservations.map(bookedIn), SUMMARY_MAX)}`,
    description: [
      `Lease ${lease.id}, ${lease.is_deleted ? 'deleted' : lease.status}`,
      `Booked: ${lease.reservations.map(bookedInFull).join('; ')}`,
      ...linesOf(nodes),
      ...(lease.degraded ? ['Degraded: some of it was lost'] : []),
      `Project ${lease.project_id}, user ${lease.user_id}`,
      `To end it: holdfast lease delete ${lease.id}`,
      `To have it longer: holdfast lease update ${lease.id} --prolong-for 1h`,
    ].join('\n'),
    location: placeOf(nodes),
  }
}

/** Only of an allocation that ends. */
export function appointmentOfAllocation(allocation: Allocation, nodeWith: NodeWithUuid): Appointment {
  const { uuid, resource_class, state, node_uuid } = allocation
  const node = node_uuid === null ? undefined : nodeWith(node_uuid)
  const nodes = node ? [node] : []
  const what = state === 'active' ? `a node of class ${resource_class}` : `waits for a node of class ${resource_class}`
  return {
    uid: `allocation-${uuid}@holdfast`,
    ...changesOf(allocation, nodes),
    startAt: allocation.created_at,
    endAt: allocation.expires_at!,
    status: state === 'active' ? 'CONFIRMED' : 'TENTATIVE',
    summary: `${allocation.name ?? 'Allocation'}: ${namesOf(nodes) ?? what}`,
    description: [
      `Allocation ${uuid}, ${state}`,
      `Class ${resource_class}`,
      ...linesOf(nodes),
      `Project ${allocation.project_id}, user ${allocation.user_id}`,
      `To end it: holdfast allocation delete ${uuid}`,
      `To have it longer: holdfast allocation renew ${uuid} --expires-at 2h`,
    ].join('\n'),
    location: placeOf(nodes),
  }
}

interface Dated {
  created_at: number
  updated_at: number | null
}

/**
 * When what is shown was changed last, and the number of that change. A node that is renamed changes what is shown of its
 * lease, so the nodes' times count too. The number never falls: whatever takes a node away from a lease changes the
 * lease as well, and later than the node was changed.
 */
function changesOf({ created_at, updated_at }: Dated, parts: readonly Pick<Dated, 'updated_at'>[]) {
  const changedAt = Math.max(created_at, updated_at ?? 0, ...parts.map(one => one.updated_at ?? 0))
  const isNew = updated_at === null && changedAt === created_at
  const sequence = isNew ? 0 : 1 + Math.floor((changedAt - created_at) / SEQUENCE_MS)
  return { createdAt: created_at, changedAt, sequence: Math.min(sequence, SEQUENCE_MAX) }
}

/** Programs keep the number in 32 bits; counted in tenths of seconds that is enough for six years of changes. */
const SEQUENCE_MS = 100
const SEQUENCE_MAX = 2 ** 31 - 1

const SUMMARY_MAX = 5

function bookedIn({ terms }: Reservation): string {
  switch (terms.resource_type) {
    case 'physical:node':
      return `${countOf(terms.min, terms.max, 'node')} of class ${terms.resource_class}`
    case 'physical:host':
      return countOf(terms.min, terms.max, 'host')
    default:
      return countOf(terms.amount, terms.amount, 'instance')
  }
}

function bookedInFull(reservation: Reservation): string {
  const { terms } = reservation
  if (terms.resource_type === 'flavor:instance') return `${bookedIn(reservation)} of flavor ${terms.flavor.name}`
  const size =
    terms.resource_type === 'virtual:instance'
      ? ` of ${terms.vcpus} VCPU, ${terms.memory_mb} MB of memory and ${terms.disk_gb} GB of disk`
      : ''
  return bookedIn(reservation) + size
}

const countOf = (min: number, max: number, what: string) =>
  `${min === max ? min : `${min} to ${max}`} ${what}${max === 1 ? '' : 's'}`

/** The names of the nodes; null if there are none, or some that the reader doesn't see. */
const namesOf = (nodes: readonly ShownNode[]) =>
  nodes.length > 0 && nodes.every(({ isSeen }) => isSeen)
    ? listed(
        nodes.map(({ name, uuid }) => name ?? uuid),
        SUMMARY_MAX,
      )
    : null

function linesOf(nodes: readonly ShownNode[]): string[] {
  const words = nodes.map(({ name, uuid, isSeen }) => (isSeen && name !== null ? `${name} (${uuid})` : uuid))
  return nodes.length === 0 ? [] : [`Nodes: ${listed(words, limits.calendarNodesShown)}`]
}

const listed = (words: readonly string[], max: number) =>
  words.length <= max ? words.join(', ') : `${words.slice(0, max).join(', ')} and ${words.length - max} more`

/** Where its only node is, as far as its description says. */
function placeOf([node, ...others]: readonly ShownNode[]): string | null {
  if (!node?.isSeen || others.length > 0 || !node.description) return null
  return node.description.slice(0, limits.calendarPlaceCharsMax)
}
