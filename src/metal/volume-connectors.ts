// Volume connectors: how a node reaches remote volumes. They are deleted with their node.
import type { Kysely, Selectable } from 'kysely'
import { canonicalUuid } from '../ledger/uuid.ts'
import { problem } from '../problems/problem.ts'
import type { NodeId, VolumeConnectorId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import type { Sized } from '../store/sized.ts'
import { command, query, type Tools } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'
import { type Access, inView, type View } from './access.ts'
import { lockPoweredOff } from './volumes.ts'

export type ConnectorRow = Selectable<Schema['volume_connectors']>
export interface VolumeConnector extends ConnectorRow {
  node_uuid: string
  node_owner: string | null
  node_lessee: string | null
}

export const CONNECTOR_TYPES = ['iqn', 'ip', 'mac', 'wwnn', 'wwpn', 'port', 'portgroup'] as const

const select = (db: Kysely<Schema>) =>
  db
    .selectFrom('volume_connectors as v')
    .innerJoin('nodes as n', 'n.id', 'v.node_id')
    .selectAll('v')
    .select(['n.uuid as node_uuid', 'n.owner as node_owner', 'n.lessee as node_lessee'])

const byUuid = query((db, a: { uuid: string }) => select(db).where('v.uuid', '=', a.uuid))
const byConnector = query((db, a: { type: string; connector: string }) =>
  select(db).where('v.type', '=', a.type).where('v.connector_id', '=', a.connector),
)
const uuidInView = query((db, a: { uuid: string } & View) => select(db).where('v.uuid', '=', a.uuid).where(inView(a)))
/** Without their documents, for lists. */
type ListedVolumeConnector = Omit<VolumeConnector, 'extra'> & Sized<VolumeConnectorId>
const listed = (db: Kysely<Schema>, on: Tools) =>
  select(db)
    .clearSelect()
    .select(['v.id', 'v.uuid', 'v.node_id', 'v.type', 'v.connector_id', 'v.created_at', 'v.updated_at'])
    .select(['n.uuid as node_uuid', 'n.owner as node_owner', 'n.lessee as node_lessee'])
    .select(on.bytes('v.extra').as('bytes'))
export const connectorsById = query((db, a: { ids: readonly VolumeConnectorId[] }, on) =>
  select(db).where(on.isIn('v.id', a.ids, 'bigint')),
)
const everyInView = query((db, a: View, on) => listed(db, on).where(inView(a)).orderBy('v.id'))
const ofNode = query((db, a: { node: NodeId } & View, on) =>
  listed(db, on).where('v.node_id', '=', a.node).where(inView(a)).orderBy('v.id'),
)
const insert = command((db, a: Omit<ConnectorRow, 'id'>) =>
  db.insertInto('volume_connectors').values({
    uuid: a.uuid,
    node_id: a.node_id,
    type: a.type,
    connector_id: a.connector_id,
    extra: a.extra,
    created_at: a.created_at,
    updated_at: a.updated_at,
  }),
)
const update = command((db, a: ConnectorRow) =>
  db
    .updateTable('volume_connectors')
    .set({ type: a.type, connector_id: a.connector_id, extra: a.extra, updated_at: a.updated_at })
    .where('id', '=', a.id),
)
const remove = command((db, a: { id: VolumeConnectorId }) => db.deleteFrom('volume_connectors').where('id', '=', a.id))

export function* findConnector(uuid: string, { view, permit }: Access): Read<VolumeConnector> {
  const found = yield* one(uuidInView({ uuid: canonicalUuid(uuid) ?? uuid, ...view }))
  if (!found) throw problem('metal_not_found', { what: 'Volume connector', name: uuid })
  permit({ owner: found.node_owner, lessee: found.node_lessee })
  return found
}

export function* listVolumeConnectors(view: View, node?: NodeId): Read<ListedVolumeConnector[]> {
  return yield* all(node === undefined ? everyInView(view) : ofNode({ node, ...view }))
}

export function* createConnector(connector: Omit<ConnectorRow, 'id'>): Write<VolumeConnector> {
  yield* requireFree(connector)
  yield* run(insert(connector))
  yield* mark({ kind: 'volume_connector', id: connector.uuid })
  return (yield* one(byUuid({ uuid: connector.uuid })))!
}

type Change = (before: VolumeConnector) => Pick<ConnectorRow, 'type' | 'connector_id' | 'extra' | 'updated_at'>

export function* changeConnector(uuid: string, access: Access, change: Change): Write<VolumeConnector> {
  yield* lockPoweredOff((yield* findConnector(uuid, access)).node_uuid, 'volume connector update')
  const before = yield* findConnector(uuid, access)
  const after = { ...before, ...change(before) }
  yield* requireFree(after)
  yield* run(update(after))
  yield* mark({ kind: 'volume_connector', id: before.uuid })
  return (yield* one(byUuid({ uuid: before.uuid })))!
}

export function* deleteConnector(ident: string, access: Access): Write<void> {
  const { id, uuid, node_uuid } = yield* findConnector(ident, access)
  yield* lockPoweredOff(node_uuid, 'volume connector deletion')
  yield* run(remove({ id }))
  yield* mark({ kind: 'volume_connector', id: uuid })
}

function* requireFree(connector: Omit<ConnectorRow, 'id'> & { id?: VolumeConnectorId }): Read<void> {
  const { id, uuid, type, connector_id: connectorId } = connector
  const twin = yield* one(byUuid({ uuid }))
  if (twin && twin.id !== id) {
    throw problem('metal_exists', { reason: `A volume connector with UUID ${uuid} already exists.` })
  }
  const other = yield* one(byConnector({ type, connector: connectorId }))
  if (other && other.id !== id) {
    const reason = `A volume connector with type ${type} and connector ID ${connectorId} already exists.`
    throw problem('metal_exists', { reason })
  }
}
