// Traits: names for what a provider is or can do. Some are standard, and clients make custom ones.
import { someOf } from '../events/subject.ts'
import { problem } from '../problems/problem.ts'
import type { ProviderId, TraitId } from '../store/schema/ids.ts'
import { bulk, command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'
import { bumpGeneration, findProvider, lockProvider, type Provider, type ProviderNews } from './providers.ts'
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
  db.selectFrom('provider_traits').select('provider_id').where('trait_id', '=', a.id).limit(1),
)
const traitsOfProvider = query((db, a: { provider: ProviderId }, on) =>
  db
    .selectFrom('traits')
    .select(['id', 'name', 'created_at'])
    .where(on.isAmong('id', db.selectFrom('provider_traits').select('trait_id').where('provider_id', '=', a.provider)))
    .orderBy(on.unindexed('name', 'text')),
)
interface ProviderTrait {
  provider_id: ProviderId
  trait_id: TraitId
}
const addProviderTraits = bulk<ProviderTrait>({ provider_id: 'bigint', trait_id: 'bigint' }, (db, r, on) =>
  on.insert(db.insertInto('provider_traits'), { provider_id: r.provider_id, trait_id: r.trait_id }),
)
const removeProviderTraits = command((db, a: { provider: ProviderId; traits: readonly TraitId[] }, on) =>
  db
    .deleteFrom('provider_traits')
    .where('provider_id', '=', a.provider)
    .where(on.isIn('trait_id', a.traits, 'bigint')),
)

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

export function* providerTraits(uuid: string): Read<{ provider: Provider; traits: Trait[] }> {
  const provider = yield* findProvider(uuid)
  return { provider, traits: yield* all(traitsOfProvider({ provider: provider.id })) }
}

/** Replaces a provider's traits. Its generation grows only when the set changes. */
export function* setProviderTraits(
  uuid: string,
  names: readonly string[],
  generation: number | null,
  now: number,
): Write<{ generation: number; traits: Trait[] }> {
  const provider = yield* lockProvider(uuid, { changing: 'traits' })
  if (generation !== null && generation !== provider.generation) {
    throw problem('generation_conflict', {
      reason: "Resource provider's generation already changed. Please update the generation and try again.",
    })
  }
  const { news, traits } = yield* replaceTraits(provider, names)
  return { generation: news ? yield* bumpGeneration(provider, now, news) : provider.generation, traits }
}

/** Replaces the traits of a locked provider; returns what changed, if anything. The caller raises the generation. */
export function* replaceTraits(
  provider: Provider,
  names: readonly string[],
): Write<{ news: ProviderNews | null; traits: Trait[] }> {
  const wanted = yield* all(traitsByName({ names }))
  if (wanted.length < new Set(names).size) {
    const known = new Set(wanted.map(trait => trait.name))
    const unknown = [...new Set(names)].filter(name => !known.has(name))
    throw problem('trait_unknown', { names: unknown.join(', ') })
  }
  const present = yield* all(traitsOfProvider({ provider: provider.id }))
  const wantedIds = new Set(wanted.map(trait => trait.id))
  const presentIds = new Set(present.map(trait => trait.id))
  const added = wanted.filter(trait => !presentIds.has(trait.id))
  const removed = present.filter(trait => !wantedIds.has(trait.id))
  if (added.length === 0 && removed.length === 0) return { news: null, traits: wanted }

  yield* run(removeProviderTraits({ provider: provider.id, traits: removed.map(trait => trait.id) }))
  const rows = added.map(trait => ({ provider_id: provider.id, trait_id: trait.id }))
  yield* run(addProviderTraits({ rows }))
  const namesOf = (some: readonly Trait[]) => someOf(some.map(({ name }) => name))
  return { news: { became: 'traits', data: { added: namesOf(added), removed: namesOf(removed) } }, traits: wanted }
}
