// Which machines must be read again: from what the log says was changed, to the ids of nodes.
import { sql } from 'kysely'
import { ends, logEnds } from '../audit/order.ts'
import { isReadable, jsonIn } from '../shared/json.ts'
import { SUBJECTS } from '../store/schema/json-columns.ts'
import { limits } from '../shared/limits.ts'
import type { NodeId, ProviderId } from '../store/schema/ids.ts'
import { query } from '../store/statement.ts'
import { type Read, together } from '../store/transaction.ts'

/** Ids of changed objects, by the kinds of the log that a machine's row depends on. */
interface Dirt {
  node: Set<string>
  resource_provider: Set<string>
  chassis: Set<string>
  port: Set<string>
  allocation: Set<string>
  reservation: Set<string>
  consumer: Set<string>
  lease: Set<string>
  server: Set<string>
}

type Kind = keyof Dirt

const noDirt = (): Dirt => ({
  node: new Set(),
  resource_provider: new Set(),
  chassis: new Set(),
  port: new Set(),
  allocation: new Set(),
  reservation: new Set(),
  consumer: new Set(),
  lease: new Set(),
  server: new Set(),
})

export interface Since {
  /** The newest place in the log. All that has a place up to it is in this state of the database. */
  newest: number
  /** Null when the log doesn't go back so far, or so much was changed that all is to be read again. */
  dirt: Dirt | null
}

/**
 * What the entries between two places changed. Claims of other services are left out: there may be thousands a second,
 * few of them on machines, and memory tells which providers they touched.
 */
const changedBetween = query((db, a: { after: number; last: number; limit: number }, on) => {
  const entries = db
    .selectFrom('log')
    .select('objects')
    .where('action', '<>', '')
    .where(sql<boolean>`action not like 'placement:allocations%'`)
    .limit(sql<number>`cast(${a.limit} as bigint)`)
  if (on.dialect === 'sqlite') return entries.where('id', '>', a.after).where('id', '<=', a.last)
  // The newest place is the last of its row, so none of these rows is read in part.
  const ids = db
    .selectFrom('log_order')
    .select(sql`unnest(entries)`.as('id'))
    .where('last', '>', a.after)
    .where('last', '<=', a.last)
  return entries.where(on.isAmong('id', ids))
})

/** What was changed after a place; null for "all is to be read". */
export function* changedAfter(after: number | null): Read<Since> {
  if (after === null) return { newest: (yield* logEnds()).newest, dirt: null }
  const last = after + limits.statusPlacesMax
  const [[kept], rows] = yield* together(ends({}), changedBetween({ after, last, limit: limits.statusEntriesMax + 1 }))
  const { oldest, newest } = kept!
  // What was pruned is unknown. A database that took over from one that died may lack the end of the log.
  const isMissing = after < oldest - 1 || after > newest || newest > last
  if (isMissing || rows.length > limits.statusEntriesMax) return { newest, dirt: null }
  // Nobody knows what an entry was about that can't be read.
  if (!rows.every(({ objects }) => isReadable(objects, SUBJECTS))) return { newest, dirt: null }
  const dirt = noDirt()
  for (const { objects } of rows) {
    for (const { kind, id } of jsonIn(objects, SUBJECTS)) if (Object.hasOwn(dirt, kind)) dirt[kind as Kind].add(id)
  }
  return { newest, dirt }
}

interface Keys {
  uuids: readonly string[]
}

const ofNodes = query((db, a: Keys, on) => db.selectFrom('nodes').select('id').where(on.isIn('uuid', a.uuids)))
const ofInstances = query((db, a: Keys, on) =>
  db.selectFrom('nodes').select('id').where(on.isIn('instance_uuid', a.uuids)),
)
const ofChassis = query((db, a: Keys, on) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where(on.isAmong('chassis_id', db.selectFrom('chassis').select('id').where(on.isIn('uuid', a.uuids)))),
)
const ofPorts = query((db, a: Keys, on) =>
  db
    .selectFrom('ports')
    .select(sql<NodeId>`node_id`.as('id'))
    .where(on.isIn('uuid', a.uuids)),
)
const ofHolds = query((db, a: Keys, on) =>
  db
    .selectFrom('reservations')
    .select(sql<NodeId>`node_id`.as('id'))
    .where(on.isIn('uuid', a.uuids)),
)
const ofConsumers = query((db, a: Keys, on) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where(
      on.isAmong(
        'provider_id',
        db
          .selectFrom('claims')
          .select('provider_id')
          .where(on.isAmong('consumer_id', db.selectFrom('consumers').select('id').where(on.isIn('uuid', a.uuids)))),
      ),
    ),
)
const ofLeases = query((db, a: Keys, on) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where(
      on.isAmong('provider_id', db.selectFrom('bookings').select('provider_id').where(on.isIn('lease_id', a.uuids))),
    ),
)
const ofProviders = query((db, a: { providers: readonly ProviderId[] }, on) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where(on.isIn('provider_id', a.providers, 'bigint')),
)

/** The nodes that have to do with it now. Those that had to do with it before are known from their rows. */
export function* nodesIn(dirt: Dirt, providers: readonly ProviderId[]): Read<Set<NodeId>> {
  const { node, resource_provider, chassis, port, allocation, reservation, consumer, lease, server } = dirt
  const asks = [
    { ask: ofNodes, uuids: [...node, ...resource_provider] },
    { ask: ofInstances, uuids: [...allocation, ...consumer, ...server] },
    { ask: ofChassis, uuids: [...chassis] },
    { ask: ofPorts, uuids: [...port] },
    { ask: ofHolds, uuids: [...reservation] },
    { ask: ofConsumers, uuids: [...consumer] },
    { ask: ofLeases, uuids: [...lease] },
  ].filter(({ uuids }) => uuids.length > 0)
  const calls = [
    ...asks.map(({ ask, uuids }) => ask({ uuids })),
    ...(providers.length > 0 ? [ofProviders({ providers })] : []),
  ]
  if (calls.length === 0) return new Set()
  const found = yield* together(...calls)
  return new Set(found.flat().map(({ id }) => id))
}
