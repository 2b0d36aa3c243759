// What the ledger gives to the table: each provider with all its present values, not as a difference.
import type { ProviderId } from '../../store/schema/ids.ts'

export interface InventorySnapshot {
  resourceClass: string
  total: number
  reserved: number
  minUnit: number
  maxUnit: number
  stepSize: number
  allocationRatio: number
  used: number
  blocked: boolean
}

export interface ProviderSnapshot {
  id: ProviderId
  uuid: string
  name: string
  generation: number
  parentId: ProviderId | null
  rootId: ProviderId
  /** The part of Holdfast that owns it, for dedicated.ts and for callers of the search. */
  managedBy?: string | null
  /** The part that alone hands it out, see dedicated.ts. */
  dedicatedTo?: string | null
  inventories: InventorySnapshot[]
  traits: string[]
  /** Those of them that a provider with an owner has from Placement's clients alone. */
  addedTraits?: string[]
  aggregates: string[]
}

/** What of a provider can be replaced by itself. */
export interface SnapshotParts {
  inventories?: readonly InventorySnapshot[] | undefined
  traits?: readonly string[] | undefined
  aggregates?: readonly string[] | undefined
}

export interface TableBatch {
  puts: readonly ProviderSnapshot[]
  removes: readonly ProviderId[]
}
