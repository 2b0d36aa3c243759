// The SQL of claims: a burst of locking reads, and a burst of writes, each for a whole batch of requests. Consumers are
// locked before providers, and each kind in order of id, so two transactions can't deadlock.
import { ENDING } from './lapsed.ts'
import { type Kysely, sql } from 'kysely'
import type { ConsumerId, ProviderId, ResourceClassId } from '../../store/schema/ids.ts'
import type { Schema } from '../../store/schema.ts'
import { bulk, command, inRow, query, type Tools } from '../../store/statement.ts'
import { className } from '../resource-classes.ts'

interface Named {
  consumers: readonly string[]
  providers: readonly string[]
  /** Consumers that have expired by now and have claims on the named providers count as named. */
  now: number
}

/** The column holds a consumer that is named, or counts as named. */
const isTheirs = (db: Kysely<Schema>, column: string, a: Named, on: Tools) => {
  const named = db.selectFrom('consumers').select('id').where(on.isIn('uuid', a.consumers))
  const providers = db.selectFrom('providers').select('id').where(on.isIn('uuid', a.providers))
  const holders = db.selectFrom('claims').select('consumer_id').where(on.isAmong('provider_id', providers))
  // Found by expiry: few consumers are expired at any moment, but many have claims on a provider.
  const lapsed = db
    .selectFrom('consumers')
    .select('id')
    .where('expires_at', '<=', a.now)
    .where('type', '=', sql.lit(ENDING))
    .where(on.isAmong(on.unindexed('id'), holders))
  return on.isAmong(column, named.unionAll(lapsed))
}

/** The column holds a provider that is named, or that the named consumers have claims on. */
const isInvolved = (db: Kysely<Schema>, column: string, a: Named, on: Tools) => {
  const named = db.selectFrom('providers').select('id').where(on.isIn('uuid', a.providers))
  const had = db
    .selectFrom('claims')
    .select('provider_id as id')
    .where(isTheirs(db, 'consumer_id', a, on))
  return on.isAmong(column, named.unionAll(had))
}

export const lockConsumers = command((db, a: Named, on) =>
  on.lock(
    db
      .selectFrom('consumers')
      .select(['id', 'uuid', 'project_id', 'user_id', 'type', 'generation', 'managed_by', 'expires_at'])
      .where(isTheirs(db, 'id', a, on))
      .orderBy('id'),
  ),
)
export const lockProviders = command((db, a: Named, on) =>
  on.lock(
    db
      .selectFrom('providers')
      .select(['id', 'uuid', 'generation', 'revision', 'parent_id', 'managed_by', 'dedicated_to'])
      .where(isInvolved(db, 'id', a, on))
      .orderBy('id'),
  ),
)
// The same rows twice: all of them, and only those that nobody else has locked. The difference is held.
export const consumersInvolved = query((db, a: Named, on) =>
  db
    .selectFrom('consumers')
    .select(['id', 'uuid'])
    .where(isTheirs(db, 'id', a, on)),
)
export const providersInvolved = query((db, a: Named, on) =>
  db
    .selectFrom('providers')
    .select(['id', 'uuid'])
    .where(isInvolved(db, 'id', a, on)),
)
export const freeConsumers = command((db, a: Named, on) =>
  on.lockFree(
    db
      .selectFrom('consumers')
      .select('id')
      .where(isTheirs(db, 'id', a, on)),
  ),
)
export const freeProviders = command((db, a: Named, on) =>
  on.lockFree(
    db
      .selectFrom('providers')
      .select('id')
      .where(isInvolved(db, 'id', a, on)),
  ),
)
// Separate statements after the locks: only these see what the previous holder of a lock wrote.
export const inventoriesInvolved = query((db, a: Named, on) =>
  db
    .selectFrom('inventories')
    .select(['provider_id', 'class_id', 'capacity', 'used', 'blocked', 'min_unit', 'max_unit', 'step_size'])
    .select(className('inventories.class_id').as('name'))
    .where(isInvolved(db, 'provider_id', a, on)),
)
export const claimsOfConsumers = query((db, a: Named, on) =>
  db
    .selectFrom('claims')
    .select(['provider_id', 'used', className('claims.class_id').as('name')])
    .select(inRow<string>('consumers', 'uuid', 'claims.consumer_id').as('uuid'))
    .where(isTheirs(db, 'consumer_id', a, on)),
)
export const classesKnown = query((db, a: { names: readonly string[] }, on) =>
  db.selectFrom('resource_classes').select('name').where(on.isIn('name', a.names)),
)

export interface ConsumerRow {
  uuid: string
  project_id: string
  user_id: string
  type: string | null
  generation: number
  managed_by: string | null
  now: number
}
const CONSUMER_ROW = {
  uuid: 'text',
  project_id: 'text',
  user_id: 'text',
  type: 'text',
  generation: 'bigint',
  managed_by: 'text',
  now: 'bigint',
} as const
export const addConsumers = bulk<ConsumerRow>(CONSUMER_ROW, (db, { now, ...r }, on) =>
  on.insert(db.insertInto('consumers'), { ...r, created_at: now }),
)
export const changeConsumers = bulk<ConsumerRow>(CONSUMER_ROW, (db, r, on) =>
  on.update(db.updateTable('consumers'), 'consumers.uuid', r.uuid).set({
    project_id: r.project_id,
    user_id: r.user_id,
    type: r.type,
    generation: r.generation,
    managed_by: r.managed_by,
    updated_at: r.now,
  }),
)
export const removeConsumers = command((db, a: { ids: readonly ConsumerId[] }, on) =>
  db.deleteFrom('consumers').where(on.isIn('id', a.ids, 'bigint')),
)

export interface ClaimRow {
  consumer: string
  provider_id: ProviderId
  class_id: ResourceClassId
  used: number
  now: number
}
const CLAIM_ROW = {
  consumer: 'text',
  provider_id: 'bigint',
  class_id: 'bigint',
  used: 'bigint',
  now: 'bigint',
} as const
export const putClaims = bulk<ClaimRow>(CLAIM_ROW, (db, r, on) =>
  on
    .insert(db.insertInto('claims'), {
      consumer_id: sql`(${db.selectFrom('consumers').select('id').where('uuid', '=', r.consumer)})`,
      provider_id: r.provider_id,
      class_id: r.class_id,
      used: r.used,
      created_at: r.now,
    })
    .onConflict(c =>
      c.columns(['consumer_id', 'provider_id', 'class_id']).doUpdateSet(e => ({
        used: e.ref('excluded.used'),
        created_at: e.ref('excluded.created_at'),
      })),
    ),
)

export interface ClaimKey {
  consumer_id: ConsumerId
  provider_id: ProviderId
  class_id: ResourceClassId
}
export const removeClaims = bulk<ClaimKey>(
  { consumer_id: 'bigint', provider_id: 'bigint', class_id: 'bigint' },
  (db, r, on) =>
    on
      .delete(db.deleteFrom('claims'), 'claims.consumer_id', r.consumer_id)
      .where(on.unindexed('claims.provider_id'), '=', r.provider_id)
      .where(on.unindexed('claims.class_id'), '=', r.class_id),
)

export interface UseRow {
  provider_id: ProviderId
  class_id: ResourceClassId
  change: number
}
// decide() has checked the same. This guard keeps a bug in it out of the database.
export const changeUse = bulk<UseRow>({ provider_id: 'bigint', class_id: 'bigint', change: 'bigint' }, (db, r, on) =>
  on
    .update(db.updateTable('inventories'), 'inventories.provider_id', r.provider_id)
    .set(e => ({ used: e('inventories.used', '+', r.change) }))
    .where(on.unindexed('inventories.class_id'), '=', r.class_id)
    .where(e =>
      e.or([
        e(r.change, '<=', 0),
        e.and([
          e('inventories.blocked', '=', 0),
          e(e('inventories.used', '+', r.change), '<=', e.ref('inventories.capacity')),
        ]),
      ]),
    ),
)

interface BumpRow {
  id: ProviderId
  bumps: number
  now: number
}
export const bumpProviders = bulk<BumpRow>({ id: 'bigint', bumps: 'bigint', now: 'bigint' }, (db, r, on) =>
  on.update(db.updateTable('providers'), 'providers.id', r.id).set(e => ({
    generation: e('providers.generation', '+', r.bumps),
    revision: e('providers.revision', '+', 1),
    updated_at: r.now,
  })),
)
/** Providers whose use changed without their generation growing. */
export const reviseProviders = command((db, a: { ids: readonly ProviderId[] }, on) =>
  db
    .updateTable('providers')
    .set(e => ({ revision: e('revision', '+', 1) }))
    .where(on.isIn('id', a.ids, 'bigint')),
)
