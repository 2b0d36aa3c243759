// Leases: capacity that is promised for a period of time.
import { ApiError } from './errors.ts'
import type { Events } from './events.ts'
import { type ObjectWait, waitForObject } from './object-wait.ts'
import type { Touched } from './operations.ts'
import { type Api, type Json, segment } from './wire.ts'

export interface Lease extends Json {
  id: string
  name: string
  start_date: string
  end_date: string
  status: string
  /** Why it is still STARTING or TERMINATING. */
  status_reason?: string
  degraded: boolean
  user_id: string
  project_id: string
  /** What they are called. An older server doesn't say. */
  user_name?: string
  project_name?: string
  reservations: Json[]
  events: Json[]
}

export interface NewLease {
  /** A new UUID, for those who must be able to ask what became of a request without an answer. */
  id?: string | undefined
  name: string
  /** UTC, such as `2030-01-01 10:00`, or `now`. */
  start_date: string
  end_date: string
  before_end_date?: string | undefined
  reservations: readonly Json[]
}

export type LeaseChange = { [Name in keyof Omit<NewLease, 'id'>]?: NewLease[Name] | undefined }

/** Why a lease doesn't fit, and when it would. Times are UTC. */
export interface LeaseRefusal {
  reasons: LeaseReason[]
  /** When the whole lease would fit. It may start at any time until `last_start_date`; null: at any later time. */
  windows: { start_date: string; end_date: string; last_start_date: string | null }[]
  /** The latest end with which it would fit from the start that was asked for. */
  until_date: string | null
  /** For each reservation by itself, how many there are then and how many it needs. */
  most: { count: number; of: number }[]
}

export interface LeaseReason {
  reservation: number
  reason: string
  count: number
  sample: LeaseObstacle[]
}

export interface LeaseObstacle {
  host: string
  /** What people call it. */
  name: string
  detail: string
  from: string | null
  until: string | null
  lease: { id: string; name: string; project_id: string; user_id: string } | null
}

/** The result that a lease would have. */
export interface LeaseExplained extends Json, LeaseRefusal {
  fits: boolean
  /** What the refusal of the real one would say. */
  message: string | null
  /** For each reservation, the number of slots by host or node name. */
  places: Record<string, number>[]
}

export interface LeaseWait extends ObjectWait {
  /** `ACTIVE` if it isn't said. */
  until?: 'ACTIVE' | 'TERMINATED' | undefined
}

interface One {
  lease: Lease
}

/** Nothing else comes after these. */
const OVER = new Set(['TERMINATED', 'ERROR'])

export class Leases {
  readonly #api: Api
  readonly #operator: Api
  readonly #events: Events

  constructor(api: Api, operator: Api, events: Events) {
    this.#api = api
    this.#operator = operator
    this.#events = events
  }

  async list(): Promise<Lease[]> {
    return (await this.#api.get<{ leases: Lease[] }>('/leases')).leases
  }

  /** Finds a lease by its id, or by its name if that is unique. */
  async show(lease: string): Promise<Lease> {
    try {
      return (await this.#api.get<One>(`/leases/${segment(lease)}`)).lease
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      const named = (await this.list()).filter(({ name }) => name === lease)
      if (named.length > 1) throw new ApiError(409, `There are ${named.length} leases named ${lease}; use an id.`)
      if (named.length === 0) throw error
      return named[0]!
    }
  }

  async create(wanted: NewLease): Promise<Lease> {
    return (await this.#api.post<One>('/leases', wanted)).lease
  }
  async update(id: string, change: LeaseChange): Promise<Lease> {
    return (await this.#api.put<One>(`/leases/${segment(id)}`, change)).lease
  }
  delete = (id: string) => this.#api.delete(`/leases/${segment(id)}`)

  /** Waits until it has started, or until it is over. One that can't become that any more is a conflict. */
  wait(lease: string, { until = 'ACTIVE', ...wait }: LeaseWait = {}): Promise<Lease> {
    const look = async (signal: AbortSignal) => {
      const seen = await new Leases(this.#api.within(signal), this.#operator, this.#events).show(lease)
      if (seen.status === until) return { done: seen }
      const why = seen.status_reason === undefined ? '' : `: ${seen.status_reason}`
      if (OVER.has(seen.status)) throw new ApiError(409, `lease ${seen.name} is ${seen.status}, not ${until}${why}`)
      return { waitingFor: `lease ${seen.name} is ${seen.status}${why}` }
    }
    return waitForObject(this.#events, `lease/${lease}`, look, wait)
  }

  /** Where the lease would be placed, or why it doesn't fit and when it would. The name is optional. */
  explain = (wanted: Omit<NewLease, 'name'> & { name?: string | undefined }) =>
    this.#operator.post<LeaseExplained>('/explain/leases', wanted)
  /** The same for a change: what `update` would do. */
  explainChange = (id: string, change: LeaseChange) =>
    this.#operator.post<LeaseExplained>('/explain/leases', { ...change, lease: id })
  /** What `delete` would touch; fails if `delete` would fail. */
  explainDeletion = (id: string) => this.#operator.get<Touched>(`/explain/deletions/leases/${segment(id)}`)
}
