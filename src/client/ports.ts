// Ports: the network cards of nodes.
import { type Api, type Json, type Query, segment } from './wire.ts'

export interface Port extends Json {
  uuid: string
  address: string
  node_uuid: string
}

export interface NewPort {
  node_uuid: string
  address: string
  uuid?: string | undefined
  pxe_enabled?: boolean | undefined
  physical_network?: string | undefined
  extra?: Json | undefined
}

export class Ports {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  list = (where: Query = {}) => this.#api.all<Port>('/ports/detail', 'ports', where)
  create = (wanted: NewPort) => this.#api.post<Port>('/ports', wanted)
  delete = (uuid: string) => this.#api.delete(`/ports/${segment(uuid)}`)
}
