// The queue: who waits for a node, and the priorities and shares of projects.
import { type Api, type Json, segment } from './wire.ts'

interface NodeName {
  uuid: string
  name: string | null
}

/** Where an allocation stands among those that wait for the same nodes. */
export interface PlaceInQueue extends Json {
  /** From 1 on. */
  place: number
  of: number
  /** When it is likely to get a node; null if no end is known, or none in time. */
  start: string | null
  /** What has to end before. `ahead` is another one that waits, and gets the node first. */
  because: { node: NodeName; what: 'allocation' | 'hold' | 'lease' | 'ahead'; end: string } | null
}

/** Also says who has the nodes. Of those that you may not know of, only how many there are. */
export interface PlaceExplained extends PlaceInQueue {
  holders: {
    node: NodeName
    what: 'allocation' | 'hold' | 'lease'
    end: string | null
    allocation: NodeName | null
    project: string | null
    who: string | null
  }[]
  others: { what: 'allocation' | 'hold' | 'lease'; count: number }[]
}

export interface Queued extends PlaceInQueue {
  uuid: string
  name: string | null
  /** null where nobody has to log in. */
  project: string | null
  who: string
  resource_class: string
  traits: string[]
  since: string
  wait_until: string | null
  expires_at: string | null
  /** How many nodes it could have, whoever has them now. */
  nodes: number
}

export interface ProjectShare extends Json {
  project_id: string
  project: string
  priority: number
  share: number
  /** The node-hours that it used lately; older ones count less. */
  used_hours: number
  /** Its part of all shares, and of all that was used. */
  due_percent: number
  actual_percent: number
}

export class Queue {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Those that wait and that you may see, in the order in which they are served. */
  async list(): Promise<Queued[]> {
    return (await this.#api.get<{ queue: Queued[] }>('/queue')).queue
  }
  async shares(): Promise<ProjectShare[]> {
    return (await this.standings()).projects
  }
  /** The same, with the order in which the queue is served. An older server doesn't say. */
  standings = () => this.#api.get<{ order?: 'fifo' | 'fair'; projects: ProjectShare[] }>('/queue/projects')
  shareOf = (project: string) => this.#api.get<ProjectShare>(`/queue/projects/${segment(project)}`)
  /** What isn't given stays as it is. */
  set = (project: string, wanted: { priority?: number | undefined; share?: number | undefined }) =>
    this.#api.put<ProjectShare>(`/queue/projects/${segment(project)}`, wanted)
}
