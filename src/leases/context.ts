// What leases need of the process that they run in.
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
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

/** What operators set about leases. Where a limit is 0 there is none. */
export interface LeaseSettings {
  readonly leaseBeforeEndMinutes: number
  readonly leaseCleaningMinutes: number
  readonly leaseHealingMinutes: number
  readonly leaseSecondsMax: number
  /** With commas between them. */
  readonly leaseExemptProjects: string
  readonly leaseHoursMax: number
  readonly leaseServiceUrl: string | null
  readonly leaseServiceToken: string | null
}

export const MINUTE_MS = 60_000
