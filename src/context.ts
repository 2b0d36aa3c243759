// What every request needs, built once from the configuration and passed along.
import type { Logger } from 'pino'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { ClaimQueue } from './ledger/claims/queue.ts'
import type { Mirror } from './ledger/mirror.ts'
import type { Drivers } from './metal/drivers/registry.ts'
import type { Allocator } from './metal/allocator.ts'
import type { Fleet } from './metal/fleet.ts'
import type { NodeShelf } from './metal/node-shelf.ts'
import type { Metrics } from './metrics.ts'
import type { Bell } from './store/bell.ts'
import type { Store } from './store/store.ts'

export interface Context {
  readonly config: Config
  readonly store: Store
  readonly claims: ClaimQueue
  /** The ledger in memory, to search in. */
  readonly mirror: Mirror
  /** The nodes in memory, likewise. */
  readonly fleet: Fleet
  /** Resolves when both know everything that is committed now, in other processes too. */
  readonly catchUp: () => Promise<void>
  /** How hardware is driven. */
  readonly drivers: Drivers
  /** Nodes that were read already. */
  readonly shelf: NodeShelf
  /** Of the conductor in this process; null when there is none. */
  readonly allocator: Allocator | null
  /** Wakes the conductors. */
  readonly bell: Bell
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}
