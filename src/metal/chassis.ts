// Chassis: the enclosures that nodes are mounted in. A node need not name one.
import type { Selectable } from 'kysely'
import { canonicalUuid } from '../ledger/uuid.ts'
import { problem } from '../problems/problem.ts'
import type { ChassisId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import type { Sized } from '../store/sized.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'

export type Chassis = Selectable<Schema['chassis']>

const byUuid = query((db, a: { uuid: string }) => db.selectFrom('chassis').selectAll().where('uuid', '=', a.uuid))
/** Chassis without their documents, for lists. */
type ListedChassis = Omit<Chassis, 'extra'> & Sized<ChassisId>
const every = query((db, _: object, on) =>
  db
    .selectFrom('chassis')
    .select(['id', 'uuid', 'description', 'created_at', 'updated_at', on.bytes('extra').as('bytes')])
    .orderBy('id'),
)
export const chassisById = query((db, a: { ids: readonly ChassisId[] }, on) =>
  db
    .selectFrom('chassis')
    .selectAll()
    .where(on.isIn('id', a.ids, 'bigint')),
)
const insert = command((db, a: Omit<Chassis, 'id' | 'updated_at'>) =>
  db.insertInto('chassis').values({
    uuid: a.uuid,
    description: a.description,
    extra: a.extra,
    created_at: a.created_at,
    updated_at: null,
  }),
)
const update = command((db, a: { id: ChassisId; description: string | null; extra: Chassis['extra']; now: number }) =>
  db
    .updateTable('chassis')
    .set({ description: a.description, extra: a.extra, updated_at: a.now })
    .where('id', '=', a.id),
)
const remove = command((db, a: { id: ChassisId }) => db.deleteFrom('chassis').where('id', '=', a.id))
const nodeIn = query((db, a: { id: ChassisId }) =>
  db.selectFrom('nodes').select('uuid').where('chassis_id', '=', a.id).limit(1),
)

export function* findChassis(uuid: string): Read<Chassis> {
  const found = yield* one(byUuid({ uuid: canonicalUuid(uuid) ?? uuid }))
  if (!found) throw problem('metal_not_found', { what: 'Chassis', name: uuid })
  return found
}

/** The id of the chassis that a node names. An unknown chassis is an invalid parameter, not a 404. */
export function* chassisId(uuid: unknown): Read<ChassisId | null> {
  if (typeof uuid !== 'string') return null
  const found = yield* one(byUuid({ uuid: canonicalUuid(uuid) ?? uuid }))
  if (!found) throw problem('invalid_parameter', { reason: `Chassis ${uuid} could not be found.` })
  return found.id
}

export function* listChassis(): Read<ListedChassis[]> {
  return yield* all(every({}))
}

export function* createChassis(chassis: Omit<Chassis, 'id' | 'updated_at'>): Write<Chassis> {
  if (yield* one(byUuid({ uuid: chassis.uuid }))) {
    throw problem('metal_exists', { reason: `A chassis with UUID ${chassis.uuid} already exists.` })
  }
  yield* run(insert(chassis))
  yield* mark({ kind: 'chassis', id: chassis.uuid })
  return yield* findChassis(chassis.uuid)
}

type Change = (chassis: Chassis) => { description: string | null; extra: Chassis['extra'] }

export function* changeChassis(uuid: string, change: Change, now: number): Write<Chassis> {
  const found = yield* findChassis(uuid)
  yield* run(update({ id: found.id, ...change(found), now }))
  yield* mark({ kind: 'chassis', id: found.uuid })
  return yield* findChassis(uuid)
}

export function* deleteChassis(uuid: string): Write<void> {
  const { id, uuid: found } = yield* findChassis(uuid)
  if (yield* one(nodeIn({ id }))) throw problem('metal_in_use', { reason: `Chassis ${uuid} has nodes in it.` })
  yield* run(remove({ id }))
  yield* mark({ kind: 'chassis', id: found })
}
