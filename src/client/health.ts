// How the service is, for operators.
import type { Limit } from './quotas.ts'
import type { Api } from './wire.ts'

export interface Health {
  now: string
  /** Of the server. */
  version: string
  conductors: {
    hostname: string
    group: string
    alive: boolean
    /** Since its last heartbeat. */
    silent_seconds: number
    /** How many nodes it works on. */
    at_work: number
  }[]
  /** What this process took over from conductors that died, since it began. */
  taken_over: { conductors: number; nodes: number; allocations: number }
  database: {
    kind: 'sqlite' | 'postgres'
    version: string
    /** By this process, since it began; transactions (`writes`) share commits. */
    commits: number
    writes: number
    /** Transactions that were started again after a conflict. */
    retries: number
    /** Null on SQLite. */
    pool: { connections: number; idle: number; waiting: number } | null
  }
  /** How this process follows the others; null where it is the only one. */
  feed: { backlog: number; behind_seconds: number } | null
  /** Of this process. */
  duties: {
    name: string
    /** Its last run failed. */
    failing: boolean
    /** Null while it runs; below zero if it is late. */
    next_seconds: number | null
    /** Null while it doesn't run. */
    running_seconds: number | null
  }[]
  /** Events of leases whose time has come and that are not done; null if nobody could count them. */
  late_events: number | null
  audit: { on: boolean; unsealed: number | null }
  /** The last check that this process was asked for. */
  fsck: { at: string; violations: number } | null
  /** Streams that are open. */
  streams: number
  /** Of projects that have limits of their own. */
  quotas: { project: string; name: string; limits: Limit[] }[]
}

export const healthAt = (api: Api) => (): Promise<Health> => api.get<Health>('/health')
