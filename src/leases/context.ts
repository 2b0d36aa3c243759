// The context that the functions of leases run in, and the settings of leases.
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import type { Fleet } from '../metal/nodes/fleet.ts'
import type { Store } from '../store/store.ts'
import type { CalendarMirror } from './calendar/mirror.ts'
import type { LeaseCompute } from './compute/port.ts'

/** The context of a request has all of these. */
export interface LeaseContext {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly clock: Clock
  readonly log: Logger
  readonly config: LeaseSettings
  /** The hardware drivers, to tear nodes down. */
  readonly drivers: Drivers
  /** Where the servers of leases run. */
  readonly compute: LeaseCompute
  /** The calendar in memory, which proposes places. */
  readonly calendar: CalendarMirror
  /** The caller may see hosts and nodes and their bookings. Other callers see only counts and windows. */
  readonly seesHosts?: boolean
  /** The caller's project, whose leases it may see. */
  readonly project?: string
  /** The nodes in memory: what people call them, and which are not for leases. */
  readonly fleet?: Pick<Fleet, 'withUuid' | 'ofClass'>
  /** How many hosts and nodes may be looked at to find another window. */
  readonly looksMax?: number
}

/** What a lease is given and taken back with. */
export type Means = Pick<LeaseContext, 'drivers' | 'compute'>

/** The operator's settings for leases. A limit of 0 means no limit. */
export interface LeaseSettings {
  readonly leaseBeforeEndMinutes: number
  readonly leaseCleaningMinutes: number
  readonly leaseHealingMinutes: number
  readonly leaseSecondsMax: number
  /** Separated by commas. */
  readonly leaseExemptProjects: string
  readonly leaseHoursMax: number
  readonly leaseServiceUrl: string | null
  readonly leaseServiceToken: string | null
}

export const MINUTE_MS = 60_000
