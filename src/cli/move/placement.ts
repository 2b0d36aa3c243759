// A Placement as a move sees it: any version from 1.28 on, Holdfast's too.
import { ApiError, type Inventory } from '../../client/index.ts'
import { ifThere } from '../../client/asking.ts'
import { type Api, segment } from '../../client/wire.ts'
import { isObject } from '../../shared/is-object.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import type { Side } from './sides.ts'

/** What is copied of a provider. */
export interface ProviderState {
  uuid: string
  name: string
  parent: string | null
  inventories: Record<string, Inventory>
  traits: readonly string[]
  aggregates: readonly string[]
  /** Each side counts its own. */
  generation: number
}

export type ProviderRow = Pick<ProviderState, 'uuid' | 'name' | 'parent' | 'generation'>

/** By resource class. */
export type Amounts = Record<string, number>

/** What is copied of a consumer. */
export interface ConsumerState {
  /** Amounts by provider and resource class. */
  resources: Record<string, Amounts>
  project: string
  user: string
  /** null if nobody has said it, or this side has no types. */
  type: string | null
  generation: number
}

/** The lowest has generations of consumers; the highest is the last that changed what is copied. */
const VERSIONS = { least: 28, most: 38, types: 38, untyped: 36 }

const versionHeader = (minor: number) => ({ 'openstack-api-version': `placement 1.${minor}` })

interface Row {
  uuid: string
  name: string
  parent_provider_uuid?: string | null
  generation: number
}

const rowOf = ({ uuid, name, parent_provider_uuid: parent = null, generation }: Row): ProviderRow => ({
  uuid: textOf(uuid),
  name: textOf(name),
  parent,
  generation,
})

export class Placement {
  readonly side: Side
  /** Whether consumers have types here. */
  readonly hasTypes: boolean
  readonly #api: Api
  /** Speaks a version in which a consumer needs no type: in later ones nobody can say that it has none. */
  readonly #untyped: Api

  constructor(side: Side, minor: number) {
    this.side = side
    this.hasTypes = minor >= VERSIONS.types
    this.#api = side.api(versionHeader(minor))
    this.#untyped = side.api(versionHeader(Math.min(minor, VERSIONS.untyped)))
  }

  async classes(): Promise<string[]> {
    const namesIn = (answer: { resource_classes: { name: string }[] }) =>
      answer.resource_classes.map(({ name }) => textOf(name))
    return this.#read('/resource_classes', namesIn)
  }

  async traits(): Promise<string[]> {
    return this.#read('/traits', (answer: { traits: string[] }) => answer.traits.map(textOf))
  }

  async providers(): Promise<ProviderRow[]> {
    const rowsIn = (answer: { resource_providers: Row[] }) => answer.resource_providers.map(rowOf)
    return this.#read('/resource_providers', rowsIn)
  }

  /** Consumers that have something of a provider, and how much; none of one that is gone. */
  async consumersOf(provider: string): Promise<Record<string, Amounts>> {
    const path = `${providerPath(provider)}/allocations`
    const found = this.#read(path, ({ allocations }: Pick<Consumer, 'allocations'>) => resourcesIn(allocations))
    return (await ifThere(found)) ?? {}
  }

  /** null if there is no such provider. */
  async row(uuid: string): Promise<ProviderRow | null> {
    return ifThere(this.#read(providerPath(uuid), rowOf))
  }

  /** All of a provider; null if it is gone by now. */
  async inFull(row: ProviderRow): Promise<ProviderState | null> {
    const path = providerPath(row.uuid)
    const parts = [
      this.#read(`${path}/inventories`, ({ inventories }: Parts) => ({ inventories: inventoriesIn(inventories) })),
      this.#read(`${path}/traits`, ({ traits }: Parts) => ({ traits: traits.map(textOf) })),
      this.#read(`${path}/aggregates`, ({ aggregates }: Parts) => ({ aggregates: aggregates.map(textOf) })),
    ]
    const found = await ifThere(Promise.all<Partial<Parts>>(parts))
    return found && { ...row, ...(Object.assign({}, ...found) as Parts) }
  }

  /** null for one that has nothing. */
  async consumer(uuid: string): Promise<ConsumerState | null> {
    return this.#read(`/allocations/${segment(uuid)}`, (found: Consumer) => {
      const resources = resourcesIn(found.allocations)
      if (Object.keys(resources).length === 0) return null
      const type = found.consumer_type
      return {
        resources,
        project: found.project_id,
        user: found.user_id,
        type: type === undefined || type === 'unknown' ? null : type,
        generation: found.consumer_generation,
      }
    })
  }

  /** What isn't there, or is of another kind, is a TypeError of `parse`. */
  async #read<T, R>(path: string, parse: (answer: T) => R): Promise<R> {
    const answer = await this.#api.get<T>(path)
    try {
      return parse(answer)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw new CommandFailure(EXIT.failed, `${this.side.url}${path} was answered in a form that no Placement has`)
    }
  }

  addClass = (name: string) => this.#api.put<void>(`/resource_classes/${segment(name)}`)
  addTrait = (name: string) => this.#api.put<void>(`/traits/${segment(name)}`)
  addProvider = ({ uuid, name, parent }: ProviderRow) =>
    this.#api.post<void>('/resource_providers', {
      uuid,
      name,
      ...(parent !== null && { parent_provider_uuid: parent }),
    })
  changeProvider = ({ uuid, name, parent }: ProviderRow) =>
    this.#api.put<void>(providerPath(uuid), { name, parent_provider_uuid: parent })
  removeProvider = (uuid: string) => this.#api.delete(providerPath(uuid))
  removeConsumer = (uuid: string) => this.#api.delete(`/allocations/${segment(uuid)}`)

  /** Replaces one part of a provider, and returns the new generation. */
  async setPart(uuid: string, part: 'inventories' | 'traits' | 'aggregates', content: unknown, generation: number) {
    const body = { [part]: content, resource_provider_generation: generation }
    const path = `${providerPath(uuid)}/${part}`
    return (await this.#api.put<{ resource_provider_generation: number }>(path, body)).resource_provider_generation
  }

  /** Gives a consumer exactly this; `generation` is that of the consumer as it is here, null for a new one. */
  setConsumer(uuid: string, wanted: ConsumerState, generation: number | null): Promise<void> {
    const isTyped = this.hasTypes && wanted.type !== null
    const entries = Object.entries(wanted.resources).map(([provider, resources]) => [provider, { resources }])
    return (isTyped ? this.#api : this.#untyped).put<void>(`/allocations/${segment(uuid)}`, {
      allocations: Object.fromEntries(entries),
      project_id: wanted.project,
      user_id: wanted.user,
      consumer_generation: generation,
      ...(isTyped && { consumer_type: wanted.type }),
    })
  }
}

interface Consumer {
  allocations: Record<string, { resources: Record<string, number> }>
  project_id: string
  user_id: string
  consumer_generation: number
  consumer_type?: string
}

type Parts = Omit<ProviderState, keyof ProviderRow>

function textOf(value: string): string {
  if (typeof value !== 'string') throw new TypeError('no text')
  return value
}

/** Amounts by provider or consumer. */
const resourcesIn = (allocations: Consumer['allocations']): Record<string, Amounts> =>
  Object.fromEntries(
    Object.entries(allocations).map(([id, { resources }]) => {
      if (!isObject(resources)) throw new TypeError('no resources')
      return [id, resources]
    }),
  )

function inventoriesIn(inventories: Parts['inventories']): Parts['inventories'] {
  for (const { total, allocation_ratio } of Object.values(inventories)) {
    if (typeof total !== 'number' || typeof allocation_ratio !== 'number') throw new TypeError('no inventory')
  }
  return inventories
}

const providerPath = (uuid: string) => `/resource_providers/${segment(uuid)}`

/** Asks which versions it speaks. */
export async function placementAt(side: Side): Promise<Placement> {
  const minor = newestIn(await rootOf(side))
  if (minor === null) throw new CommandFailure(EXIT.usage, `${side.url} is no Placement: it names no versions`)
  if (minor < VERSIONS.least) {
    throw new CommandFailure(
      EXIT.usage,
      `the Placement at ${side.url} speaks 1.${minor}; 1.${VERSIONS.least} is needed`,
    )
  }
  return new Placement(side, Math.min(minor, VERSIONS.most))
}

async function rootOf(side: Side): Promise<unknown> {
  try {
    return await side.api().get<unknown>('/')
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

function newestIn(root: unknown): number | null {
  const { versions } = (root ?? {}) as { versions?: { max_version?: unknown }[] }
  const newest = Array.isArray(versions) ? versions[0]?.max_version : undefined
  const minor = typeof newest === 'string' ? /^1\.(\d{1,4})$/.exec(newest)?.[1] : undefined
  return minor === undefined ? null : Number(minor)
}
