// Chassis: the racks or enclosures of nodes.
import type { Patch } from './nodes.ts'
import { type Api, type Json, segment } from './wire.ts'

export interface Chassis extends Json {
  uuid: string
  description: string | null
  extra: Json
}

export interface NewChassis {
  uuid?: string | undefined
  description?: string | undefined
  extra?: Json | undefined
}

export class EveryChassis {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  list = () => this.#api.all<Chassis>('/chassis/detail', 'chassis')
  create = (wanted: NewChassis) => this.#api.post<Chassis>('/chassis', wanted)
  update = (uuid: string, patches: readonly Patch[]) => this.#api.patch<Chassis>(`/chassis/${segment(uuid)}`, patches)
  delete = (uuid: string) => this.#api.delete(`/chassis/${segment(uuid)}`)
}
