// Resource providers, their inventories, and their usage.
import { ApiError } from './errors.ts'
import { type Api, type Json, type Query, segment } from './wire.ts'

export interface Provider extends Json {
  uuid: string
  name: string
  generation: number
  parent_provider_uuid: string | null
  root_provider_uuid: string
}

export interface Inventory {
  total: number
  reserved: number
  min_unit: number
  max_unit: number
  step_size: number
  allocation_ratio: number
}

/** Missing members have Placement's defaults. */
export type NewInventory = Pick<Inventory, 'total'> & Partial<Inventory>

export interface ProviderInFull extends Provider {
  inventories: Record<string, Inventory>
  usages: Record<string, number>
  traits: string[]
  aggregates: string[]
}

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

export class Providers {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Filters as Placement names them: name, in_tree, resources, required, member_of. */
  async list(where: Query = {}): Promise<Provider[]> {
    return (await this.#api.get<{ resource_providers: Provider[] }>('/resource_providers', where)).resource_providers
  }

  /** By its uuid or by its name. */
  async find(provider: string): Promise<Provider> {
    if (UUID.test(provider)) return this.#api.get<Provider>(`/resource_providers/${segment(provider)}`)
    const [found] = await this.list({ name: provider })
    if (!found) throw new ApiError(404, `There is no resource provider ${provider}.`)
    return found
  }

  async show(provider: string): Promise<ProviderInFull> {
    const found = await this.find(provider)
    const at = (what: string) => this.#api.get<Json>(`/resource_providers/${found.uuid}/${what}`)
    const [inventories, usages, traits, aggregates] = await Promise.all(
      ['inventories', 'usages', 'traits', 'aggregates'].map(at),
    )
    return { ...found, ...inventories, ...usages, ...traits, ...aggregates, links: null } as unknown as ProviderInFull
  }

  create = (provider: { name: string; uuid?: string; parent_provider_uuid?: string | null }) =>
    this.#api.post<Provider>('/resource_providers', provider)
  /** Without `parent_provider_uuid` the parent stays. */
  update = (uuid: string, change: { name: string; parent_provider_uuid?: string | null }) =>
    this.#api.put<Provider>(`/resource_providers/${segment(uuid)}`, change)
  delete = (uuid: string) => this.#api.delete(`/resource_providers/${segment(uuid)}`)

  /** Replaces all inventories. This and the next two are refused if the provider's generation has changed. */
  setInventories = (uuid: string, inventories: Record<string, NewInventory>, generation: number) =>
    this.#set(uuid, 'inventories', inventories, generation)
  setTraits = (uuid: string, traits: readonly string[], generation: number) =>
    this.#set(uuid, 'traits', traits, generation)
  setAggregates = (uuid: string, aggregates: readonly string[], generation: number) =>
    this.#set(uuid, 'aggregates', aggregates, generation)

  /** Returns the new generation. */
  async #set(uuid: string, what: string, value: unknown, generation: number): Promise<number> {
    const path = `/resource_providers/${segment(uuid)}/${what}`
    const body = { [what]: value, resource_provider_generation: generation }
    return (await this.#api.put<{ resource_provider_generation: number }>(path, body)).resource_provider_generation
  }

  deleteInventory = (uuid: string, resourceClass: string) =>
    this.#api.delete(`/resource_providers/${segment(uuid)}/inventories/${segment(resourceClass)}`)

  /** Consumers with a claim on it. */
  async consumers(uuid: string): Promise<string[]> {
    const path = `/resource_providers/${segment(uuid)}/allocations`
    return Object.keys((await this.#api.get<{ allocations: Json }>(path)).allocations)
  }

  async usages(provider: string): Promise<Record<string, number>> {
    const { uuid } = await this.find(provider)
    return (await this.#api.get<{ usages: Record<string, number> }>(`/resource_providers/${uuid}/usages`)).usages
  }
}
