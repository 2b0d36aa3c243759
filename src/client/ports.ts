// Ports: the network cards of nodes.
import { type Api, type Json, segment } from './wire.ts'
import type { Patch } from './nodes.ts'

export interface Port extends Json {
  uuid: string
  /** The MAC address, in lower case. */
  address: string
  node_uuid: string
  pxe_enabled: boolean
  physical_network: string | null
  is_smartnic: boolean
  local_link_connection: Json
  extra: Json
}

export class Ports {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** All ports, those of a node, or the one with an address. */
  list = (where: { node?: string; address?: string } = {}) => this.#api.all<Port>('/ports/detail', 'ports', where)
  create = (port: Json & { node_uuid: string; address: string }) => this.#api.post<Port>('/ports', port)
  update = (uuid: string, patches: readonly Patch[]) => this.#api.patch<Port>(`/ports/${segment(uuid)}`, patches)
  delete = (uuid: string) => this.#api.delete(`/ports/${segment(uuid)}`)
}
