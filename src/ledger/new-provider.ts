// Makes a resource provider.
import { sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { command, inRow, query } from '../store/statement.ts'
import { all, note, one, run, together, type Write } from '../store/transaction.ts'
import type { ProviderSnapshot } from './candidates/snapshot.ts'
import { lockTrees, markProvider, type Provider, providerByUuid, type ProviderNews } from './providers.ts'

const twins = query((db, a: { uuid: string; name: string }) =>
  db
    .selectFrom('providers')
    .select(['uuid', 'name'])
    .where(e => e.or([e('uuid', '=', a.uuid), e('name', '=', a.name)])),
)
interface ProviderRow {
  uuid: string
  name: string
  parent: ProviderId | null
  managedBy: string | null
  revision: number
  now: number
  updated: number | null
}
// Finds nothing to add when its uuid or name is taken.
const addProvider = command((db, a: ProviderRow) =>
  db
    .insertInto('providers')
    .columns(['uuid', 'name', 'parent_id', 'managed_by', 'revision', 'created_at', 'updated_at'])
    .expression(
      db
        .selectNoFrom([
          sql<string>`cast(${a.uuid} as text)`.as('uuid'),
          sql<string>`cast(${a.name} as text)`.as('name'),
          sql<ProviderId | null>`cast(${a.parent} as bigint)`.as('parent_id'),
          sql<string | null>`cast(${a.managedBy} as text)`.as('managed_by'),
          sql<number>`cast(${a.revision} as bigint)`.as('revision'),
          sql<number>`cast(${a.now} as bigint)`.as('created_at'),
          sql<number | null>`cast(${a.updated} as bigint)`.as('updated_at'),
        ])
        .where(e =>
          e.not(
            e.exists(
              db
                .selectFrom('providers as twin')
                .select('twin.id')
                .where(t => t.or([t('twin.uuid', '=', a.uuid), t('twin.name', '=', a.name)])),
            ),
          ),
        ),
    )
    .returning('id'),
)
// Of a new provider: that of its parent, or itself.
const setFirstRoot = command((db, a: { uuid: string }) =>
  db
    .updateTable('providers')
    .set(e => ({
      root_id: sql<ProviderId>`coalesce(${inRow('providers', 'root_id', 'providers.parent_id')}, providers.id)`,
      revision: e('revision', '+', 1),
    }))
    .where('uuid', '=', a.uuid)
    .where('root_id', 'is', null)
    .returning('revision'),
)

interface NewProvider {
  uuid: string
  name: string
  parentUuid: string | null
  managedBy?: string
}

export function* createProvider(wanted: NewProvider, now: number): Write<Provider> {
  const { uuid, name, parentUuid } = wanted
  const refuse = (reason: string) =>
    problem('provider_parent_refused', {
      verb: 'create',
      provider: `"${name}", ${uuid}`,
      reason: `Object action create failed because: ${reason}`,
    })
  if (parentUuid === uuid) {
    throw refuse(
      'parent provider UUID cannot be same as UUID. Please set parent provider UUID to None if there is no parent.',
    )
  }
  if (parentUuid !== null) yield* run(lockTrees({}))
  const parent = parentUuid === null ? undefined : yield* one(providerByUuid({ uuid: parentUuid }))
  if (parentUuid !== null && !parent) throw refuse('parent provider UUID does not exist.')

  // Higher than any revision of an earlier provider: SQLite gives the id of the newest again when that one is deleted.
  const revision = now * 1_000
  const row = { uuid, name, parent: parent?.id ?? null, managedBy: wanted.managedBy ?? null, revision, now }
  // Upstream writes a new root twice, so a new root has an update time and a new child has none.
  const updated = parent ? null : now
  const [[made], [placed]] = yield* together(addProvider({ ...row, updated }), setFirstRoot({ uuid }))
  if (!made) {
    const taken = yield* all(twins({ uuid, name }))
    const duplicates = [
      ...(taken.some(other => other.uuid === uuid) ? [`uuid: ${uuid}`] : []),
      ...(taken.some(other => other.name === name) ? [`name: ${name}`] : []),
    ]
    throw problem('provider_exists', { duplicate: duplicates.join(', ') })
  }
  const isPlain = !parent && row.managedBy === null
  const parts: ProviderSnapshot = {
    id: made.id,
    uuid,
    name,
    generation: 0,
    parentId: null,
    rootId: made.id,
    inventories: [],
    traits: [],
    aggregates: [],
  }
  yield* note([{ provider: made.id, ...(isPlain && { revision: placed!.revision, generation: 0, parts }) }])
  const news: ProviderNews = { became: 'created', data: { parent: parentUuid } }
  yield* markProvider({ uuid, name }, { before: null, after: 0 }, news)
  return {
    id: made.id,
    uuid,
    name,
    generation: 0,
    parent_id: row.parent,
    parent_uuid: parentUuid,
    root_id: parent?.root_id ?? made.id,
    root_uuid: parent?.root_uuid ?? uuid,
    managed_by: row.managedBy,
    dedicated_to: null,
    created_at: now,
    updated_at: updated,
    revision: placed!.revision,
  }
}
