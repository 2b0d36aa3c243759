// What the ledger tells the table: providers as absolute rows.
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
  /** The part of Holdfast that owns it; the search doesn't care, those who search may. */
  managedBy?: string | null
  /** The part that alone hands it out, together with something of a child that it manages. */
  dedicatedTo?: string | null
  inventories: InventorySnapshot[]
  traits: string[]
  aggregates: string[]
}

export interface TableBatch {
  puts: readonly ProviderSnapshot[]
  removes: readonly ProviderId[]
}
