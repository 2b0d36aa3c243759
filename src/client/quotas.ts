// What projects may have at most.
import { type Api, type Json, segment } from './wire.ts'

/** The limits that are set for a project, by name; -1 is no limit. */
export interface Quota extends Json {
  project: string
  limits: Record<string, number>
}

export interface Limit extends Json {
  name: string
  /** Null for no limit. */
  max: number | null
  /** Null of what isn't counted. */
  used: number | null
  /** It holds for all who have none of their own. */
  is_default: boolean
}

export interface QuotaInFull {
  project: string
  limits: Limit[]
}

/** The project `default` stands for all that have no limit of their own. */
export class Quotas {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  async list(): Promise<Quota[]> {
    return (await this.#api.get<{ quotas: Quota[] }>('/quotas')).quotas
  }
  show = (project: string) => this.#api.get<QuotaInFull>(`/quotas/${segment(project)}`)
  /** Null takes a limit away; those that aren't named stay. */
  set = (project: string, limits: Record<string, number | null>) =>
    this.#api.put<QuotaInFull>(`/quotas/${segment(project)}`, { limits })
  delete = (project: string) => this.#api.delete(`/quotas/${segment(project)}`)
}
