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

/** What another room keeps for the provider changed; this is the new value, null when it is gone. */
interface AttachedChange extends ProviderChange {
  readonly room: 'metal' | 'leases'
  readonly attached: unknown
}

export type Change = ProviderChange | UseChange | AttachedChange
