// What every request needs, built once from the configuration and passed along.
import type { Logger } from 'pino'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Identity } from './identity/identity.ts'
import type { ClaimQueue } from './ledger/claims/queue.ts'
import type { Mirror } from './ledger/mirror.ts'
import type { Drivers } from './metal/drivers/registry.ts'
import type { NodeShelf } from './metal/node-shelf.ts'
import type { Metrics } from './metrics.ts'
import type { Bell } from './store/bell.ts'
import type { Store } from './store/store.ts'

export interface Context {
  readonly config: Config
  readonly store: Store
  /** Who gets in. */
  readonly identity: Identity
  readonly claims: ClaimQueue
  /** The ledger in memory, to search in. */
  readonly mirror: Mirror
  /** How hardware is driven. */
  readonly drivers: Drivers
  /** Nodes that were read already. */
  readonly shelf: NodeShelf
  /** Wakes the conductors. */
  readonly bell: Bell
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}
