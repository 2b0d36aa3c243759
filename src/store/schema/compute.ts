// The tables of compute.
import type { Generated } from 'kysely'
import type { JsonText } from '../../shared/json.ts'
import type { MoveId, ProviderId, ServerId } from './ids.ts'

export interface ComputeTables {
  hypervisors: {
    provider_id: ProviderId
    state: 'up' | 'down'
    status: 'enabled' | 'disabled'
    disabled_reason: string | null
    updated_at: number
  }
  flavors: {
    id: string
    name: string
    vcpus: number
    ram_mb: number
    disk_gb: number
    ephemeral_gb: number
    swap_mb: number
    rxtx_factor: number
    is_public: 0 | 1
    disabled: 0 | 1
    extra_specs: JsonText<Record<string, string>>
    managed_by: string | null
    created_at: number
  }
  flavor_access: {
    flavor_id: string
    project_id: string
  }
  servers: {
    id: Generated<ServerId>
    uuid: string
    name: string
    project_id: string
    user_id: string
    flavor_id: string
    image_id: string | null
    wish: JsonText<Wish>
    host_id: ProviderId | null
    is_metal: 0 | 1
    status: 'BUILD' | 'ACTIVE' | 'SHUTOFF' | 'VERIFY_RESIZE' | 'ERROR'
    task: 'spawning' | 'migrating' | 'deleting' | 'tearing down' | null
    fault: string | null
    fault_at: number | null
    key_name: string | null
    metadata: JsonText<Record<string, string>>
    description: string | null
    /** Sorted. */
    tags: JsonText<string[]>
    /** Its place among the servers of one request. */
    launch_index: number
    /** The network that it asked for, and has no address in. */
    network: string | null
    reservation_id: string
    launched_at: number | null
    created_at: number
    updated_at: number
  }
  moves: {
    id: Generated<MoveId>
    uuid: string
    server_id: ServerId
    kind: 'migration' | 'resize' | 'live-migration' | 'evacuation'
    status: 'running' | 'finished' | 'done' | 'confirmed' | 'reverted' | 'completed'
    source_id: ProviderId | null
    target_id: ProviderId | null
    flavor_before: string
    wish_before: JsonText<Wish>
    status_before: string
    created_at: number
    updated_at: number
  }
}

/** What a server asks of the ledger. */
export interface Wish {
  /** By suffix; '' is the group that may be spread over several providers. */
  groups: Record<string, WishGroup>
  groupPolicy: 'none' | 'isolate' | null
  /** The class of the reservation that a hint named: the server stays in it, whatever its size. */
  hinted?: string
}

export interface WishGroup {
  resources: Record<string, number>
  required: string[]
  forbidden: string[]
}
