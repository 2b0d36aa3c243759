// The tables of compute.
import type { Generated } from 'kysely'

export interface ComputeTables {
  hypervisors: {
    provider_id: number
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
    extra_specs: string
    managed_by: string | null
    created_at: number
  }
  flavor_access: {
    flavor_id: string
    project_id: string
  }
  servers: {
    id: Generated<number>
    uuid: string
    name: string
    project_id: string
    user_id: string
    flavor_id: string
    image_id: string | null
    wish: string
    host_id: number | null
    is_metal: 0 | 1
    status: 'BUILD' | 'ACTIVE' | 'SHUTOFF' | 'VERIFY_RESIZE' | 'ERROR'
    task: 'spawning' | 'migrating' | 'deleting' | 'tearing down' | null
    fault: string | null
    fault_at: number | null
    key_name: string | null
    metadata: string
    reservation_id: string
    launched_at: number | null
    created_at: number
    updated_at: number
  }
  moves: {
    id: Generated<number>
    uuid: string
    server_id: number
    kind: 'migration' | 'resize' | 'live-migration' | 'evacuation'
    status: 'running' | 'finished' | 'done' | 'confirmed' | 'reverted' | 'completed'
    source_id: number | null
    target_id: number | null
    flavor_before: string
    wish_before: string
    status_before: string
    created_at: number
    updated_at: number
  }
}
