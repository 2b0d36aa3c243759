// The tables of bare metal.
import type { Generated } from 'kysely'
import type { NodeColumns } from '../../shared/node-fields.ts'

export interface MetalTables {
  chassis: {
    id: Generated<number>
    uuid: string
    description: string | null
    extra: string
    created_at: number
    updated_at: number | null
  }
  conductors: {
    id: Generated<number>
    hostname: string
    incarnation: string
    conductor_group: string
    drivers: string
    online: 0 | 1
    registered_at: number
    heartbeat_at: number
  }
  nodes: NodeTable
  allocations: {
    id: Generated<number>
    uuid: string
    name: string | null
    node_id: number | null
    resource_class: string
    traits: string
    candidate_nodes: string
    extra: string
    owner: string | null
    project_id: string
    user_id: string
    state: 'allocating' | 'active' | 'error'
    last_error: string | null
    reasons: string | null
    conductor_affinity: string
    wait_until: number | null
    expires_at: number | null
    created_at: number
    updated_at: number | null
    /** The request that asked for it. */
    request_id: string | null
  }
  reservations: {
    id: Generated<number>
    uuid: string
    node_id: number
    instance_uuid: string
    owner: string | null
    /** For whom the ledger has it; null where that was not written down yet. */
    project_id: string | null
    expires_at: number
    created_at: number
    updated_at: number | null
  }
  ports: {
    id: Generated<number>
    uuid: string
    node_id: number
    portgroup_id: number | null
    address: string
    name: string | null
    pxe_enabled: 0 | 1
    is_smartnic: 0 | 1
    physical_network: string | null
    local_link_connection: string
    internal_info: string
    extra: string
    created_at: number
    updated_at: number | null
  }
  portgroups: {
    id: Generated<number>
    uuid: string
    node_id: number
    name: string | null
    address: string | null
    mode: string
    standalone_ports_supported: 0 | 1
    properties: string
    extra: string
    created_at: number
    updated_at: number | null
  }
}

/** Besides the fields that clients see. The JSON columns are text: most of them pass through unread. */
interface NodeTable extends NodeColumns {
  id: Generated<number>
  provider_id: number
  chassis_id: number | null
  placement_class: string
  interfaces: string
  transition: string | null
  due_at: number | null
  lock_incarnation: string | null
  lock_term: number
  leasable: 0 | 1
  pledged_at: number | null
  leased_to: string | null
  lessee_before: string | null
  leftover: 0 | 1
  revision: number
}
