// Reservations: nodes held for a while, for an instance that is on its way.
import { type Api, type Json, type Query, segment } from './wire.ts'

export interface Reservation extends Json {
  uuid: string
  node_uuid: string
  instance_uuid: string
  owner: string | null
  expires_at: string
  created_at: string
}

export interface NewReservation {
  uuid?: string | undefined
  instance_uuid: string
  /** The first of them that is free is held. */
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
  /** The reservation that `create` would make, or its refusal; nothing is held. */
  async forecast(wanted: NewReservation): Promise<Reservation> {
    return (await this.#operator.post<One>('/explain/reservations', wanted)).reservation
  }
  /** Without a time, for as long as a new one would last. */
  async renew(uuid: string, expiresAt?: string): Promise<Reservation> {
    const body = expiresAt === undefined ? {} : { expires_at: expiresAt }
    return (await this.#api.put<One>(`/reservations/${segment(uuid)}`, body)).reservation
  }
  delete = (uuid: string) => this.#api.delete(`/reservations/${segment(uuid)}`)
}
