// Conductors, which control the hardware, and their drivers.
import { type Api, type Json, segment } from './wire.ts'

export interface Conductor extends Json {
  hostname: string
  conductor_group: string
  alive: boolean
  drivers: string[]
}

/** With default_X_interface and enabled_X_interfaces for each kind of interface. */
export interface Driver extends Json {
  name: string
  hosts: string[]
}

export class Conductors {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  list = () => this.#api.all<Conductor>('/conductors', 'conductors', { detail: true })

  async drivers(): Promise<Driver[]> {
    return (await this.#api.get<{ drivers: Driver[] }>('/drivers', { detail: true })).drivers
  }

  driver = (name: string) => this.#api.get<Driver>(`/drivers/${segment(name)}`)
  /** The keys of driver_info that a driver reads, explained. */
  driverProperties = (name: string) => this.#api.get<Record<string, string>>(`/drivers/${segment(name)}/properties`)
}
