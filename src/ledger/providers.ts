// Resource providers and the trees that they form.
import { type Kysely, sql } from 'kysely'
import { subject, type Word } from '../events/subject.ts'
import { problem } from '../problems/problem.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import type { SnapshotParts } from './candidates/snapshot.ts'
import type { Schema } from '../store/schema.ts'
import { type Command, command, inRow, type Query, query } from '../store/statement.ts'
import {
  all,
  later,
  mark,
  note,
  one,
  type Read,
  type RowsOf,
  run,
  type Subject,
  together,
  type Write,
} from '../store/transaction.ts'

export interface Provider {
  id: ProviderId
  uuid: string
  name: string
  generation: number
  parent_id: ProviderId | null
  parent_uuid: string | null
  root_id: ProviderId
  root_uuid: string
  managed_by: string | null
  dedicated_to: string | null
  created_at: number
  updated_at: number | null
  revision: number
}

const selectProviders = (db: Kysely<Schema>) =>
  db
    .selectFrom('providers as p')
    .select(['p.id', 'p.uuid', 'p.name', 'p.generation', 'p.parent_id', 'p.managed_by', 'p.dedicated_to'])
    .select(['p.created_at', 'p.updated_at', 'p.revision'])
    .select(sql<ProviderId>`p.root_id`.as('root_id'))
    .select(inRow<string | null>('providers', 'uuid', 'p.parent_id').as('parent_uuid'))
    .select(inRow<string>('providers', 'uuid', 'p.root_id').as('root_uuid'))

export const providerByUuid = query((db, a: { uuid: string }) => selectProviders(db).where('p.uuid', '=', a.uuid))
// Locks the row alone. With parent and root joined in, PostgreSQL would drop a row that moves while we wait.
const lockRow = command((db, a: { uuid: string }, on) =>
  on.lock(db.selectFrom('providers').select('id').where('uuid', '=', a.uuid)),
)
const lockRows = command((db, a: { ids: readonly ProviderId[] }, on) =>
  on.lock(
    db
      .selectFrom('providers')
      .select('id')
      .where(on.isIn('id', a.ids, 'bigint'))
      .orderBy('id'),
  ),
)
const everyProvider = query((db, _: object) => selectProviders(db).orderBy('p.id'))
const providersByName = query((db, a: { name: string }) => selectProviders(db).where('p.name', '=', a.name))
const providersById = query((db, a: { ids: readonly ProviderId[] }, on) =>
  selectProviders(db)
    .where(on.isIn('p.id', a.ids, 'bigint'))
    .orderBy('p.id'),
)
const childOf = query((db, a: { id: ProviderId }) =>
  db.selectFrom('providers').select('id').where('parent_id', '=', a.id).limit(1),
)
const managedBelow = query((db, a: { id: ProviderId }, on) =>
  db
    .selectFrom('providers')
    .select(['uuid', 'managed_by'])
    .where('parent_id', '=', a.id)
    .where('managed_by', 'is not', null)
    .orderBy(on.unindexed('id')),
)
const dedication = query((db, a: { id: ProviderId }) =>
  db.selectFrom('providers').select('dedicated_to').where('id', '=', a.id),
)
const claimOn = query((db, a: { id: ProviderId }) =>
  db.selectFrom('claims').select('consumer_id').where('provider_id', '=', a.id).limit(1),
)
const subtree = query((db, a: { id: ProviderId }) =>
  db
    .withRecursive('members', c =>
      c
        .selectFrom('providers')
        .select('id')
        .where('id', '=', a.id)
        .unionAll(
          c.selectFrom('providers').innerJoin('members', 'members.id', 'providers.parent_id').select('providers.id'),
        ),
    )
    .selectFrom('members')
    .select('id'),
)
const setRoot = command((db, a: { ids: readonly ProviderId[]; root: ProviderId }, on) =>
  db
    .updateTable('providers')
    .set(e => ({ root_id: a.root, revision: e('revision', '+', 1) }))
    .where(on.isIn('id', a.ids, 'bigint')),
)
const changeProvider = command((db, a: { id: ProviderId; name: string; parent: ProviderId | null; now: number }) =>
  db.updateTable('providers').set({ name: a.name, parent_id: a.parent, updated_at: a.now }).where('id', '=', a.id),
)
const removeProvider = command((db, a: { id: ProviderId }) => db.deleteFrom('providers').where('id', '=', a.id))
const bump = command((db, a: { id: ProviderId; by: number; now: number }) =>
  db
    .updateTable('providers')
    .set(e => ({ generation: e('generation', '+', a.by), revision: e('revision', '+', 1), updated_at: a.now }))
    .where('id', '=', a.id)
    .returning(['generation', 'revision']),
)
const newRevision = command((db, a: { id: ProviderId }) =>
  db
    .updateTable('providers')
    .set(e => ({ revision: e('revision', '+', 1) }))
    .where('id', '=', a.id),
)
// Trees change one at a time, because two changes at once could make a loop. Changes are rare, so nobody waits long.
export const lockTrees = command((db, _: object, on) =>
  db.selectNoFrom((on.dialect === 'postgres' ? sql`pg_advisory_xact_lock(8781)` : sql`1`).as('locked')),
)

export function* findProvider(uuid: string): Read<Provider> {
  const found = yield* one(providerByUuid({ uuid }))
  if (!found) throw problem('provider_not_found', { provider: uuid })
  return found
}

/** Locks the provider until the transaction ends. With `changing`, refuses if another part of Holdfast owns it. */
export function* lockProvider(uuid: string, options: LockOptions = {}): Write<Provider> {
  return (yield* lockProviderWith(uuid, options))[0]
}

interface LockOptions {
  changing?: string
  purpose?: string
  owner?: string | null
}

/** Like lockProvider, with queries in the same burst. They see what the provider is once it is locked. */
export function* lockProviderWith<const C extends readonly Query[]>(
  uuid: string,
  { changing, purpose, owner = null }: LockOptions,
  ...queries: C
): Write<[Provider, ...RowsOf<C>]> {
  const [, [found], ...rows] = (yield* together(lockRow({ uuid }), providerByUuid({ uuid }), ...queries)) as [
    unknown,
    Provider[],
    ...RowsOf<C>,
  ]
  if (!found) throw problem('provider_not_found', { provider: uuid, ...(purpose && { purpose }) })
  if (changing && found.managed_by !== null && found.managed_by !== owner) {
    throw problem('provider_managed', { provider: uuid, owner: found.managed_by, what: changing })
  }
  return [found, ...rows] as [Provider, ...RowsOf<C>]
}

/** Locks and reads the providers with these ids. Those that are gone are left out. */
export function* lockProvidersWith(ids: readonly ProviderId[]): Write<Provider[]> {
  const [, found] = yield* together(lockRows({ ids }), providersById({ ids }))
  return found
}

/** What became of a provider, and what there is to know of it. */
export interface ProviderNews {
  became: Word<'provider'>
  data?: NonNullable<Subject['data']>
}

interface Generations {
  before: number | null
  after: number | null
}

/** Clients need no project to see a provider, but the right to see all of them. */
export const markProvider = (
  { uuid, name }: Pick<Provider, 'uuid' | 'name'>,
  { before, after }: Generations,
  { became, data }: ProviderNews,
) => mark(subject('provider', uuid, became, { before, after, data: { name, ...data } }))

/** For a change that raises the provider's generation. */
export function* bumpGeneration(provider: Provider, now: number, ...news: readonly ProviderNews[]): Write<number> {
  const bumped = yield* one(bump({ id: provider.id, by: 1, now }))
  return yield* tellBumped({ ...provider, ...bumped! }, undefined, news)
}

/** What a change writes before the generation is raised, and the parts that copies of the ledger may replace by it. */
interface Writes {
  commands: readonly Command[]
  parts?: SnapshotParts
}

/** Like bumpGeneration, and both go with the commit. The provider was locked, and the transaction changes it once. */
export function* bumpAfter(
  { commands, parts }: Writes,
  provider: Provider,
  now: number,
  ...news: readonly ProviderNews[]
): Write<number> {
  yield* later([...commands, bump({ id: provider.id, by: 1, now })])
  const [generation, revision] = [provider.generation + 1, provider.revision + 1]
  return yield* tellBumped({ ...provider, generation, revision }, parts, news)
}

function* tellBumped(after: Provider, parts: SnapshotParts | undefined, news: readonly ProviderNews[]): Write<number> {
  const { id, generation, revision } = after
  // Whose traits they are matters where the provider has an owner: then it is read again.
  const isPlain = parts !== undefined && after.managed_by === null
  yield* note([{ provider: id, ...(isPlain && { revision, generation, parts }) }])
  for (const one of news) yield* markProvider(after, { before: generation - 1, after: generation }, one)
  return generation
}

/** For a change that doesn't raise the provider's generation. */
export function* touchProvider(provider: Provider): Write<void> {
  yield* run(newRevision({ id: provider.id }))
  yield* note([{ provider: provider.id }])
}

/** A client's decimal number as an id. A provider with this id need not exist. */
export const idIn = (text: string): ProviderId | null => (/^\d{1,15}$/.test(text) ? (Number(text) as ProviderId) : null)

/** All providers, or those with a uuid, a name or one of the ids. Other filters are searched first and come as ids. */
export function* listProviders(filter: {
  uuid?: string
  name?: string
  ids?: readonly ProviderId[]
}): Read<Provider[]> {
  let found: Provider[]
  if (filter.uuid !== undefined) found = yield* all(providerByUuid({ uuid: filter.uuid }))
  else if (filter.name !== undefined) found = yield* all(providersByName({ name: filter.name }))
  else if (filter.ids !== undefined) found = yield* all(providersById({ ids: filter.ids }))
  else found = yield* all(everyProvider({}))
  const ids = filter.ids && new Set(filter.ids)
  return found.filter(p => (filter.name === undefined || p.name === filter.name) && (!ids || ids.has(p.id)))
}

/** A provider's new name and parent. */
interface ProviderChange {
  name: string
  /** undefined leaves the parent as it is. */
  parentUuid: string | null | undefined
  mayReparent: boolean
}

/** Changes name and parent; returns the provider before and after. */
export function* updateProvider(
  uuid: string,
  change: ProviderChange,
  now: number,
): Write<{ before: Provider; after: Provider }> {
  if (change.parentUuid !== undefined) yield* run(lockTrees({}))
  const before = yield* lockProvider(uuid)
  const moves = change.parentUuid !== undefined && change.parentUuid !== before.parent_uuid
  if (before.managed_by !== null && (moves || change.name !== before.name)) {
    throw problem('provider_managed', { provider: uuid, owner: before.managed_by, what: 'name and parent' })
  }
  const parent = moves ? yield* newParent(before, change) : before.parent_id
  const taken = yield* all(providersByName({ name: change.name }))
  if (taken.some(other => other.id !== before.id)) throw problem('provider_exists', { duplicate: change.name })
  yield* run(changeProvider({ id: before.id, name: change.name, parent, now }))
  if (moves) yield* moveSubtree(before.id, parent)
  else yield* touchProvider(before)
  const after = yield* findProvider(uuid)
  const same = { before: before.generation, after: before.generation }
  yield* markProvider(after, same, { became: 'changed', data: { parent: after.parent_uuid } })
  return { before, after }
}

function* newParent(child: Provider, { parentUuid, mayReparent }: ProviderChange): Write<ProviderId | null> {
  const refuse = (reason: string, action = 'update') =>
    problem('provider_parent_refused', {
      verb: 'save',
      provider: child.uuid,
      reason: `Object action ${action} failed because: ${reason}`,
    })
  if (parentUuid == null) {
    if (!mayReparent) throw refuse('un-parenting a provider is not currently allowed.')
    return null
  }
  const parent = yield* one(providerByUuid({ uuid: parentUuid }))
  if (!parent) throw refuse('parent provider UUID does not exist.', 'create')
  if (child.parent_id !== null && !mayReparent) throw refuse('re-parenting a provider is not currently allowed.')
  const members = yield* all(subtree({ id: child.id }))
  if (members.some(member => member.id === parent.id)) {
    throw refuse('creating loop in the provider tree is not allowed.')
  }
  return parent.id
}

function* moveSubtree(id: ProviderId, parent: ProviderId | null): Write<void> {
  const members = (yield* all(subtree({ id }))).map(member => member.id)
  const root = parent === null ? id : (yield* all(providersById({ ids: [parent] })))[0]!.root_id
  yield* run(setRoot({ ids: members, root }))
  yield* note(members.map(provider => ({ provider })))
}

export function* deleteProvider(uuid: string, owner: string | null = null): Write<void> {
  const provider = yield* lockProvider(uuid, { purpose: 'delete' })
  const manager = provider.dedicated_to ?? ((yield* isLetGo(provider)) ? null : provider.managed_by)
  if (manager !== null && (manager !== owner || provider.dedicated_to !== null)) {
    throw problem('provider_managed', { provider: uuid, owner: manager, what: 'life' })
  }
  // What was let go below it goes with it.
  for (const child of yield* all(managedBelow({ id: provider.id }))) yield* deleteProvider(child.uuid, child.managed_by)
  yield* requireUnused(provider)
  yield* run(removeProvider({ id: provider.id }))
  yield* note([{ provider: provider.id }])
  yield* markProvider(provider, { before: provider.generation, after: null }, { became: 'deleted' })
}

/** Whether an owner has let its child go: the parent isn't dedicated to that owner any more. Anyone may delete it. */
function* isLetGo({ managed_by, parent_id }: Provider): Read<boolean> {
  if (managed_by === null || parent_id === null) return false
  return (yield* one(dedication({ id: parent_id })))?.dedicated_to !== managed_by
}

/** It has neither children nor claims. */
export function* requireUnused({ id, uuid }: Provider): Read<void> {
  if (yield* one(childOf({ id }))) throw problem('provider_has_children', { provider: uuid })
  if (yield* one(claimOn({ id }))) throw problem('provider_in_use', { provider: uuid })
}
