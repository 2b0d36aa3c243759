// The limits of projects.
import { type Api, type Json, segment } from './wire.ts'

/** The limits that are set for a project, by name; -1 is no limit. */
export interface Quota extends Json {
  project: string
  limits: Record<string, number>
}

export interface Limit extends Json {
  name: string
  /** null for no limit. */
  max: number | null
  /** null if it isn't counted. */
  used: number | null
  /** The default limit, for projects without their own. */
  is_default: boolean
}

export interface QuotaInFull {
  project: string
  limits: Limit[]
}

/** The project `default` has the limits of all projects without their own. */
export class Quotas {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  async list(): Promise<Quota[]> {
    return (await this.#api.get<{ quotas: Quota[] }>('/quotas')).quotas
  }
  show = (project: string) => this.#api.get<QuotaInFull>(`/quotas/${segment(project)}`)
  /** null removes a limit; limits that aren't named stay. */
  set = (project: string, limits: Record<string, number | null>) =>
    this.#api.put<QuotaInFull>(`/quotas/${segment(project)}`, { limits })
  delete = (project: string) => this.#api.delete(`/quotas/${segment(project)}`)
}
