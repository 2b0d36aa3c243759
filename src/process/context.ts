// The context that every request needs: built once from the configuration and passed along.
import type { Logger } from 'pino'
import type { Action } from '../api/policy.ts'
import type { Entry } from '../audit/entry.ts'
import type { Config } from '../config/config.ts'
import type { Duty } from '../shared/duty.ts'
import type { Publisher } from '../events/publisher.ts'
import type { Streams } from '../http/streams.ts'
import type { Identity } from '../identity/identity.ts'
import type { Names } from '../identity/names.ts'
import type { Policy } from '../identity/policy.ts'
import type { Throttle } from '../identity/throttle.ts'
import type { CalendarMirror } from '../leases/calendar/mirror.ts'
import type { LeaseCompute } from '../leases/compute/port.ts'
import type { Claims } from '../ledger/claims/queue.ts'
import type { Mirror } from '../ledger/mirror.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import type { Consoles } from '../metal/consoles/consoles.ts'
import type { BootIsos } from '../metal/media/boot-isos.ts'
import type { Calls } from '../metal/calls/asking.ts'
import type { Allocator } from '../metal/allocations/allocator.ts'
import type { AllocationRequest, NewAllocation } from '../metal/allocations/rows.ts'
import type { View } from '../metal/access.ts'
import type { MadeHold } from '../metal/holds/hold-batch.ts'
import type { NewHold } from '../metal/holds/lifecycle.ts'
import type { Principal } from '../metal/nodes/provider.ts'
import type { Fleet } from '../metal/nodes/fleet.ts'
import type { NodeReader } from '../metal/nodes/reader.ts'
import type { Census } from '../measure/census.ts'
import type { Metrics } from '../measure/metrics.ts'
import type { SchemaWatch } from '../measure/schema-watch.ts'
import type { NovaClient } from '../nova/client.ts'
import type { SharedClock } from '../clock/shared-clock.ts'
import type { Rate } from '../shared/rate.ts'
import type { Board } from '../status/board.ts'
import type { Pulse } from '../status/pulse.ts'
import type { Feed } from '../store/feed.ts'
import type { Store } from '../store/store.ts'
import type { Carrier } from '../webhooks/carrier.ts'

export interface Context {
  readonly config: Config
  /** Decides who may do what. */
  readonly policy: Policy<Action>
  readonly store: Store
  /** Authenticates callers. */
  readonly identity: Identity
  /** What users and projects are called. */
  readonly names: Names
  /** Limits guessing at the secret URLs of calendars. */
  readonly calendarGuesses: Throttle
  /** Limits what an address asks as the agent of a ramdisk, without a login. */
  readonly agentCalls: Rate
  /** Limits tests of webhooks. */
  readonly webhookTests: Rate
  readonly claims: Claims<Entry>
  /** The ledger in memory, for searches. */
  readonly mirror: Mirror
  /** The nodes in memory, for searches. */
  readonly fleet: Fleet
  /** Resolves when memory has everything that is committed now, also by other processes. */
  readonly catchUp: () => Promise<void>
  /** Hosts and nodes that can be leased, and their bookings, in memory. */
  readonly calendar: CalendarMirror
  /** The hardware drivers. */
  readonly drivers: Drivers
  /** The Nova whose hosts and servers these are; null unless there is one. */
  readonly nova: NovaClient | null
  /** Where the servers of leases run. */
  readonly compute: LeaseCompute
  /** Asks machines, through the conductors. */
  readonly calls: Calls
  /** The serial consoles that are open in this process. */
  readonly consoles: Consoles
  /** The ISOs that this process makes for machines that boot a kernel. */
  readonly bootIsos: BootIsos
  /** Reads nodes for clients. */
  readonly nodes: NodeReader
  /** The allocator of the conductor in this process; null when the process has no conductor. */
  readonly allocator: Allocator | null
  /** Gives out nodes in batches. */
  readonly grants: {
    allocate(wanted: AllocationRequest, who: Principal, entry?: Entry): Promise<NewAllocation | null>
    hold(wanted: NewHold, view: View, who: Principal, entry?: Entry): Promise<MadeHold | null>
  }
  /** Who has what, in memory. */
  readonly board: Board
  /** Keeps the board up to date for those who follow it. */
  readonly pulse: Pulse
  /** Follows the log, for all who listen. */
  readonly publisher: Publisher
  /** The answers that last. */
  readonly streams: Streams
  /** Delivers messages to webhooks. */
  readonly carrier: Carrier
  readonly clock: SharedClock
  /** The background duties of this process. In tests, a request can run them. */
  readonly duties: readonly Duty[]
  /** Follows what other processes commit; null where there are none. */
  readonly feed: Feed | null
  /** Counts in the database. */
  readonly census: Census
  /** Whether the database has all of its schema. */
  readonly schema: SchemaWatch
  /** What the last check of the invariants in this process found. */
  readonly fsckNote: { last: { at: number; violations: number } | null }
  readonly log: Logger
  readonly metrics: Metrics
}
