// The names that the ledger knows: traits, and resource classes.
import { type Api, type Query, segment } from './wire.ts'

export class Traits {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Filters as Placement has them: name=startswith:CUSTOM_, associated. */
  async list(where: Query = {}): Promise<string[]> {
    return (await this.#api.get<{ traits: string[] }>('/traits', where)).traits
  }
  create = (name: string) => this.#api.put<void>(`/traits/${segment(name)}`)
  delete = (name: string) => this.#api.delete(`/traits/${segment(name)}`)
}

export class ResourceClasses {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  async list(): Promise<string[]> {
    const { resource_classes } = await this.#api.get<{ resource_classes: { name: string }[] }>('/resource_classes')
    return resource_classes.map(({ name }) => name)
  }
  create = (name: string) => this.#api.put<void>(`/resource_classes/${segment(name)}`)
  delete = (name: string) => this.#api.delete(`/resource_classes/${segment(name)}`)
}
