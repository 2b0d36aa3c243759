// Allocations: a node of some class, with some traits, whichever it is.
import type { Touched } from './operations.ts'
import { type Api, type Json, type Query, segment } from './wire.ts'

export interface Allocation extends Json {
  uuid: string
  name: string | null
  state: 'allocating' | 'active' | 'error'
  node_uuid: string | null
  resource_class: string
  traits: string[]
  last_error: string | null
  expires_at: string | null
  wait_until: string | null
}

export interface NewAllocation {
  uuid?: string | undefined
  name?: string | undefined
  resource_class?: string | undefined
  traits?: readonly string[] | undefined
  candidate_nodes?: readonly string[] | undefined
  owner?: string | undefined
  extra?: Json | undefined
  /** A node that is deployed already, to be written down as allocated. */
  node?: string | undefined
  /** An instant, or how long from now: 90s, 10m, 2h. */
  expires_at?: string | undefined
  /** How long it may wait for a node while there is none; written likewise. */
  wait_until?: string | undefined
}

interface Cause {
  cause: string
  count: number
  traits?: string[]
  sample: { uuid: string; name: string | null }[]
}

/** Why there is no node. */
export interface Reasons {
  at: string
  resource_class: string
  considered: number
  available: number
  causes: Cause[]
  relaxations: { without: { traits?: string[]; candidate_nodes?: true }; nodes: number }[]
}

export interface AllocationExplained {
  allocation: Allocation
  state: Allocation['state']
  /** As it was when it was decided. */
  decided: Reasons | null
  now: Reasons
}

/** What would come of an allocation that isn't made. */
export interface Forecast {
  fits: boolean
  /** How many nodes would do; `nodes` are some of them. */
  count: number
  nodes: { uuid: string; name: string | null }[]
  /** How many that would do go to those who wait already. */
  promised: number
  /** Not there for a node that was named. */
  reasons?: Reasons
}

interface AllocationFilter {
  where?: Query
  fields?: readonly string[] | undefined
  limit?: number | undefined
}

export class Allocations {
  readonly #api: Api
  readonly #operator: Api

  constructor(api: Api, operator: Api) {
    this.#api = api
    this.#operator = operator
  }

  list = ({ where = {}, fields, limit }: AllocationFilter = {}) =>
    this.#api.all<Allocation>('/allocations', 'allocations', { ...where, fields: fields?.join(',') }, limit)
  show = (allocation: string, fields?: readonly string[]) =>
    this.#api.get<Allocation>(`/allocations/${segment(allocation)}`, { fields: fields?.join(',') })
  create = (wanted: NewAllocation) => this.#api.post<Allocation>('/allocations', wanted)
  renew = (allocation: string, expiresAt: string) =>
    this.#api.patch<Allocation>(`/allocations/${segment(allocation)}`, [
      { op: 'add', path: '/expires_at', value: expiresAt },
    ])
  delete = (allocation: string) => this.#api.delete(`/allocations/${segment(allocation)}`)
  retry = (allocation: string, waitUntil?: string) =>
    this.#operator.post<Allocation>(
      `/allocations/${segment(allocation)}/retry`,
      waitUntil === undefined ? {} : { wait_until: waitUntil },
    )
  explain = (allocation: string) =>
    this.#operator.get<AllocationExplained>(`/explain/allocations/${segment(allocation)}`)
  /** What `create` would come to now; nothing is made. */
  forecast = (wanted: NewAllocation) => this.#operator.post<Forecast>('/explain/allocations', wanted)
  /** What `delete` would touch; refused as that would be. */
  explainDeletion = (allocation: string) =>
    this.#operator.get<Touched>(`/explain/deletions/allocations/${segment(allocation)}`)
}
