// Reads providers for the candidate table: each with its inventories, traits and aggregates, all from one state.
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { ProviderId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import { inRow, query, type Tools } from '../store/statement.ts'
import { type Read, together } from '../store/transaction.ts'
import type { ProviderSnapshot } from './candidates/snapshot.ts'
import { PLACEMENT } from './traits.ts'
import { aggregateKey } from './uuid.ts'

/** A snapshot and how new it is. */
export interface RevisedSnapshot extends ProviderSnapshot {
  revision: number
}

function ofProviders<TB extends keyof Schema, Row>(
  column: string,
  build: (db: Kysely<Schema>, on: Tools) => SelectQueryBuilder<Schema, TB, Row>,
) {
  return query((db, a: { ids: readonly ProviderId[] }, on) => build(db, on).where(on.isIn(column, a.ids, 'bigint')))
}

const providers = ofProviders('id', db =>
  db
    .selectFrom('providers')
    .select(['id', 'uuid', 'name', 'generation', 'revision', 'parent_id', 'root_id', 'managed_by', 'dedicated_to']),
)
const inventories = ofProviders('inventories.provider_id', db =>
  db
    .selectFrom('inventories')
    .select(['provider_id', inRow<string | null>('resource_classes', 'name', 'class_id').as('name')])
    .select(['total', 'reserved', 'min_unit', 'max_unit', 'step_size', 'allocation_ratio', 'used', 'blocked']),
)
const traits = ofProviders('provider_id', (db, on) =>
  db
    .selectFrom('provider_traits')
    .select(['provider_id', 'origin', inRow<string | null>('traits', 'name', 'trait_id').as('name')])
    // In the order of creation, as clients have always seen them in summaries.
    .orderBy(on.unindexed('trait_id')),
)
const aggregates = ofProviders('provider_id', (db, on) =>
  db.selectFrom('provider_aggregates').select(['provider_id', 'aggregate']).orderBy(on.unindexed('aggregate', 'text')),
)

/** The snapshots of these providers; those that don't exist any more are left out. */
export function* snapshotsOf(ids: readonly ProviderId[]): Read<RevisedSnapshot[]> {
  const which = { ids }
  return assemble(yield* together(providers(which), inventories(which), traits(which), aggregates(which)))
}

type RowsOf<Question> = Question extends (...args: never) => { row?: infer Row } ? NonNullable<Row>[] : never
type Rows = readonly [
  RowsOf<typeof providers>,
  RowsOf<typeof inventories>,
  RowsOf<typeof traits>,
  RowsOf<typeof aggregates>,
]

function assemble([providerRows, inventoryRows, traitRows, aggregateRows]: Rows): RevisedSnapshot[] {
  const byId = new Map<ProviderId, RevisedSnapshot>()
  for (const { id, uuid, name, generation, revision, parent_id, root_id, managed_by, dedicated_to } of providerRows) {
    const place = { parentId: parent_id, rootId: root_id!, managedBy: managed_by, dedicatedTo: dedicated_to }
    byId.set(id, { id, uuid, name, generation, revision, ...place, inventories: [], traits: [], aggregates: [] })
  }
  // Rows whose provider, class or trait is missing are skipped here; fsck reports them.
  for (const row of inventoryRows) {
    if (row.name === null) continue
    byId.get(row.provider_id)?.inventories.push({
      resourceClass: row.name,
      total: row.total,
      reserved: row.reserved,
      minUnit: row.min_unit,
      maxUnit: row.max_unit,
      stepSize: row.step_size,
      allocationRatio: row.allocation_ratio,
      used: row.used,
      blocked: row.blocked === 1,
    })
  }
  for (const { provider_id, name, origin } of traitRows) {
    const snapshot = byId.get(provider_id)
    if (snapshot && name !== null) addTrait(snapshot, name, origin)
  }
  for (const row of aggregateRows) byId.get(row.provider_id)?.aggregates.push(aggregateKey(row.aggregate))
  return [...byId.values()]
}

/** A provider may have a trait twice, from its owner and from Placement's clients. Its traits come in order. */
export function addTrait(snapshot: RevisedSnapshot, name: string, origin: string): void {
  const isSecond = snapshot.traits.at(-1) === name
  if (!isSecond) snapshot.traits.push(name)
  if (snapshot.managedBy === null) return
  if (!isSecond && origin === PLACEMENT) (snapshot.addedTraits ??= []).push(name)
  else if (snapshot.addedTraits?.at(-1) === name) snapshot.addedTraits.pop()
}
