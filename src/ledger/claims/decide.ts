// Decides a request against the book: either returns a problem and changes nothing, or changes the book as asked.
import { type Problem, problem } from '../../problems/problem.ts'
import type { Book, BookConsumer, BookInventory, BookProvider } from './book.ts'
import type { ClaimRequest, ConsumerClaims } from './claim.ts'

/** One resource of one consumer on one provider. */
interface Wish {
  consumer: BookConsumer
  provider: BookProvider
  inventory: BookInventory
  amount: number
}

export function decide(book: Book, request: ClaimRequest): Problem | null {
  if (request.kind === 'release') return release(book, request.consumer, request.owner)
  for (const claims of request.consumers) {
    const refusal = checkConsumer(book.consumer(claims.consumer), claims, request.owner)
    if (refusal) return refusal
  }
  const wishes = findWishes(book, request.consumers)
  if (!Array.isArray(wishes)) return wishes
  const closed = wishes.find(wish => wish.provider.dedicatedTo !== null && !isHandedOut(wish, wishes, request.owner))
  if (closed) {
    const { uuid, dedicatedTo } = closed.provider
    return problem('claim_on_dedicated_provider', { provider: uuid, owner: dedicatedTo! })
  }
  const used = useWithout(request.consumers.map(claims => book.consumer(claims.consumer)))
  const refusal = checkRoom(wishes, used)
  if (refusal) return refusal
  apply(book, request.consumers, request.owner, wishes, used)
  return null
}

function release(book: Book, uuid: string, owner: string | null): Problem | null {
  const consumer = book.consumer(uuid)
  if (consumer.claims.size === 0) return problem('consumer_without_claims', { consumer: uuid })
  const refusal = checkOwner(consumer, owner)
  if (refusal) return refusal
  for (const [inventory, used] of useWithout([consumer])) inventory.used = used
  consumer.claims = new Map()
  consumer.now = null
  consumer.touched = true
  return null
}

function checkConsumer(consumer: BookConsumer, claims: ConsumerClaims, owner: string | null): Problem | null {
  const expected = consumer.now?.generation ?? null
  if (claims.generation !== undefined && claims.generation !== expected) {
    return problem('consumer_generation_conflict', { expected, given: claims.generation })
  }
  return checkOwner(consumer, owner)
}

function checkOwner({ uuid, now }: BookConsumer, owner: string | null): Problem | null {
  if (now === null || now.managedBy === owner) return null
  return problem('consumer_managed', { consumer: uuid, owner: now.managedBy ?? 'Placement' })
}

/** Resolves the names in the request: first all providers, then all classes, then all inventories. */
function findWishes(book: Book, consumers: readonly ConsumerClaims[]): Wish[] | Problem {
  for (const { resources } of consumers) {
    for (const provider of resources.keys()) {
      if (!book.providers.has(provider)) return problem('claim_on_unknown_provider', { provider })
    }
  }
  for (const { consumer, resources } of consumers) {
    for (const amounts of resources.values()) {
      const unknown = amounts.keys().find(name => !book.classes.has(name))
      if (unknown !== undefined) return problem('claim_on_unknown_class', { consumer, name: unknown })
    }
  }
  const wishes: Wish[] = []
  for (const claims of consumers) {
    const consumer = book.consumer(claims.consumer)
    for (const [uuid, amounts] of claims.resources) {
      const provider = book.providers.get(uuid)!
      for (const [resourceClass, amount] of amounts) {
        const inventory = provider.inventories.get(resourceClass)
        if (!inventory) return problem('claim_without_inventory', { resourceClass, provider: uuid })
        wishes.push({ consumer, provider, inventory, amount })
      }
    }
  }
  return wishes
}

/** A dedicated provider can be claimed by its manager, or together with a child managed by whom it is dedicated to. */
function isHandedOut({ consumer, provider }: Wish, wishes: readonly Wish[], owner: string | null): boolean {
  if (owner !== null && owner === provider.managedBy) return true
  return wishes.some(
    other =>
      other.consumer === consumer &&
      other.provider.parentId === provider.id &&
      other.provider.managedBy === provider.dedicatedTo,
  )
}

/** The use of each inventory as if these consumers had nothing: a write replaces all that a consumer has. */
function useWithout(consumers: readonly BookConsumer[]): Map<BookInventory, number> {
  const used = new Map<BookInventory, number>()
  for (const { claims } of consumers) {
    for (const [inventory, amount] of claims) used.set(inventory, (used.get(inventory) ?? inventory.used) - amount)
  }
  return used
}

/** Adds the wishes to `used`, one by one, as long as they fit. */
function checkRoom(wishes: readonly Wish[], used: Map<BookInventory, number>): Problem | null {
  for (const { provider, inventory, amount } of wishes) {
    const { resourceClass, minUnit, maxUnit, stepSize, capacity, blocked } = inventory
    const facts = { resourceClass, provider: provider.uuid }
    if (amount < minUnit || amount > maxUnit || amount % stepSize !== 0) return problem('claim_violates_units', facts)
    const wanted = (used.get(inventory) ?? inventory.used) + amount
    // An inventory that is over-full may be rewritten as long as its use doesn't grow.
    if ((wanted > capacity || blocked) && wanted > inventory.used) return problem('claim_exceeds_capacity', facts)
    used.set(inventory, wanted)
  }
  return null
}

function apply(
  book: Book,
  consumers: readonly ConsumerClaims[],
  owner: string | null,
  wishes: readonly Wish[],
  used: ReadonlyMap<BookInventory, number>,
): void {
  const bumped = new Set<BookProvider>(wishes.map(wish => wish.provider))
  for (const claims of consumers) {
    const consumer = book.consumer(claims.consumer)
    const { now } = consumer
    if (claims.resources.size === 0) {
      for (const { providerId } of consumer.claims.keys()) bumped.add(book.providerWithId(providerId)!)
      consumer.now = null
    } else {
      consumer.now = {
        projectId: claims.projectId,
        userId: claims.userId,
        type: claims.type ?? now?.type ?? null,
        generation: (now?.generation ?? 0) + 1,
        managedBy: owner,
      }
    }
    consumer.claims = new Map()
    consumer.touched = true
  }
  for (const { consumer, inventory, amount } of wishes) consumer.claims.set(inventory, amount)
  for (const [inventory, amount] of used) inventory.used = amount
  for (const provider of bumped) {
    provider.generation++
    provider.bumps++
  }
}
