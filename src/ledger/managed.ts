// What other parts of Holdfast do with the providers and consumers they own. The ledger knows an owner only by name.
import { problem } from '../problems/problem.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { command, query } from '../store/statement.ts'
import { all, note, one, run, type Write } from '../store/transaction.ts'
import { claimBatch } from './claims/batch.ts'
import { lapsedOf } from './claims/lapsed.ts'
import { dropOtherInventories, inventoryNews, providerInventories, writeInventories } from './inventories.ts'
import {
  bumpGeneration,
  deleteProvider,
  listProviders,
  lockProvider,
  type Provider,
  type ProviderNews,
  requireUnused,
} from './providers.ts'
import { className, ensureClass } from './resource-classes.ts'
import { isCustom } from './standard.ts'
import { ensureTrait, isMarked, replaceTraits } from './traits.ts'

/** A provider's offer: one unit of a resource class, which can be claimed unless it is blocked, and its traits. */
interface ManagedInventory {
  resourceClass: string
  blocked: boolean
  /** The owner's; Placement's clients may have added others. undefined leaves them as they are. */
  traits?: readonly string[]
}

const ONE = { total: 1, reserved: 0, min_unit: 1, max_unit: 1, step_size: 1, allocation_ratio: 1 }

const blockedNow = query((db, a: { provider: ProviderId; name: string }) =>
  db
    .selectFrom('inventories as i')
    .select(['i.blocked', 'i.used'])
    .where('i.provider_id', '=', a.provider)
    .where(className('i.class_id'), '=', a.name),
)
const setBlocked = command((db, a: { provider: ProviderId; blocked: 0 | 1 }) =>
  db.updateTable('inventories').set({ blocked: a.blocked }).where('provider_id', '=', a.provider),
)
const setDedication = command((db, a: { provider: ProviderId; to: string | null }) =>
  db.updateTable('providers').set({ dedicated_to: a.to }).where('id', '=', a.provider),
)
const setConsumerOwner = command((db, a: { consumer: string; owner: string | null }) =>
  db.updateTable('consumers').set({ managed_by: a.owner }).where('uuid', '=', a.consumer),
)
const consumerOwner = query((db, a: { consumer: string }) =>
  db.selectFrom('consumers').select('managed_by').where('uuid', '=', a.consumer),
)

/** Makes the provider offer exactly this. Its generation grows by one if that is a change. */
export function* setManagedInventory(uuid: string, owner: string, offer: ManagedInventory, now: number): Write<void> {
  const provider = yield* lockProvider(uuid, { changing: 'inventory', owner })
  const inventory = yield* changeInventory(provider, offer, now)
  const traits = offer.traits ? yield* changeTraits(provider, owner, offer.traits, now) : null
  const news = [inventory, traits].filter(one => one !== null)
  if (news.length > 0) yield* bumpGeneration(provider, now, ...news)
}

function* changeInventory(
  provider: Provider,
  { resourceClass, blocked }: ManagedInventory,
  now: number,
): Write<ProviderNews | null> {
  const present = yield* one(blockedNow({ provider: provider.id, name: resourceClass }))
  if (present && (present.blocked === 1) === blocked) return null
  const wanted = new Map([[resourceClass, ONE]])
  let gone: string[] = []
  if (!present) {
    yield* ensureClass(resourceClass, now)
    yield* writeInventories(provider, wanted, now)
    gone = yield* dropOtherInventories(provider, wanted)
  }
  yield* run(setBlocked({ provider: provider.id, blocked: blocked ? 1 : 0 }))
  // A blocked inventory shows as reserved while nobody has it.
  return inventoryNews(new Map([[resourceClass, { ...ONE, reserved: blocked && !present?.used ? 1 : 0 }]]), gone)
}

function* changeTraits(
  provider: Provider,
  owner: string,
  names: readonly string[],
  now: number,
): Write<ProviderNews | null> {
  for (const name of names) if (isCustom(name)) yield* ensureTrait(name, now)
  return yield* replaceTraits(provider, names, owner)
}

/** Lets the owner claim a blocked inventory. Others never see it unblocked: it all happens in one transaction. */
export function* whileUnblocked<T>(provider: ProviderId, blocked: boolean, work: Write<T>): Write<T> {
  if (!blocked) return yield* work
  yield* run(setBlocked({ provider, blocked: 0 }))
  const value = yield* work
  yield* run(setBlocked({ provider, blocked: 1 }))
  return value
}

/** Dedicates a locked provider to one part of Holdfast, which alone hands it out; null opens it to everyone. */
export function* dedicateProvider(provider: Provider, to: string | null): Write<void> {
  yield* run(setDedication({ provider: provider.id, to }))
  yield* note([{ provider: provider.id }])
}

/** Hands a consumer from one owner to another; null is Placement. Refused when a third one owns it. */
export function* ownConsumer(consumer: string, from: string | null, to: string | null): Write<void> {
  const found = yield* one(consumerOwner({ consumer }))
  if (!found || found.managed_by === to) return
  if (found.managed_by !== from) {
    throw problem('consumer_managed', { consumer, owner: found.managed_by ?? 'Placement' })
  }
  yield* run(setConsumerOwner({ consumer, owner: to }))
}

/** Releases the claims of an owner's expired consumers, at most `limit` at once; returns how many there were. */
export function* releaseLapsed(owner: string, limit: number, now: number): Write<number> {
  const lapsed = yield* all(lapsedOf({ owner, limit, now }))
  if (lapsed.length === 0) return 0
  const releases = lapsed.map(({ uuid }) => ({ kind: 'release', consumer: uuid, owner }) as const)
  yield* claimBatch(releases, now)
  return lapsed.length
}

/**
 * Deletes an owner's provider. One that a Nova has marked with its traits stays, empty and without an owner: Nova deletes
 * it when it sees that the machine is gone, and a nova-compute that finds the provider gone before it doesn't start.
 */
export function* giveUpProvider(uuid: string, owner: string, now: number): Write<void> {
  const provider = yield* lockProvider(uuid, { changing: 'life', purpose: 'delete', owner })
  if (provider.dedicated_to !== null || !(yield* isMarked(provider))) {
    yield* deleteProvider(uuid, owner)
    return
  }
  yield* requireUnused(provider)
  const gone = yield* dropOtherInventories(provider, new Map())
  const traits = yield* replaceTraits(provider, [], owner)
  yield* run(setProviderOwner({ id: provider.id, owner: null }))
  yield* bumpGeneration(provider, now, inventoryNews(new Map(), gone), ...(traits ? [traits] : []))
}

/** Takes back a provider that was given up and that Nova has not deleted yet; null if there is none. */
export function* takeBackProvider(uuid: string, owner: string): Write<Provider | null> {
  const [found] = yield* listProviders({ uuid })
  if (!found || found.managed_by !== null || found.name !== uuid) return null
  const provider = yield* lockProvider(uuid)
  const { inventories } = yield* providerInventories(uuid)
  if (provider.managed_by !== null || inventories.length > 0 || !(yield* isMarked(provider))) return null
  yield* run(setProviderOwner({ id: provider.id, owner }))
  return { ...provider, managed_by: owner }
}

const setProviderOwner = command((db, a: { id: ProviderId; owner: string | null }) =>
  db.updateTable('providers').set({ managed_by: a.owner }).where('id', '=', a.id),
)

/** Hands a provider that nobody manages to an owner; refused when someone else manages it. */
export function* ownProvider(provider: Provider, owner: string): Write<void> {
  if (provider.managed_by === owner) return
  if (provider.managed_by !== null) {
    throw problem('provider_managed', { provider: provider.uuid, owner: provider.managed_by, what: 'life' })
  }
  yield* run(setProviderOwner({ id: provider.id, owner }))
}
