// What a transaction reports to the copies of the ledger in memory.
import type { ProviderId } from './schema/ids.ts'

/** A provider changed: everything about it must be read again. */
interface ProviderChange {
  readonly provider: ProviderId
}

/** Only the use of a provider's inventories changed; these are the new values. */
export interface UseChange extends ProviderChange {
  readonly revision: number
  readonly generation: number
  readonly uses: readonly (readonly [resourceClass: string, used: number])[]
}

/** The use of a provider's inventories grew or shrank: whoever knows the revision before can follow. */
export interface UseGrowth extends ProviderChange {
  readonly revision: number
  /** By how much the generation grew. */
  readonly bumps: number
  readonly grown: readonly (readonly [resourceClass: string, by: number])[]
}

/** What another room keeps for the provider changed; this is the new value, null when it is gone. */
interface AttachedChange extends ProviderChange {
  readonly room: 'metal' | 'leases'
  readonly attached: unknown
}

/** A provider without owner and parent was made, or parts of one were replaced; these are the new values. */
export interface PartChange extends ProviderChange {
  readonly revision: number
  readonly generation: number
  /** Of the ledger's snapshot of a provider: all of it when the provider is new. */
  readonly parts: object
}

export type Change = ProviderChange | UseChange | UseGrowth | PartChange | AttachedChange
