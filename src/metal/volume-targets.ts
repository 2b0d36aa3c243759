// Volume targets: the remote volumes of a node, and the order in which it tries to boot from them. They are deleted with
// their node.
import type { Kysely, Selectable } from 'kysely'
import { canonicalUuid } from '../ledger/uuid.ts'
import { problem } from '../problems/problem.ts'
import type { NodeId, VolumeTargetId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import type { Sized } from '../store/sized.ts'
import { command, query, type Tools } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'
import { type Access, inView, type View } from './access.ts'
import { lockPoweredOff } from './volumes.ts'

export type TargetRow = Selectable<Schema['volume_targets']>
export interface VolumeTarget extends TargetRow {
  node_uuid: string
  node_owner: string | null
  node_lessee: string | null
}

const select = (db: Kysely<Schema>) =>
  db
    .selectFrom('volume_targets as v')
    .innerJoin('nodes as n', 'n.id', 'v.node_id')
    .selectAll('v')
    .select(['n.uuid as node_uuid', 'n.owner as node_owner', 'n.lessee as node_lessee'])

const byUuid = query((db, a: { uuid: string }) => select(db).where('v.uuid', '=', a.uuid))
const byIndex = query((db, a: { node: NodeId; index: number }) =>
  select(db).where('v.node_id', '=', a.node).where('v.boot_index', '=', a.index),
)
const uuidInView = query((db, a: { uuid: string } & View) => select(db).where('v.uuid', '=', a.uuid).where(inView(a)))
/** Without their documents, for lists. */
type ListedVolumeTarget = Omit<VolumeTarget, 'properties' | 'extra'> & Sized<VolumeTargetId>
const listed = (db: Kysely<Schema>, on: Tools) =>
  select(db)
    .clearSelect()
    .select([
      'v.id',
      'v.uuid',
      'v.node_id',
      'v.volume_type',
      'v.volume_id',
      'v.boot_index',
      'v.created_at',
      'v.updated_at',
    ])
    .select(['n.uuid as node_uuid', 'n.owner as node_owner', 'n.lessee as node_lessee'])
    .select(on.bytes('v.properties', 'v.extra').as('bytes'))
export const targetsById = query((db, a: { ids: readonly VolumeTargetId[] }, on) =>
  select(db).where(on.isIn('v.id', a.ids, 'bigint')),
)
const everyInView = query((db, a: View, on) => listed(db, on).where(inView(a)).orderBy('v.id'))
const ofNode = query((db, a: { node: NodeId } & View, on) =>
  listed(db, on).where('v.node_id', '=', a.node).where(inView(a)).orderBy('v.id'),
)
const insert = command((db, a: Omit<TargetRow, 'id'>) =>
  db.insertInto('volume_targets').values({
    uuid: a.uuid,
    node_id: a.node_id,
    volume_type: a.volume_type,
    volume_id: a.volume_id,
    boot_index: a.boot_index,
    properties: a.properties,
    extra: a.extra,
    created_at: a.created_at,
    updated_at: a.updated_at,
  }),
)
const update = command((db, a: TargetRow) =>
  db
    .updateTable('volume_targets')
    .set({
      volume_type: a.volume_type,
      volume_id: a.volume_id,
      boot_index: a.boot_index,
      properties: a.properties,
      extra: a.extra,
      updated_at: a.updated_at,
    })
    .where('id', '=', a.id),
)
const remove = command((db, a: { id: VolumeTargetId }) => db.deleteFrom('volume_targets').where('id', '=', a.id))

export function* findTarget(uuid: string, { view, permit }: Access): Read<VolumeTarget> {
  const found = yield* one(uuidInView({ uuid: canonicalUuid(uuid) ?? uuid, ...view }))
  if (!found) throw problem('metal_not_found', { what: 'Volume target', name: uuid })
  permit({ owner: found.node_owner, lessee: found.node_lessee })
  return found
}

export function* listVolumeTargets(view: View, node?: NodeId): Read<ListedVolumeTarget[]> {
  return yield* all(node === undefined ? everyInView(view) : ofNode({ node, ...view }))
}

export function* createTarget(target: Omit<TargetRow, 'id'>): Write<VolumeTarget> {
  yield* requireFree(target)
  yield* run(insert(target))
  yield* mark({ kind: 'volume_target', id: target.uuid })
  return (yield* one(byUuid({ uuid: target.uuid })))!
}

type Change = (before: VolumeTarget) => Omit<TargetRow, 'id' | 'uuid' | 'node_id' | 'created_at'>

export function* changeTarget(uuid: string, access: Access, change: Change): Write<VolumeTarget> {
  yield* lockPoweredOff((yield* findTarget(uuid, access)).node_uuid, 'volume target update')
  const before = yield* findTarget(uuid, access)
  const after = { ...before, ...change(before) }
  yield* requireFree(after)
  yield* run(update(after))
  yield* mark({ kind: 'volume_target', id: before.uuid })
  return (yield* one(byUuid({ uuid: before.uuid })))!
}

export function* deleteTarget(ident: string, access: Access): Write<void> {
  const { id, uuid, node_uuid } = yield* findTarget(ident, access)
  yield* lockPoweredOff(node_uuid, 'volume target deletion')
  yield* run(remove({ id }))
  yield* mark({ kind: 'volume_target', id: uuid })
}

function* requireFree(target: Omit<TargetRow, 'id'> & { id?: VolumeTargetId }): Read<void> {
  const { id, uuid, node_id: node, boot_index: index } = target
  const twin = yield* one(byUuid({ uuid }))
  if (twin && twin.id !== id) {
    throw problem('metal_exists', { reason: `A volume target with UUID ${uuid} already exists.` })
  }
  const other = yield* one(byIndex({ node, index }))
  if (other && other.id !== id) {
    const reason = `A volume target with boot index ${index} for the same node already exists.`
    throw problem('metal_exists', { reason })
  }
}
