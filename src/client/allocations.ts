// Allocations: any node of a resource class, with the wanted traits.
import { ifThere } from './asking.ts'
import { ApiError } from './errors.ts'
import type { Events } from './events.ts'
import { lookForNode } from './node-look.ts'
import type { Node } from './nodes.ts'
import { type ObjectWait, waitForObject } from './object-wait.ts'
import type { Touched } from './operations.ts'
import type { PlaceExplained } from './queue.ts'
import type { Look } from './waiting.ts'
import { type Api, type Json, type Query, segment } from './wire.ts'

export interface Allocation extends Json {
  uuid: string
  name: string | null
  state: 'allocating' | 'active' | 'error'
  node_uuid: string | null
  node_name: string | null
  resource_class: string
  traits: string[]
  last_error: string | null
  expires_at: string | null
  wait_until: string | null
  /** Whose command runs on the node. Nobody else gets it before the keeper lets go, or before `expires_at`. */
  keeper: string | null
  /** When the keeper means to be done. */
  planned_end: string | null
  /** Who asked the keeper to let go, and why. */
  ending: Ending | null
  /** What people write about it, for others to read. */
  note: string | null
  /** Who asked for it, and for which project; the names are the ids where none are known. */
  user: string | null
  user_name: string | null
  project: string | null
  project_name: string | null
}

export interface Ending {
  by: string
  message: string | null
  at: string
  /** When the node goes to the next, at the latest. */
  until: string
}

interface Renewal {
  /** The proof that you are the keeper, who alone may also shorten it. */
  keeper?: string | undefined
  plannedEnd?: string | undefined
}

interface Farewell {
  /** The proof that you are the keeper. */
  keeper?: string | undefined
  /** Take the node at once, though its keeper may be using it. For admins. */
  now?: boolean | undefined
  /** For the keeper to read. */
  message?: string | undefined
}

export interface NewAllocation {
  uuid?: string | undefined
  name?: string | undefined
  resource_class?: string | undefined
  traits?: readonly string[] | undefined
  candidate_nodes?: readonly string[] | undefined
  owner?: string | undefined
  extra?: Json | undefined
  /** A node that is deployed already, to be recorded as allocated. */
  node?: string | undefined
  /** An instant, or how long from now: 90s, 10m, 2h. */
  expires_at?: string | undefined
  /** Until when it may wait for a free node; in the same forms. */
  wait_until?: string | undefined
  /** Your name, a slash, and at least 16 random characters that prove later that it is you. Needs `expires_at`. */
  keeper?: string | undefined
  planned_end?: string | undefined
  note?: string | undefined
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
  /** The reasons at the time of the decision. Null while it waits. */
  decided: Reasons | null
  now: Reasons
  /** How many wait before it for the same nodes. An older server doesn't say. */
  ahead?: number
  /** Where it stands, and what is in its way; null if it doesn't wait. An older server doesn't say. */
  queue?: PlaceExplained | null
}

/** The result that an allocation would have. */
export interface Forecast {
  fits: boolean
  /** How many nodes fit; `nodes` lists some of them. */
  count: number
  nodes: { uuid: string; name: string | null }[]
  /** How many fitting nodes will go to allocations that wait already. */
  promised: number
  /** Missing if the request names a `node`. */
  reasons?: Reasons
  /** Where it would stand if it waited; null if it fits. An older server doesn't say. */
  queue?: PlaceExplained | null
}

interface AllocationFilter {
  where?: Query
  fields?: readonly string[] | undefined
  limit?: number | undefined
}

export interface AllocationWait extends ObjectWait {
  /** `active`, with a node, if it isn't said; or `gone`. */
  until?: 'active' | 'gone' | undefined
}

export class Allocations {
  readonly #api: Api
  readonly #operator: Api
  readonly #events: Events

  constructor(api: Api, operator: Api, events: Events) {
    this.#api = api
    this.#operator = operator
    this.#events = events
  }

  list = ({ where = {}, fields, limit }: AllocationFilter = {}) =>
    this.#api.all<Allocation>('/allocations', 'allocations', { ...where, fields: fields?.join(',') }, limit)
  show = (allocation: string, fields?: readonly string[]) =>
    this.#api.get<Allocation>(`/allocations/${segment(allocation)}`, { fields: fields?.join(',') })
  create = (wanted: NewAllocation) => this.#api.post<Allocation>('/allocations', wanted)
  renew = (allocation: string, expiresAt: string, { keeper, plannedEnd }: Renewal = {}) =>
    this.#api.patch<Allocation>(
      `/allocations/${segment(allocation)}`,
      [
        { op: 'add', path: '/expires_at', value: expiresAt },
        ...(plannedEnd === undefined ? [] : [{ op: 'add', path: '/planned_end', value: plannedEnd }]),
      ],
      { keeper },
    )
  /** Lets one that waits wait until then; it keeps its place. */
  waitUntil = (allocation: string, waitUntil: string) =>
    this.#api.patch<Allocation>(`/allocations/${segment(allocation)}`, [
      { op: 'add', path: '/wait_until', value: waitUntil },
    ])
  /** What `renew` would make of it; fails if `renew` would fail. */
  explainRenewal = (allocation: string, expiresAt: string) =>
    this.#operator.post<Allocation>(`/explain/allocations/${segment(allocation)}`, [
      { op: 'add', path: '/expires_at', value: expiresAt },
    ])
  /** Writes a note on it; null takes the note away. */
  note = (allocation: string, note: string | null) =>
    this.#api.patch<Allocation>(`/allocations/${segment(allocation)}`, [{ op: 'add', path: '/note', value: note }])
  /** Keeps what a lease gave, or keeps it longer. `delete` with the keeper lets go of it; the lease goes on. */
  keep = (allocation: string, until: string, { keeper, plannedEnd }: Renewal & { keeper: string }) =>
    this.#operator.post<Allocation>(`/allocations/${segment(allocation)}/keep`, {
      keeper,
      until,
      planned_end: plannedEnd,
    })
  /** Returns the allocation if it isn't over yet: its keeper was asked to let go, and has it until `expires_at`. */
  delete = (allocation: string, farewell: Farewell = {}) =>
    this.#api.delete<Allocation | null>(`/allocations/${segment(allocation)}`, { ...farewell })
  retry = (allocation: string, waitUntil?: string) =>
    this.#operator.post<Allocation>(
      `/allocations/${segment(allocation)}/retry`,
      waitUntil === undefined ? {} : { wait_until: waitUntil },
    )
  /** What matters of its node while it is handed over; null where that isn't shown to the caller. */
  async nodeOf({ node_uuid }: Allocation): Promise<Pick<Node, 'name' | 'provision_state' | 'last_error'> | null> {
    const query = { fields: 'name,provision_state,last_error' }
    try {
      return await ifThere(this.#api.get<Node>(`/nodes/${segment(node_uuid!)}`, query))
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) return null
      throw error
    }
  }
  /** Waits until it has a node, or until it is gone. One that ends without a node throws NoFit, with the reasons. */
  wait(allocation: string, { until = 'active', ...wait }: AllocationWait = {}): Promise<Allocation> {
    let last: Allocation | null = null
    const look = async (signal: AbortSignal): Promise<Look<Allocation>> => {
      const at = new Allocations(this.#api.within(signal), this.#operator.within(signal), this.#events)
      if (until === 'active') return lookForNode(at, allocation)
      const seen = await ifThere(at.show(allocation))
      // Who waits for the end of one that never was has a wrong name.
      if (seen === null && last === null) throw new ApiError(404, `Allocation ${allocation} could not be found.`)
      last = seen ?? last
      return seen === null ? { done: last! } : { waitingFor: `allocation ${allocation} is still there` }
    }
    return waitForObject(this.#events, `allocation/${allocation}`, look, wait)
  }
  explain = (allocation: string) =>
    this.#operator.get<AllocationExplained>(`/explain/allocations/${segment(allocation)}`)
  /** What `create` would do now; creates nothing. */
  forecast = (wanted: NewAllocation) => this.#operator.post<Forecast>('/explain/allocations', wanted)
  /** What `delete` would touch; fails if `delete` would fail. */
  explainDeletion = (allocation: string, farewell: Farewell = {}) =>
    this.#operator.get<Touched>(`/explain/deletions/allocations/${segment(allocation)}`, { ...farewell })
}
