// Flavors: the sizes that servers come in.
import { type Api, type Json, segment } from './wire.ts'

export interface Flavor extends Json {
  id: string
  name: string
  vcpus: number
  ram: number
  disk: number
}

export interface NewFlavor {
  id?: string | undefined
  name: string
  vcpus: number
  /** In MB. */
  ram: number
  /** In GB. */
  disk: number
}

export class Flavors {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  list = () => this.#api.all<Flavor>('/flavors/detail', 'flavors')
  async create(wanted: NewFlavor): Promise<Flavor> {
    return (await this.#api.post<{ flavor: Flavor }>('/flavors', { flavor: wanted })).flavor
  }
  /** Adds extra specs, and replaces those of the same name. */
  setExtraSpecs = (id: string, specs: Record<string, string>) =>
    this.#api.post<Json>(`/flavors/${segment(id)}/os-extra_specs`, { extra_specs: specs })
  delete = (id: string) => this.#api.delete(`/flavors/${segment(id)}`)
}
