// Reservations: nodes held for a while, for an instance that will be deployed.
import { type Api, type Json, type Query, segment } from './wire.ts'

export interface Reservation extends Json {
  uuid: string
  node_uuid: string
  node_name: string | null
  instance_uuid: string
  owner: string | null
  owner_name: string | null
  expires_at: string
  created_at: string
}

export interface NewReservation {
  uuid?: string | undefined
  instance_uuid: string
  /** Candidates; the first free one is held. */
  node_uuid: readonly string[]
  owner?: string | undefined
  expires_at?: string | undefined
}

interface One {
  reservation: Reservation
}

export class Reservations {
  readonly #api: Api
  readonly #operator: Api

  constructor(api: Api, operator: Api) {
    this.#api = api
    this.#operator = operator
  }

  list = (where: Query = {}, limit?: number) =>
    this.#api.all<Reservation>('/reservations', 'reservations', where, limit)
  async show(uuid: string): Promise<Reservation> {
    return (await this.#api.get<One>(`/reservations/${segment(uuid)}`)).reservation
  }
  async create(wanted: NewReservation): Promise<Reservation> {
    return (await this.#api.post<One>('/reservations', wanted)).reservation
  }
  /** The reservation that `create` would return, or its refusal; holds nothing. */
  async forecast(wanted: NewReservation): Promise<Reservation> {
    return (await this.#operator.post<One>('/explain/reservations', wanted)).reservation
  }
  /** Without a time it lasts as long as a new one. */
  async renew(uuid: string, expiresAt?: string): Promise<Reservation> {
    const body = expiresAt === undefined ? {} : { expires_at: expiresAt }
    return (await this.#api.put<One>(`/reservations/${segment(uuid)}`, body)).reservation
  }
  delete = (uuid: string) => this.#api.delete(`/reservations/${segment(uuid)}`)
}
