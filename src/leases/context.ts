// What leases need of the process that they run in.
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import type { Bell } from '../store/bell.ts'
import type { Store } from '../store/store.ts'
import type { CalendarMirror } from './calendar/mirror.ts'

/** A request's context is one. */
export interface LeaseContext {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly bell: Pick<Bell, 'ring'>
  readonly config: LeaseSettings
  /** How nodes are torn down. */
  readonly drivers: Drivers
  /** The calendar in memory, to choose from. */
  readonly calendar: CalendarMirror
  /** Whoever asks may see single hosts and nodes, and what is booked on them; others hear of numbers and windows only. */
  readonly seesHosts?: boolean
}

export type LeaseSettings = Pick<
  Config,
  | 'leaseBeforeEndMinutes'
  | 'leaseCleaningMinutes'
  | 'leaseHealingMinutes'
  | 'leaseSecondsMax'
  | 'leaseExemptProjects'
  | 'leaseHoursMax'
  | 'leaseServiceUrl'
  | 'leaseServiceToken'
>

export const MINUTE_MS = 60_000
