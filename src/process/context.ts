// What every request needs, built once from the configuration and passed along.
import type { Logger } from 'pino'
import type { Action } from '../api/policy.ts'
import type { Entry } from '../audit/entry.ts'
import type { Config } from '../config/config.ts'
import type { Duty } from '../shared/duty.ts'
import type { Identity } from '../identity/identity.ts'
import type { Policy } from '../identity/policy.ts'
import type { CalendarMirror } from '../leases/calendar/mirror.ts'
import type { Claims } from '../ledger/claims/queue.ts'
import type { Mirror } from '../ledger/mirror.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import type { Allocator } from '../metal/allocations/allocator.ts'
import type { Fleet } from '../metal/nodes/fleet.ts'
import type { NodeShelf } from '../metal/nodes/shelf.ts'
import type { Metrics } from '../measure/metrics.ts'
import type { SharedClock } from '../clock/shared-clock.ts'
import type { Bell } from '../store/bell.ts'
import type { Store } from '../store/store.ts'

export interface Context {
  readonly config: Config
  /** Who may do what. */
  readonly policy: Policy<Action>
  readonly store: Store
  /** Who gets in. */
  readonly identity: Identity
  readonly claims: Claims<Entry>
  /** The ledger in memory, to search in. */
  readonly mirror: Mirror
  /** The nodes in memory, likewise. */
  readonly fleet: Fleet
  /** Resolves when both know everything that is committed now, in other processes too. */
  readonly catchUp: () => Promise<void>
  /** What can be leased and is booked, in memory, to choose from. */
  readonly calendar: CalendarMirror
  /** How hardware is driven. */
  readonly drivers: Drivers
  /** Nodes that were read already. */
  readonly shelf: NodeShelf
  /** Of the conductor in this process; null when there is none. */
  readonly allocator: Allocator | null
  /** Wakes the conductors. */
  readonly bell: Bell
  readonly clock: SharedClock
  /** The work behind the APIs that this process does, or in tests can be made to do. */
  readonly duties: readonly Duty[]
  readonly log: Logger
  readonly metrics: Metrics
}
