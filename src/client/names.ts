// The names in Placement: traits and resource classes.
import { type Api, type Query, segment } from './wire.ts'

const isCustom = (name: string) => name.startsWith('CUSTOM_')

export class Traits {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Filters as Placement names them: name, associated. */
  async list(where: Query = {}): Promise<string[]> {
    return (await this.#api.get<{ traits: string[] }>('/traits', where)).traits
  }

  /** Succeeds if it exists already. */
  create = (name: string) => this.#api.put<void>(`/traits/${segment(name)}`)
  delete = (name: string) => this.#api.delete(`/traits/${segment(name)}`)

  /** Creates the custom ones among these that don't exist yet. */
  async ensure(names: readonly string[]): Promise<void> {
    for (const name of names.filter(isCustom)) await this.create(name)
  }
}

export class ResourceClasses {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  async list(): Promise<string[]> {
    const { resource_classes: found } = await this.#api.get<{ resource_classes: { name: string }[] }>(
      '/resource_classes',
    )
    return found.map(({ name }) => name)
  }

  /** Succeeds if it exists already. */
  create = (name: string) => this.#api.put<void>(`/resource_classes/${segment(name)}`)
  delete = (name: string) => this.#api.delete(`/resource_classes/${segment(name)}`)

  /** Creates the custom ones among these that don't exist yet. */
  async ensure(names: readonly string[]): Promise<void> {
    for (const name of names.filter(isCustom)) await this.create(name)
  }
}
