// Servers: claims of compute capacity, with a name and a flavor.
import { type Api, type Json, type Query, segment } from './wire.ts'

export interface Server extends Json {
  id: string
  name: string
  status: string
  metadata: Record<string, string>
  fault?: { message: string }
}

export interface NewServer {
  name: string
  flavorRef: string
  imageRef?: string | undefined
  availability_zone?: string | undefined
  metadata?: Record<string, string> | undefined
}

export class Servers {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Filters as Nova names them; `all_tenants` is for admins. */
  list = (where: Query = {}) => this.#api.all<Server>('/servers/detail', 'servers', where)
  async show(id: string): Promise<Server> {
    return (await this.#api.get<{ server: Server }>(`/servers/${segment(id)}`)).server
  }
  /** Returns before a place is found; the server's status shows the result. */
  async create(wanted: NewServer): Promise<{ id: string }> {
    return (await this.#api.post<{ server: { id: string } }>('/servers', { server: wanted })).server
  }
  delete = (id: string) => this.#api.delete(`/servers/${segment(id)}`)
}
