// The part of the ledger that a batch of requests is decided on: read under lock, changed in memory, written back once.
import type { ConsumerId, ProviderId, ResourceClassId } from '../../store/schema/ids.ts'

export interface BookInventory {
  readonly providerId: ProviderId
  readonly classId: ResourceClassId
  readonly resourceClass: string
  readonly capacity: number
  readonly minUnit: number
  readonly maxUnit: number
  readonly stepSize: number
  readonly blocked: boolean
  readonly usedBefore: number
  used: number
}

export interface BookProvider {
  readonly id: ProviderId
  readonly uuid: string
  readonly inventories: Map<string, BookInventory>
  readonly revision: number
  readonly parentId: ProviderId | null
  readonly managedBy: string | null
  /** The owner that alone hands it out: a claim needs another one, on a child that this owner manages. */
  readonly dedicatedTo: string | null
  generation: number
  /** By how much the generation has grown in this batch. */
  bumps: number
}

interface ConsumerFacts {
  readonly projectId: string
  readonly userId: string
  readonly type: string | null
  readonly generation: number
  readonly managedBy: string | null
}

export interface BookConsumer {
  readonly uuid: string
  /** null while the database has no such consumer. */
  readonly id: ConsumerId | null
  readonly claimsBefore: ReadonlyMap<BookInventory, number>
  /** null when the consumer doesn't exist, or not any more. */
  now: ConsumerFacts | null
  claims: Map<BookInventory, number>
  touched: boolean
  /** Its project, if it has expired: others may take what it has. */
  readonly lapsedOf: string | null
}

export class Book {
  readonly providers = new Map<string, BookProvider>()
  readonly consumers = new Map<string, BookConsumer>()
  readonly classes: ReadonlySet<string>
  readonly #providersById = new Map<ProviderId, BookProvider>()

  constructor(classes: ReadonlySet<string>) {
    this.classes = classes
  }

  addProvider(provider: BookProvider): void {
    this.providers.set(provider.uuid, provider)
    this.#providersById.set(provider.id, provider)
  }

  providerWithId(id: ProviderId): BookProvider | undefined {
    return this.#providersById.get(id)
  }

  /** The consumer; an unknown one is added, without claims. */
  consumer(uuid: string): BookConsumer {
    return this.consumers.getOrInsertComputed(uuid, () => ({
      uuid,
      id: null,
      claimsBefore: new Map(),
      now: null,
      claims: new Map(),
      touched: false,
      lapsedOf: null,
    }))
  }
}
