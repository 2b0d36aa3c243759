// What leases need of the process that they run in.
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

/** A request's context is one. */
export interface Leasing {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
}
