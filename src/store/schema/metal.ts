// The tables of bare metal.
import type { Generated } from 'kysely'
import type { Json, JsonText } from '../../shared/json.ts'
import type { NodeColumns } from '../../shared/node-fields.ts'
import type { HistoryType } from '../node-history.ts'
import type {
  AllocationId,
  CallId,
  ChassisId,
  DeployTemplateId,
  NodeId,
  PortgroupId,
  PortId,
  ProviderId,
  VolumeConnectorId,
  VolumeTargetId,
} from './ids.ts'
import type { PowerState, State } from './states.ts'

export interface MetalTables {
  chassis: {
    id: Generated<ChassisId>
    uuid: string
    description: string | null
    extra: JsonText<Json>
    created_at: number
    updated_at: number | null
  }
  conductors: {
    id: Generated<number>
    hostname: string
    incarnation: string
    conductor_group: string
    drivers: JsonText<readonly string[]>
    online: 0 | 1
    registered_at: number
    heartbeat_at: number
  }
  nodes: NodeTable
  allocations: {
    id: Generated<AllocationId>
    uuid: string
    name: string | null
    node_id: NodeId | null
    resource_class: string
    traits: JsonText<readonly string[]>
    candidate_nodes: JsonText<readonly string[]>
    extra: JsonText<Json>
    owner: string | null
    project_id: string
    user_id: string
    state: 'allocating' | 'active' | 'error'
    last_error: string | null
    reasons: JsonText<object> | null
    conductor_affinity: string
    wait_until: number | null
    expires_at: number | null
    created_at: number
    updated_at: number | null
    /** The request that asked for it. */
    request_id: string | null
    /** Whose command runs on the node, and the proof of it: `alice@laptop/Zk3…`. */
    keeper: string | null
    /** Until when a lease's allocation is kept; others are kept until expires_at. */
    kept_until: number | null
    /** When the keeper means to be done. Nothing happens then. */
    planned_end: number | null
    /** Who asked for the end of a kept allocation, when and why. */
    ending_by: string | null
    ending_at: number | null
    ending_message: string | null
    /** Since when it has its node; null too where an older version of ours gave it. */
    started_at: number | null
    /** Since when it looks for a node again, after an error. */
    retried_at: number | null
    /** What people write about it, for others to read. */
    note: string | null
    /** Since when the holder knows of the end; null since it was asked for. */
    end_known_at: number | null
  }
  reservations: {
    id: Generated<number>
    uuid: string
    node_id: NodeId
    instance_uuid: string
    owner: string | null
    /** The project of its claim in the ledger; null where that was not recorded yet. */
    project_id: string | null
    expires_at: number
    created_at: number
    updated_at: number | null
  }
  ports: {
    id: Generated<PortId>
    uuid: string
    node_id: NodeId
    portgroup_id: PortgroupId | null
    address: string
    name: string | null
    pxe_enabled: 0 | 1
    is_smartnic: 0 | 1
    physical_network: string | null
    local_link_connection: JsonText<Json>
    internal_info: JsonText<Json>
    extra: JsonText<Json>
    created_at: number
    updated_at: number | null
  }
  /** What became of a node, for people; kept longer than the log, by number and age. */
  node_history: {
    id: Generated<number>
    uuid: string
    node_id: NodeId
    at: number
    severity: 'info' | 'error'
    type: HistoryType
    event: string
    /** What a program of the operator's printed. */
    output: string | null
    user_id: string | null
    conductor: string | null
    /** The project that the user acted for. */
    project_id: string | null
    /** Names, for the project in details_of and for those who see everything. */
    details: string | null
    details_of: string | null
  }
  /** Large facts about a node, which its row doesn't carry. */
  node_documents: {
    node_id: NodeId
    kind: 'inventory' | 'bios'
    document: JsonText<object>
    updated_at: number
  }
  /** A question to a machine: any process asks, a conductor with its driver answers. */
  calls: {
    id: Generated<CallId>
    node_id: NodeId
    question: string
    args: JsonText<object>
    /** What the asker may wait for, by the database's clock; then the row is swept. */
    expires_at: number
    /** Who answers it. */
    incarnation: string | null
    answered_at: number | null
    answer: JsonText<object> | null
    failure: string | null
  }
  deploy_templates: {
    id: Generated<DeployTemplateId>
    uuid: string
    name: string
    steps: JsonText<readonly Json[]>
    extra: JsonText<Json>
    created_at: number
    updated_at: number | null
  }
  volume_connectors: {
    id: Generated<VolumeConnectorId>
    uuid: string
    node_id: NodeId
    type: string
    connector_id: string
    extra: JsonText<Json>
    created_at: number
    updated_at: number | null
  }
  volume_targets: {
    id: Generated<VolumeTargetId>
    uuid: string
    node_id: NodeId
    volume_type: string
    volume_id: string
    boot_index: number
    properties: JsonText<Json>
    extra: JsonText<Json>
    created_at: number
    updated_at: number | null
  }
  portgroups: {
    id: Generated<PortgroupId>
    uuid: string
    node_id: NodeId
    name: string | null
    address: string | null
    mode: string
    standalone_ports_supported: 0 | 1
    properties: JsonText<Json>
    extra: JsonText<Json>
    created_at: number
    updated_at: number | null
  }
}

/** The fields that clients see, and columns of our own. JSON columns are text: most of them are never parsed. */
interface NodeTable extends Omit<NodeColumns, keyof NodeStates>, NodeStates {
  id: Generated<NodeId>
  provider_id: ProviderId
  chassis_id: ChassisId | null
  placement_class: string
  interfaces: JsonText<Record<string, string>>
  transition: JsonText<object> | null
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

/** Columns whose values are a closed list. */
interface NodeStates {
  provision_state: State
  target_provision_state: State | null
  power_state: PowerState | null
  target_power_state: PowerState | null
}
