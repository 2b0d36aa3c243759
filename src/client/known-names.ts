// Traits and resource classes: the words that capacity is described with.
import type { Api, Query } from './wire.ts'

export class Traits {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Filters as Placement names them: name, associated. */
  async list(where: Query = {}): Promise<string[]> {
    return (await this.#api.get<{ traits: string[] }>('/traits', where)).traits
  }
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
}
