// The tables of leases.
import type { Generated } from 'kysely'
import type { JsonText } from '../../shared/json.ts'
import type { ProviderId } from './ids.ts'

export interface LeaseTables {
  leasables: {
    provider_id: ProviderId
    kind: 'host' | 'node'
    name: string
    reservation_provider: string | null
    reservable: 0 | 1
    version: Generated<number>
    vcpus_ceiling: number
    memory_mb_ceiling: number
    disk_gb_ceiling: number
    /** For the classes that bookings take beside these; null when there are none. */
    extras_ceiling: Generated<JsonText<Extras> | null>
    created_at: number
    updated_at: number | null
  }
  host_capabilities: {
    provider_id: ProviderId
    name: string
    value: string
  }
  host_properties: {
    name: string
    id: string
    is_private: 0 | 1
    created_at: number
    updated_at: number | null
  }
  leases: {
    id: string
    name: string
    project_id: string
    user_id: string
    start_at: number
    end_at: number
    status: 'PENDING' | 'STARTING' | 'ACTIVE' | 'TERMINATING' | 'TERMINATED'
    /** Why it is still STARTING or TERMINATING. */
    status_reason: string | null
    degraded: 0 | 1
    is_deleted: Generated<0 | 1>
    created_at: number
    updated_at: number | null
  }
  lease_reservations: {
    id: string
    lease_id: string
    position: number
    resource_type: Terms['resource_type']
    status: 'pending' | 'active' | 'deleted'
    terms: JsonText<Terms>
    missing_resources: 0 | 1
    resources_changed: 0 | 1
    created_at: number
    updated_at: number | null
  }
  lease_events: {
    id: string
    lease_id: string
    event_type: 'start_lease' | 'before_end_lease' | 'end_lease'
    time: number
    due_at: number | null
    attempts: Generated<number>
    created_at: number
    updated_at: number | null
  }
  bookings: {
    reservation_id: string
    provider_id: ProviderId
    lease_id: string
    slots: number
    is_whole: 0 | 1
    vcpus: number
    memory_mb: number
    disk_gb: number
    start_at: number
    end_at: number
    free_at: number
    allocation: string | null
    /** What it takes beside vcpus, memory and disk; null when that is nothing. */
    extras: JsonText<Extras> | null
  }
  nova_work: {
    reservation_id: string
    lease_id: string
    /** Grows with each change, so that work for an older wish doesn't count as done. */
    version: Generated<number>
    /** null: Nova has what it should have. */
    due_at: number | null
    /** Until when someone works on it. */
    taken_until: number | null
    /** Rounds of this version that Nova answered, and that left something to wait for. */
    attempts: Generated<number>
    /** Tries that failed, one after the other. */
    failures: Generated<number>
    /** What is wrong since the last try. */
    error: string | null
    created_at: number
    updated_at: number
  }
  test_clock: {
    one: number
    ahead_ms: number
  }
}

/** Amounts of resource classes, by name. */
export type Extras = Readonly<Record<string, number>>

/** What was asked for, kept as it was sent, and shown again. */
export interface InstanceTerms {
  resource_type: 'virtual:instance'
  vcpus: number
  memory_mb: number
  disk_gb: number
  amount: number
  /** null: anywhere; true: all on one host; false: each on another host. */
  affinity: boolean | null
  resource_properties: string
}

/** A flavor as it was when it was booked: what becomes of it later changes nothing. */
export interface SourceFlavor {
  id: string
  name: string
  vcpus: number
  ram_mb: number
  disk_gb: number
  ephemeral_gb: number
  swap_mb: number
  rxtx_factor: number
  is_public: boolean
  extra_specs: Readonly<Record<string, string>>
}

/** What a server of a flavor takes of its host, and which hosts will do. */
export interface FlavorNeeds {
  size: { vcpus: number; memory_mb: number; disk_gb: number; extras?: Extras }
  required: readonly string[]
  forbidden: readonly string[]
}

export interface FlavorTerms {
  resource_type: 'flavor:instance'
  /** The id of the flavor that was named. */
  flavor_id: string
  amount: number
  affinity: boolean | null
  flavor: SourceFlavor
  needs: FlavorNeeds
}

export interface HostTerms {
  resource_type: 'physical:host'
  min: number
  max: number
  hypervisor_properties: string
  resource_properties: string
  before_end: '' | 'snapshot' | 'default'
}

export interface NodeTerms {
  resource_type: 'physical:node'
  min: number
  max: number
  resource_class: string
  traits: readonly string[]
  /** The uuids of the nodes that it may get; absent: any. */
  candidate_nodes?: readonly string[]
}

export type Terms = InstanceTerms | FlavorTerms | HostTerms | NodeTerms
