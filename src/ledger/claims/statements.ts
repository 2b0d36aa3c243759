// The SQL of claims: a burst of locking reads, and a burst of writes, each for a whole batch of requests.
// Consumers are locked before providers and each kind by id, so two transactions can't wait for each other in a circle.
import type { Kysely } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import { command, everyRow, query, type Tools } from '../../store/statement.ts'

interface Named {
  consumers: readonly string[]
  providers: readonly string[]
}

/** The providers that are named, and those that the named consumers have something of now. */
const involvedProviders = (db: Kysely<Schema>, a: Named, on: Tools) =>
  db
    .selectFrom('providers')
    .select('id')
    .where(on.isIn('uuid', a.providers))
    .union(
      db
        .selectFrom('claims')
        .innerJoin('consumers', 'consumers.id', 'claims.consumer_id')
        .select('claims.provider_id as id')
        .where(on.isIn('consumers.uuid', a.consumers)),
    )

export const lockConsumers = command((db, a: { consumers: readonly string[] }, on) =>
  on.lock(
    db
      .selectFrom('consumers')
      .select(['id', 'uuid', 'project_id', 'user_id', 'type', 'generation', 'managed_by'])
      .where(on.isIn('uuid', a.consumers))
      .orderBy('id'),
  ),
)
export const lockProviders = command((db, a: Named, on) =>
  on.lock(
    db
      .selectFrom('providers')
      .select(['id', 'uuid', 'generation'])
      .where('id', 'in', involvedProviders(db, a, on))
      .orderBy('id'),
  ),
)
// After the locks, in statements of their own: only then do they see what the previous holder of a lock did.
export const inventoriesInvolved = query((db, a: Named, on) =>
  db
    .selectFrom('inventories as i')
    .innerJoin('resource_classes as c', 'c.id', 'i.class_id')
    .select(['i.provider_id', 'i.class_id', 'c.name', 'i.capacity', 'i.used', 'i.blocked'])
    .select(['i.min_unit', 'i.max_unit', 'i.step_size'])
    .where('i.provider_id', 'in', involvedProviders(db, a, on)),
)
export const claimsOfConsumers = query((db, a: { consumers: readonly string[] }, on) =>
  db
    .selectFrom('claims')
    .innerJoin('consumers', 'consumers.id', 'claims.consumer_id')
    .innerJoin('resource_classes as c', 'c.id', 'claims.class_id')
    .select(['consumers.uuid', 'claims.provider_id', 'c.name', 'claims.used'])
    .where(on.isIn('consumers.uuid', a.consumers)),
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
export const addConsumers = command((db, a: { rows: readonly ConsumerRow[] }, on) =>
  db
    .insertInto('consumers')
    .columns(['uuid', 'project_id', 'user_id', 'type', 'generation', 'managed_by', 'created_at'])
    .expression(db.selectFrom(on.records(a.rows, CONSUMER_ROW).as('r')).selectAll('r')),
)
export const changeConsumers = command((db, a: { rows: readonly ConsumerRow[] }, on) =>
  db
    .updateTable('consumers')
    .from(on.records(a.rows, CONSUMER_ROW).as('r'))
    .set(e => ({
      project_id: e.ref('r.project_id'),
      user_id: e.ref('r.user_id'),
      type: e.ref('r.type'),
      generation: e.ref('r.generation'),
      managed_by: e.ref('r.managed_by'),
      updated_at: e.ref('r.now'),
    }))
    .whereRef('consumers.uuid', '=', 'r.uuid'),
)
export const removeConsumers = command((db, a: { ids: readonly number[] }, on) =>
  db.deleteFrom('consumers').where(on.isIn('id', a.ids, 'bigint')),
)

export interface ClaimRow {
  consumer: string
  provider_id: number
  class_id: number
  used: number
  now: number
}
export const putClaims = command((db, a: { rows: readonly ClaimRow[] }, on) =>
  db
    .insertInto('claims')
    .columns(['consumer_id', 'provider_id', 'class_id', 'used', 'created_at'])
    .expression(
      db
        .selectFrom(
          on
            .records(a.rows, {
              consumer: 'text',
              provider_id: 'bigint',
              class_id: 'bigint',
              used: 'bigint',
              now: 'bigint',
            })
            .as('r'),
        )
        .innerJoin('consumers as c', 'c.uuid', 'r.consumer')
        .select(['c.id', 'r.provider_id', 'r.class_id', 'r.used', 'r.now'])
        .where(everyRow),
    )
    .onConflict(c =>
      c.columns(['consumer_id', 'provider_id', 'class_id']).doUpdateSet(e => ({
        used: e.ref('excluded.used'),
        created_at: e.ref('excluded.created_at'),
      })),
    ),
)

export interface ClaimKey {
  consumer_id: number
  provider_id: number
  class_id: number
}
export const removeClaims = command((db, a: { rows: readonly ClaimKey[] }, on) =>
  db.deleteFrom('claims').where(e =>
    e(
      e.refTuple('consumer_id', 'provider_id', 'class_id'),
      'in',
      db
        .selectFrom(on.records(a.rows, { consumer_id: 'bigint', provider_id: 'bigint', class_id: 'bigint' }).as('r'))
        .select(['r.consumer_id', 'r.provider_id', 'r.class_id'])
        .$asTuple('consumer_id', 'provider_id', 'class_id'),
    ),
  ),
)

export interface UseRow {
  provider_id: number
  class_id: number
  change: number
}
// The decision has checked the same; this is the line that a bug in it can't cross.
export const changeUse = command((db, a: { rows: readonly UseRow[] }, on) =>
  db
    .updateTable('inventories')
    .from(on.records(a.rows, { provider_id: 'bigint', class_id: 'bigint', change: 'bigint' }).as('r'))
    .set(e => ({ used: e('inventories.used', '+', e.ref('r.change')) }))
    .whereRef('inventories.provider_id', '=', 'r.provider_id')
    .whereRef('inventories.class_id', '=', 'r.class_id')
    .where(e =>
      e.or([
        e('r.change', '<=', 0),
        e.and([
          e('inventories.blocked', '=', 0),
          e(e('inventories.used', '+', e.ref('r.change')), '<=', e.ref('inventories.capacity')),
        ]),
      ]),
    ),
)

export interface BumpRow {
  id: number
  bumps: number
  now: number
}
export const bumpProviders = command((db, a: { rows: readonly BumpRow[] }, on) =>
  db
    .updateTable('providers')
    .from(on.records(a.rows, { id: 'bigint', bumps: 'bigint', now: 'bigint' }).as('r'))
    .set(e => ({ generation: e('providers.generation', '+', e.ref('r.bumps')), updated_at: e.ref('r.now') }))
    .whereRef('providers.id', '=', 'r.id'),
)
