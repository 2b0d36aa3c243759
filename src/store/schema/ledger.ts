// The tables of the ledger.
import type { Generated } from 'kysely'

export interface LedgerTables {
  resource_classes: {
    id: Generated<number>
    name: string
    managed_by: string | null
    created_at: number
    updated_at: number | null
  }
  traits: {
    id: Generated<number>
    name: string
    created_at: number
  }
  providers: {
    id: Generated<number>
    uuid: string
    name: string
    generation: Generated<number>
    revision: Generated<number>
    parent_id: number | null
    root_id: number | null
    managed_by: string | null
    dedicated_to: string | null
    created_at: number
    updated_at: number | null
  }
  inventories: {
    provider_id: number
    class_id: number
    total: number
    reserved: number
    min_unit: number
    max_unit: number
    step_size: number
    allocation_ratio: number
    capacity: number
    used: Generated<number>
    ceiling: number
    blocked: Generated<0 | 1>
    created_at: number
    updated_at: number | null
  }
  provider_traits: {
    provider_id: number
    trait_id: number
  }
  provider_aggregates: {
    provider_id: number
    aggregate: string
  }
  consumers: {
    id: Generated<number>
    uuid: string
    project_id: string
    user_id: string
    type: string | null
    generation: number
    managed_by: string | null
    expires_at: number | null
    created_at: number
    updated_at: number | null
  }
  claims: {
    consumer_id: number
    provider_id: number
    class_id: number
    used: number
    created_at: number
  }
}
