// What a transaction tells those who keep a copy of the ledger in memory.
import type { ProviderId } from './schema/ids.ts'

/** A provider changed: everything about it is to be read again. */
interface ProviderChange {
  readonly provider: ProviderId
}

/** Only the use of a provider's inventories changed, and this is what it is now. */
export interface UseChange extends ProviderChange {
  readonly revision: number
  readonly generation: number
  readonly uses: readonly (readonly [resourceClass: string, used: number])[]
}

/** Not the provider changed, but what another room keeps for it; this is what that is now, null when it is gone. */
interface AttachedChange extends ProviderChange {
  readonly room: 'metal' | 'leases'
  readonly attached: unknown
}

export type Change = ProviderChange | UseChange | AttachedChange
