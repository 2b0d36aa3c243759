// Traits: names for what a provider is or can do. Some are standard, and clients make custom ones.
import { someOf } from '../events/subject.ts'
import { problem } from '../problems/problem.ts'
import type { ProviderId, TraitId } from '../store/schema/ids.ts'
import { bulk, type Command, command, inRow, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, runAll, together, type Write } from '../store/transaction.ts'
import {
  bumpAfter,
  findProvider,
  lockProviderWith,
  type Provider,
  type ProviderNews,
  touchProvider,
} from './providers.ts'
import { isCustom } from './standard.ts'

export interface Trait {
  id: TraitId
  name: string
  created_at: number
}

export interface TraitFilter {
  names?: readonly string[]
  prefix?: string
  /** Only traits that some provider has, or only those that none has. */
  associated?: boolean
}

const traitByName = query((db, a: { name: string }) => db.selectFrom('traits').selectAll().where('name', '=', a.name))
const traitsByName = query((db, a: { names: readonly string[] }, on) =>
  db.selectFrom('traits').selectAll().where(on.isIn('name', a.names)).orderBy('name'),
)
const everyTrait = query((db, _: object) => db.selectFrom('traits').selectAll().orderBy('name'))
const traitsInUse = query((db, _: object) => db.selectFrom('provider_traits').select('trait_id as id').distinct())
const addTrait = command((db, a: { name: string; now: number }) =>
  db.insertInto('traits').values({ name: a.name, created_at: a.now }),
)
const removeTrait = command((db, a: { id: TraitId }) => db.deleteFrom('traits').where('id', '=', a.id))
const useOfTrait = query((db, a: { id: TraitId }) =>
  db.selectFrom('provider_traits').select('trait_id').where('trait_id', '=', a.id).limit(1),
)
const traitsOfProvider = query((db, a: { provider: ProviderId }, on) =>
  db
    .selectFrom('traits')
    .select(['id', 'name', 'created_at'])
    .where(on.isAmong('id', db.selectFrom('provider_traits').select('trait_id').where('provider_id', '=', a.provider)))
    .orderBy(on.unindexed('name', 'text')),
)
const traitsWithOrigin = query((db, a: { provider: ProviderId }) =>
  db
    .selectFrom('provider_traits as p')
    .select(['p.trait_id as id', 'p.origin', inRow<string>('traits', 'name', 'p.trait_id').as('name')])
    .where('p.provider_id', '=', a.provider),
)
const traitsWithOriginOf = query((db, a: { uuid: string }) =>
  db
    .selectFrom('provider_traits as p')
    .select(['p.trait_id as id', 'p.origin', inRow<string>('traits', 'name', 'p.trait_id').as('name')])
    .where('p.provider_id', '=', db.selectFrom('providers').select('id').where('uuid', '=', a.uuid)),
)
interface ProviderTrait {
  provider_id: ProviderId
  trait_id: TraitId
  origin: string
}
const PROVIDER_TRAIT = { provider_id: 'bigint', trait_id: 'bigint', origin: 'text' } as const
const addProviderTraits = bulk<ProviderTrait>(PROVIDER_TRAIT, (db, r, on) =>
  on.insert(db.insertInto('provider_traits'), { ...r }),
)
interface TraitsOfOrigin {
  provider: ProviderId
  traits: readonly TraitId[]
  origin: string
}
const removeProviderTraits = command((db, a: TraitsOfOrigin, on) =>
  db
    .deleteFrom('provider_traits')
    .where('provider_id', '=', a.provider)
    .where(on.isIn('trait_id', a.traits, 'bigint'))
    .where('origin', '=', a.origin),
)

/** The origin of the traits that Placement's clients have set. Others are of the provider's owner, and have its name. */
export const PLACEMENT = 'placement'

/**
 * Whether Placement's clients may add this trait to a provider that another part of Holdfast owns. These traits say what
 * the compute service can do that looks after a node, and whether it is disabled: Nova sets them, and the node has no say.
 */
const isOfCompute = (name: string) => name.startsWith('COMPUTE_')

export function* listTraits(filter: TraitFilter): Read<Trait[]> {
  let found = yield* all(filter.names ? traitsByName({ names: filter.names }) : everyTrait({}))
  if (filter.prefix !== undefined) found = found.filter(trait => trait.name.startsWith(filter.prefix!))
  if (filter.associated !== undefined) {
    const used = new Set((yield* all(traitsInUse({}))).map(row => row.id))
    found = found.filter(trait => used.has(trait.id) === filter.associated)
  }
  return found
}

export function* findTrait(name: string): Read<Trait> {
  const found = yield* one(traitByName({ name }))
  if (!found) throw problem('trait_not_found', { name })
  return found
}

/** Makes sure that a custom trait exists; returns when it was made and whether it is new. */
export function* ensureTrait(name: string, now: number): Write<{ isNew: boolean; created_at: number }> {
  const found = yield* one(traitByName({ name }))
  if (found) return { isNew: false, created_at: found.created_at }
  yield* run(addTrait({ name, now }))
  yield* mark({ kind: 'trait', id: name })
  return { isNew: true, created_at: now }
}

export function* deleteTrait(name: string): Write<void> {
  const found = yield* findTrait(name)
  if (!isCustom(name)) throw problem('trait_standard', { name })
  if (yield* one(useOfTrait({ id: found.id }))) throw problem('trait_in_use', { name })
  yield* run(removeTrait({ id: found.id }))
  yield* mark({ kind: 'trait', id: name })
}

/** All traits of a provider, whoever gave them. */
export function* providerTraits(uuid: string): Read<{ provider: Provider; traits: Trait[] }> {
  const provider = yield* findProvider(uuid)
  return { provider, traits: yield* all(traitsOfProvider({ provider: provider.id })) }
}

/**
 * Replaces a provider's traits for a client of Placement. Its generation grows only when the set changes. On a provider
 * with an owner only what the client may add is stored, as Placement's own.
 */
export function* setProviderTraits(
  uuid: string,
  names: readonly string[],
  generation: number | null,
  now: number,
): Write<{ generation: number; traits: Trait[] }> {
  const [provider, named, present] = yield* lockProviderWith(
    uuid,
    {},
    traitsByName({ names }),
    traitsWithOriginOf({ uuid }),
  )
  if (generation !== null && generation !== provider.generation) {
    throw problem('generation_conflict', {
      reason: "Resource provider's generation already changed. Please update the generation and try again.",
    })
  }
  const own = provider.managed_by === null ? names : placementsPart(provider, names, present)
  const wanted = wantedOf(own, named)
  const { writes, news } = changeOf({ provider, wanted, present, origin: PLACEMENT })
  let after = provider.generation
  const byId = wanted.toSorted((a, b) => a.id - b.id)
  const isOurs = present.every(trait => trait.origin === PLACEMENT)
  const parts = isOurs && { parts: { traits: byId.map(trait => trait.name) } }
  if (news) after = yield* bumpAfter({ commands: writes, ...parts }, provider, now, news)
  else if (writes.length > 0) yield* silently(provider, writes)
  return { generation: after, traits: isOurs ? wanted : yield* all(traitsOfProvider({ provider: provider.id })) }
}

/** What of a wanted set is Placement's to have on a provider with an owner. The rest must be just what the owner gave. */
function placementsPart(provider: Provider, names: readonly string[], present: readonly GivenTrait[]): string[] {
  const ofOwner = present.filter(trait => trait.origin !== PLACEMENT).map(trait => trait.name)
  const isKept = ofOwner.every(name => names.includes(name))
  const isAllowed = names.every(name => isOfCompute(name) || ofOwner.includes(name))
  // Who takes all traits away where Placement has none means the owner's, even if there are none at the moment.
  const isClearing = names.length === 0 && present.length === 0
  if (!isKept || !isAllowed || isClearing) {
    throw problem('provider_managed', { provider: provider.uuid, owner: provider.managed_by!, what: 'traits' })
  }
  return names.filter(isOfCompute)
}

/** Whether Placement's clients have given the provider a trait. */
export function* isMarked(provider: Provider): Read<boolean> {
  return (yield* all(traitsWithOrigin({ provider: provider.id }))).some(trait => trait.origin === PLACEMENT)
}

/**
 * Replaces the traits that `origin` gave to a locked provider; returns what changed in the whole set, if anything. The
 * caller raises the generation.
 */
export function* replaceTraits(
  provider: Provider,
  names: readonly string[],
  origin: string,
): Write<ProviderNews | null> {
  const [named, present] = yield* together(traitsByName({ names }), traitsWithOrigin({ provider: provider.id }))
  const { writes, news } = changeOf({ provider, wanted: wantedOf(names, named), present, origin })
  if (news) yield* runAll(writes)
  else if (writes.length > 0) yield* silently(provider, writes)
  return news
}

/** Copies of the ledger learn whose the traits are; to clients nothing has changed. */
function* silently(provider: Provider, writes: readonly Command[]): Write<void> {
  yield* runAll(writes)
  yield* touchProvider(provider)
}

/** Those of the named traits that are wanted. Each of these must exist. */
function wantedOf(names: readonly string[], named: readonly Trait[]): Trait[] {
  const wanted = named.filter(trait => names.includes(trait.name))
  if (wanted.length < new Set(names).size) {
    const known = new Set(wanted.map(trait => trait.name))
    const unknown = [...new Set(names)].filter(name => !known.has(name))
    throw problem('trait_unknown', { names: unknown.join(', ') })
  }
  return wanted
}

interface TraitChange {
  provider: Provider
  wanted: readonly Named[]
  present: readonly GivenTrait[]
  origin: string
}

/** What to write, and what it changes in the whole set: nothing, where a trait comes from both sides. */
function changeOf({ provider, wanted, present, origin }: TraitChange): {
  writes: readonly Command[]
  news: ProviderNews | null
} {
  const others = new Set(present.filter(trait => trait.origin !== origin).map(trait => trait.id))
  const before = present.filter(trait => trait.origin === origin)
  const added = except(wanted, before)
  const removed = except(before, wanted)
  const rows = added.map(trait => ({ provider_id: provider.id, trait_id: trait.id, origin }))
  const traits = removed.map(trait => trait.id)
  const writes = [
    ...(removed.length > 0 ? [removeProviderTraits({ provider: provider.id, traits, origin })] : []),
    ...(added.length > 0 ? [addProviderTraits({ rows })] : []),
  ]
  const namesOf = (some: readonly Named[]) => someOf(some.filter(({ id }) => !others.has(id)).map(({ name }) => name))
  const data = { added: namesOf(added), removed: namesOf(removed) }
  const isNews = data.added.length > 0 || data.removed.length > 0
  return { writes, news: isNews ? { became: 'traits', data } : null }
}

type Named = Pick<Trait, 'id' | 'name'>
type GivenTrait = Named & { origin: string }

function except(some: readonly Named[], others: readonly Named[]): Named[] {
  const ids = new Set(others.map(trait => trait.id))
  return some.filter(trait => !ids.has(trait.id))
}
