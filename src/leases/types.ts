// The types of leases. Times are milliseconds since 1970.
import type { NovaHypervisor } from '../nova/port.ts'
import type { Schema } from '../store/schema.ts'
import type { FlavorTerms, HostTerms, InstanceTerms, NodeTerms, Terms } from '../store/schema/leases.ts'

export type { FlavorTerms, HostTerms, InstanceTerms, NodeTerms, Terms } from '../store/schema/leases.ts'

export type LeaseStatus = Schema['leases']['status']
export type ReservationStatus = Schema['lease_reservations']['status']
export type EventType = Schema['lease_events']['event_type']
export type EventStatus = 'UNDONE' | 'IN_PROGRESS' | 'DONE'

export interface Reservation {
  id: string
  lease_id: string
  status: ReservationStatus
  terms: Terms
  /** Some of the booked resources were lost, and there was no replacement. */
  missing_resources: boolean
  /** Some of the resources in use were lost and replaced. */
  resources_changed: boolean
  /** For a node reservation: the booked nodes, and the uuids of their allocations once they are given. */
  nodes: readonly { node: string; allocation: string | null }[]
  created_at: number
  updated_at: number | null
}

export interface LeaseEvent {
  id: string
  lease_id: string
  event_type: EventType
  time: number
  status: EventStatus
  created_at: number
  updated_at: number | null
}

export interface Lease {
  id: string
  name: string
  user_id: string
  project_id: string
  start_at: number
  end_at: number
  status: LeaseStatus
  /** Why it is still STARTING or TERMINATING; null when unknown or in another status. */
  status_reason: string | null
  degraded: boolean
  reservations: readonly Reservation[]
  events: readonly LeaseEvent[]
  created_at: number
  updated_at: number | null
}

export interface NewLease {
  /** Chosen by the client, so that a lost answer can be asked for; null for a new one. */
  id: string | null
  name: string
  /** Whose it is, if not the caller's: operators bring leases from another service. */
  owner?: { project: string; user: string } | null
  /** The ids of its reservations, in their order; null or absent for new ones. */
  reservation_ids?: readonly (string | null)[]
  /** `now` in a request means the start of the current minute. */
  start_at: number
  end_at: number
  /** null or absent: the configured time before the end. */
  before_end_at?: number | null
  reservations: readonly Terms[]
}

/** Reservations of a number of instances, each in a slot of its own. */
export const isOfInstances = (terms: Terms): terms is InstanceTerms | FlavorTerms =>
  terms.resource_type === 'virtual:instance' || terms.resource_type === 'flavor:instance'

/** What a client says of a reservation by a flavor. The rest is read from the flavor. */
export type FlavorAsked = Pick<FlavorTerms, 'resource_type' | 'flavor_id' | 'amount' | 'affinity'>

/** A new lease before its flavors are looked up. */
export type AskedLease = Omit<NewLease, 'reservations'> & {
  reservations: readonly (Exclude<Terms, FlavorTerms> | FlavorAsked)[]
}

/** The terms to change; absent ones stay. A resource_type must be the present one. */
export type TermsChange = { id: string; resource_type?: string; flavor_id?: string } & Partial<
  Omit<InstanceTerms, 'resource_type'> & Omit<HostTerms, 'resource_type'> & Omit<NodeTerms, 'resource_type'>
>

/** The fields that a request may change; absent ones stay. */
export interface LeaseChange {
  name?: string
  start_at?: number
  end_at?: number
  before_end_at?: number | null
  reservations?: readonly TermsChange[]
}

/** A compute host that can be booked. */
export interface Host {
  /** The decimal number of the hypervisor. */
  id: string
  hypervisor_hostname: string
  service_name: string
  vcpus: number
  memory_mb: number
  local_gb: number
  cpu_info: string
  hypervisor_type: string
  hypervisor_version: number
  availability_zone: string
  reservable: boolean
  /** Properties that the operator gave it. */
  capabilities: Readonly<Record<string, string>>
  created_at: number
  updated_at: number | null
}

export interface NewHost {
  /** The name of the hypervisor, or its decimal number. */
  name: string
  /** The hypervisor as Nova knows it; absent with our own compute. */
  seen?: SeenHypervisor
  capabilities: Readonly<Record<string, string>>
}

/** A hypervisor of Nova, and when Nova was asked. */
export interface SeenHypervisor extends NovaHypervisor {
  seenAt: number
}

/** The bookings on one host, one element for each slot. */
export interface HostAllocation {
  host: string
  reservations: readonly { id: string; lease_id: string; start_at: number; end_at: number }[]
}

export interface HostProperty {
  id: string
  name: string
  is_private: boolean
  /** The values that hosts have, in order. */
  values: readonly string[]
  created_at: number
  updated_at: number | null
}
