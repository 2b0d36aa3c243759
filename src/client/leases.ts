// Leases: capacity that is promised for a time to come.
import { ApiError } from './errors.ts'
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
  reservations: Json[]
  events: Json[]
}

export interface NewLease {
  name: string
  /** UTC, as in 2030-01-01 10:00, or the word now. */
  start_date: string
  end_date: string
  before_end_date?: string | undefined
  reservations: readonly Json[]
}

export type LeaseChange = { [Name in keyof NewLease]?: NewLease[Name] | undefined }

/** What would come of a lease that isn't made. */
export interface LeaseExplained extends Json {
  fits: boolean
  /** For each reservation, the slots by name of the host or node. */
  places: Record<string, number>[]
  reasons: { reservation: number; reason: string; count: number; sample: { host: string; detail: string }[] }[]
  /** When all of it would fit. */
  windows: { start_date: string; end_date: string }[]
}

interface One {
  lease: Lease
}

export class Leases {
  readonly #api: Api
  readonly #operator: Api

  constructor(api: Api, operator: Api) {
    this.#api = api
    this.#operator = operator
  }

  async list(): Promise<Lease[]> {
    return (await this.#api.get<{ leases: Lease[] }>('/leases')).leases
  }

  /** By its id, or by its name if only one has it. */
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

  /** Where it would go, or why it doesn't fit and when it would; the name may be left out. */
  explain = (wanted: Omit<NewLease, 'name'> & { name?: string | undefined }) =>
    this.#operator.post<LeaseExplained>('/explain/leases', wanted)
  /** What `delete` would touch; refused as that would be. */
  explainDeletion = (id: string) => this.#operator.get<Touched>(`/explain/deletions/leases/${segment(id)}`)
}
