// Shares: amounts that another part of Holdfast sets aside on its providers, with a resource class for each purpose.
// They are written many at a time, because many begin in the same minute.
import { sql } from 'kysely'
import { subject } from '../events/subject.ts'
import { problem } from '../problems/problem.ts'
import type { ProviderId, ResourceClassId } from '../store/schema/ids.ts'
import { command, inRow, query } from '../store/statement.ts'
import { all, mark, note, one, type Read, run, runAll, type Write } from '../store/transaction.ts'
import { lockInvolved } from './claims/batch.ts'
import { bumpProviders } from './claims/statements.ts'
import { capacityOf, inventoryNews, putInventories, removeInventories } from './inventories.ts'
import { classesNamed } from './resource-classes.ts'

export interface Share {
  /** The uuid of the provider. */
  provider: string
  resourceClass: string
  total: number
}

const ofOwner = query((db, a: { uuids: readonly string[]; owner: string }, on) =>
  db.selectFrom('providers').select(['id', 'uuid']).where(on.isIn('uuid', a.uuids)).where('managed_by', '=', a.owner),
)
const holders = query((db, a: { class: ResourceClassId }, on) =>
  db
    .selectFrom('inventories')
    .select(['provider_id as id', 'used'])
    .select(inRow<string>('providers', 'uuid', 'provider_id').as('uuid'))
    .select(inRow<string | null>('providers', 'managed_by', 'provider_id').as('managed_by'))
    .where('class_id', '=', a.class)
    .orderBy(on.unindexed('provider_id')),
)
const holdersOf = query((db, a: { names: readonly string[] }, on) =>
  db
    .selectFrom('inventories')
    .select(['provider_id as id', 'class_id'])
    .select(inRow<string>('providers', 'uuid', 'provider_id').as('uuid'))
    .where(on.isAmong('class_id', db.selectFrom('resource_classes').select('id').where(on.isIn('name', a.names)))),
)
const block = command((db, a: { classes: readonly ResourceClassId[] }, on) =>
  db
    .updateTable('inventories')
    .set({ blocked: 1 })
    .where(on.isIn('class_id', a.classes, 'bigint'))
    .where('blocked', '=', 0),
)
const consumersOfClass = query((db, a: { name: string; limit: number }, on) => {
  const ofClass = db.selectFrom('resource_classes').select('id').where('name', '=', a.name)
  const offered = db.selectFrom('inventories').select('provider_id').where(on.isAmong('class_id', ofClass))
  const holding = db
    .selectFrom('claims')
    .select('consumer_id')
    .where(on.isAmong('provider_id', offered))
    .where(on.isAmong(on.unindexed('class_id'), ofClass))
  return db
    .selectFrom('consumers')
    .select('uuid')
    .where(on.isAmong('id', holding))
    .orderBy(on.unindexed('uuid', 'text'))
    .limit(sql<number>`cast(${a.limit} as bigint)`)
})
const removeClass = command((db, a: { id: ResourceClassId }) =>
  db.deleteFrom('resource_classes').where('id', '=', a.id),
)
const classNamed = query((db, a: { name: string }) =>
  db.selectFrom('resource_classes').select('id').where('name', '=', a.name),
)

const termsOf = (total: number) => ({
  total,
  reserved: 0,
  min_unit: 1,
  max_unit: 1,
  step_size: 1,
  allocation_ratio: 1,
})

/** Sets shares aside. A share that already exists gets the new total. */
export function* putShares(shares: readonly Share[], owner: string, now: number): Write<void> {
  if (shares.length === 0) return
  const uuids = [...new Set(shares.map(share => share.provider))]
  yield* lockInvolved([], uuids)
  const ids = new Map((yield* all(ofOwner({ uuids, owner }))).map(({ id, uuid }) => [uuid, id]))
  const classes = yield* classesNamed([...new Set(shares.map(share => share.resourceClass))])
  const rows = shares.map(({ provider, resourceClass, total }) => {
    const provider_id = ids.get(provider)
    const class_id = classes.get(resourceClass)?.id
    if (provider_id === undefined) throw problem('provider_not_found', { provider })
    if (class_id === undefined) throw problem('class_not_found', { name: resourceClass })
    const terms = termsOf(total)
    return { provider_id, class_id, ...terms, capacity: capacityOf(terms), now }
  })
  yield* run(putInventories({ rows }))
  yield* bumpAll(
    [...ids].map(([uuid, id]) => ({ id, uuid })),
    now,
    { set: Map.groupBy(shares, share => share.provider) },
  )
}

/** Removes one share; refused while someone uses it. */
export function* dropShare(provider: string, resourceClass: string, owner: string, now: number): Write<void> {
  yield* lockInvolved([], [provider])
  const found = yield* one(classNamed({ name: resourceClass }))
  const holder = found && (yield* all(holders({ class: found.id }))).find(({ uuid }) => uuid === provider)
  if (!found || !holder) return
  if (holder.managed_by !== owner) {
    throw problem('provider_managed', { provider, owner: holder.managed_by ?? 'Placement', what: 'inventory' })
  }
  if (holder.used > 0) throw problem('inventory_in_use', { resourceClasses: resourceClass, provider })
  yield* run(removeInventories({ provider: holder.id, classes: [found.id] }))
  yield* bumpAll([holder], now, { gone: [resourceClass] })
}

/**
 * Closes all shares of these classes: nobody can claim them from now on, and present claims stay until they are
 * released. `leaving` are consumers that the same transaction removes: they are locked first.
 */
export function* closeShares(names: readonly string[], leaving: readonly string[], now: number): Write<void> {
  const found = yield* all(holdersOf({ names }))
  const releases = leaving.map(consumer => ({ kind: 'release', consumer, owner: null }) as const)
  yield* lockInvolved(
    releases,
    found.map(({ uuid }) => uuid),
  )
  if (found.length === 0) return
  const blocked = yield* run(block({ classes: [...new Set(found.map(({ class_id }) => class_id))] }))
  const closed = new Map(found.map(({ id, uuid }) => [id, { id, uuid }]))
  if (blocked > 0) yield* bumpAll([...closed.values()], now, { gone: names })
}

/** The uuids of up to `limit` consumers with claims on a class. */
export function* usersOfClass(name: string, limit: number): Read<string[]> {
  return (yield* all(consumersOfClass({ name, limit }))).map(({ uuid }) => uuid)
}

/** Removes all shares of a class, and the class itself; refused while someone uses one. */
export function* dropShares(resourceClass: string, now: number): Write<void> {
  const found = yield* one(classNamed({ name: resourceClass }))
  if (!found) return
  const before = yield* all(holders({ class: found.id }))
  yield* lockInvolved(
    [],
    before.map(({ uuid }) => uuid),
  )
  const held = yield* all(holders({ class: found.id }))
  if (held.some(({ used }) => used > 0)) throw problem('class_in_use', { name: resourceClass })
  yield* runAll(held.map(({ id }) => removeInventories({ provider: id, classes: [found.id] })))
  yield* bumpAll(held, now, { gone: [resourceClass] })
  yield* run(removeClass({ id: found.id }))
}

interface ShareNews {
  /** The shares that were set, by the uuid of their provider. */
  set?: ReadonlyMap<string, readonly Share[]>
  /** The classes of shares that nobody can claim any more. */
  gone?: readonly string[]
}

function* bumpAll(
  providers: readonly { id: ProviderId; uuid: string }[],
  now: number,
  { set, gone = [] }: ShareNews,
): Write<void> {
  if (providers.length === 0) return
  yield* run(bumpProviders({ rows: providers.map(({ id }) => ({ id, bumps: 1, now })) }))
  yield* note(providers.map(({ id }) => ({ provider: id })))
  const newsOf = (uuid: string) =>
    inventoryNews(
      new Map((set?.get(uuid) ?? []).map(({ resourceClass, total }) => [resourceClass, termsOf(total)])),
      gone,
    )
  yield* mark(...providers.map(({ uuid }) => subject('provider', uuid, 'inventory', { data: newsOf(uuid).data })))
}
