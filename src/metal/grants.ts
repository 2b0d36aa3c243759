// Gives out nodes in batches: requests that come at the same time share a transaction. What a batch can't grant, or
// what needs more than a free node, gets null here and goes the usual way, alone.
import type { Entry } from '../audit/entry.ts'
import type { Witness } from '../audit/witness.ts'
import type { Clock } from '../clock/clock.ts'
import { Batches } from '../shared/batches.ts'
import { limits } from '../shared/limits.ts'
import { GuardFailed, StoreConflict } from '../store/failure.ts'
import type { Store } from '../store/store.ts'
import type { Write } from '../store/transaction.ts'
import { type Asked, grantBatch, isPlain } from './allocations/grant-batch.ts'
import type { Supply } from './allocations/matching.ts'
import type { AllocationRequest, NewAllocation } from './allocations/rows.ts'
import { type AskedHold, holdBatch, type MadeHold } from './holds/hold-batch.ts'
import type { NewHold } from './holds/lifecycle.ts'
import type { View } from './access.ts'
import type { Drivers } from './drivers/registry.ts'
import type { Principal } from './nodes/provider.ts'

interface GrantsOptions {
  store: Store
  clock: Clock
  supply: Supply
  drivers: Drivers
  /** The conductor of this process; null when it has none, and then others give nodes to allocations. */
  conductor: { readonly affinity: string; readonly witness: Witness } | null
}

export class Grants {
  readonly #options: GrantsOptions
  readonly #allocations: Batches<Asked, NewAllocation | null>
  readonly #holds: Batches<AskedHold, MadeHold | null>

  constructor(options: GrantsOptions) {
    this.#options = options
    this.#holds = new Batches(batch => this.#hold(batch))
    this.#allocations = new Batches(batch => this.#allocate(batch))
  }

  /** The new allocation, which has its node; null if the usual way has to decide. */
  async allocate(wanted: AllocationRequest, who: Principal, entry?: Entry): Promise<NewAllocation | null> {
    return this.#options.conductor && entry && isPlain(wanted) ? this.#allocations.submit({ wanted, who, entry }) : null
  }

  /** The new hold; null if the usual way has to decide. */
  async hold(wanted: NewHold, view: View, who: Principal, entry?: Entry): Promise<MadeHold | null> {
    return entry ? this.#holds.submit({ wanted, view, who, entry }) : null
  }

  #hold(batch: readonly AskedHold[]): Promise<readonly (MadeHold | null)[]> {
    const { clock, supply } = this.#options
    return this.#granted(batch, () => holdBatch(batch, supply, clock.now()))
  }

  #allocate(batch: readonly Asked[]): Promise<readonly (NewAllocation | null)[]> {
    const { clock, supply, drivers, conductor } = this.#options
    return this.#granted(batch, () => {
      const { affinity, witness } = conductor!
      const place = { supply, drivers, affinity, witness, seed: clock.newSeed() }
      return grantBatch(batch, place, clock.now())
    })
  }

  /** Commits the batch. Grants nothing if someone is in the way: alone, each finds out who. */
  async #granted<T>(batch: readonly unknown[], work: () => Write<(T | null)[]>): Promise<(T | null)[]> {
    try {
      return await this.#options.store.write(work, { lockWaitMs: limits.claimLockMs })
    } catch (error) {
      if (!(error instanceof StoreConflict) && !(error instanceof GuardFailed)) throw error
      return batch.map(() => null)
    }
  }
}
