// The tables of the ledger.
import type { Generated } from 'kysely'
import type { ConsumerId, ProviderId, ResourceClassId, TraitId } from './ids.ts'

export interface LedgerTables {
  resource_classes: {
    id: Generated<ResourceClassId>
    name: string
    managed_by: string | null
    created_at: number
    updated_at: number | null
  }
  traits: {
    id: Generated<TraitId>
    name: string
    created_at: number
  }
  providers: {
    id: Generated<ProviderId>
    uuid: string
    name: string
    generation: Generated<number>
    revision: Generated<number>
    parent_id: ProviderId | null
    root_id: ProviderId | null
    managed_by: string | null
    dedicated_to: string | null
    created_at: number
    updated_at: number | null
  }
  inventories: {
    provider_id: ProviderId
    class_id: ResourceClassId
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
    provider_id: ProviderId
    trait_id: TraitId
    /** Who gave it: `placement`, or the owner of the provider. */
    origin: Generated<string>
  }
  provider_aggregates: {
    provider_id: ProviderId
    aggregate: string
  }
  consumers: {
    id: Generated<ConsumerId>
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
    consumer_id: ConsumerId
    provider_id: ProviderId
    class_id: ResourceClassId
    used: number
    created_at: number
  }
}
