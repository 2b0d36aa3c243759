// The rows of nodes: finds, locks and saves them.
import { type Kysely, type Selectable, sql } from 'kysely'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import { type ColumnName, COLUMNS } from '../../shared/node-fields.ts'
import { jsonText } from '../../shared/json.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Schema } from '../../store/schema.ts'
import { command, query } from '../../store/statement.ts'
import { all, later, mark, note, one, type Read, run, together, type Write } from '../../store/transaction.ts'
import { type Access, inView, type View } from '../access.ts'
import { placementClass } from './class-names.ts'
import { fleetNode } from './fleet.ts'
import { nodeCreated, nodeDeleted, whatBecame } from './what-became.ts'
import { called } from '../called.ts'

/** `managed_by` of the providers and consumers of bare metal in the ledger. */
export const OWNER = 'baremetal'

export type NodeRow = Selectable<Schema['nodes']>
export interface Node extends NodeRow {
  chassis_uuid: string | null
  allocation_uuid: string | null
  /** The hold on the node, which may have expired. */
  reservation_uuid: string | null
  reserved_until: number | null
  /** The owner of the hold. */
  reserved_for: string | null
}
export type NodeKey = Pick<NodeRow, 'id' | 'revision' | 'owner' | 'lessee'>

const FIXED = ['uuid', 'provider_id', 'created_at', 'revision'] as const

/** The columns that are not API fields, with their values in a new node. */
export const HIDDEN: Omit<NodeRow, 'id' | (typeof FIXED)[number] | ColumnName> = {
  chassis_id: null,
  placement_class: placementClass(null),
  interfaces: jsonText({}),
  transition: null,
  due_at: null,
  lock_incarnation: null,
  lock_term: 0,
  leasable: 0,
  pledged_at: null,
  leased_to: null,
  lessee_before: null,
  leftover: 0,
}

/** The columns that may change after creation. */
const MUTABLE = [...COLUMNS, ...Object.keys(HIDDEN)].filter(column => !(FIXED as readonly string[]).includes(column))

const pick = (a: object, columns: readonly string[]) =>
  Object.fromEntries(columns.map(column => [column, (a as Record<string, unknown>)[column]])) as never

const selectNodes = (db: Kysely<Schema>) =>
  db
    .selectFrom('nodes as n')
    .leftJoin('chassis as c', 'c.id', 'n.chassis_id')
    .leftJoin('allocations as a', 'a.node_id', 'n.id')
    .leftJoin('reservations as r', 'r.node_id', 'n.id')
    .selectAll('n')
    .select(['c.uuid as chassis_uuid', 'a.uuid as allocation_uuid'])
    .select(['r.uuid as reservation_uuid', 'r.expires_at as reserved_until', 'r.owner as reserved_for'])

const nodeByUuid = query((db, a: { uuid: string } & View) =>
  selectNodes(db).where('n.uuid', '=', a.uuid).where(inView(a)),
)
const nodeByName = query((db, a: { name: string } & View) =>
  selectNodes(db).where('n.name', '=', a.name).where(inView(a)),
)
const selectKeys = (db: Kysely<Schema>) => db.selectFrom('nodes as n').select(['id', 'revision', 'owner', 'lessee'])
const keyByUuid = query((db, a: { uuid: string } & View) =>
  selectKeys(db).where('n.uuid', '=', a.uuid).where(inView(a)),
)
const keyByName = query((db, a: { name: string } & View) =>
  selectKeys(db).where('n.name', '=', a.name).where(inView(a)),
)
const namedAmong = query((db, a: { uuids: readonly string[]; names: readonly string[] } & View, on) =>
  db
    .selectFrom('nodes as n')
    .select(['n.uuid', 'n.name'])
    .where(on.isIn('n.uuid', a.uuids))
    .where(inView(a))
    .union(db.selectFrom('nodes as n').select(['n.uuid', 'n.name']).where(on.isIn('n.name', a.names)).where(inView(a))),
)
export const nodesById = query((db, a: { ids: readonly NodeId[] }, on) =>
  selectNodes(db).where(on.isIn('n.id', a.ids, 'bigint')),
)
const nodeByInstance = query((db, a: { instance: string }) => selectNodes(db).where('n.instance_uuid', '=', a.instance))
const lockById = command((db, a: { id: NodeId }, on) =>
  on.lock(db.selectFrom('nodes').selectAll().where('id', '=', a.id)),
)
/** Skips nodes that someone else has locked: the batch waits for nobody. */
export const lockFreeNodes = command((db, a: { ids: readonly NodeId[] }, on) =>
  on.lockFree(
    db
      .selectFrom('nodes')
      .selectAll()
      .where(on.isIn('id', a.ids, 'bigint'))
      .orderBy('id'),
  ),
)
const twins = query((db, a: { uuid: string; name: string | null }) =>
  db
    .selectFrom('nodes')
    .select(['uuid', 'name'])
    .where(e => e.or([e('uuid', '=', a.uuid), e('name', '=', sql<string>`cast(${a.name} as text)`)])),
)
const childOf = query((db, a: { uuid: string }) =>
  db.selectFrom('nodes').select('uuid').where('parent_node', '=', a.uuid).limit(1),
)
const childrenInView = query((db, a: { parent: string } & View) =>
  db.selectFrom('nodes as n').select('n.uuid').where('n.parent_node', '=', a.parent).where(inView(a)).orderBy('n.id'),
)
const insertNode = command((db, a: Omit<NodeRow, 'id'>) =>
  db
    .insertInto('nodes')
    .values(pick(a, [...FIXED, ...MUTABLE]))
    .returning('id'),
)
const updateNode = command((db, a: NodeRow) =>
  db
    .updateTable('nodes')
    .set(pick(a, MUTABLE))
    .set(e => ({ revision: e('revision', '+', 1) }))
    .where('id', '=', a.id),
)
const bumpRevision = command((db, a: { id: NodeId }) =>
  db
    .updateTable('nodes')
    .set(e => ({ revision: e('revision', '+', 1) }))
    .where('id', '=', a.id)
    .returningAll(),
)
/** Like `reviseNode`, for many that the caller has locked, and notes. */
export const reviseNodes = command((db, a: { ids: readonly NodeId[] }, on) =>
  db
    .updateTable('nodes')
    .set(e => ({ revision: e('revision', '+', 1) }))
    .where(on.isIn('id', a.ids, 'bigint')),
)
const removeNode = command((db, a: { id: NodeId }) => db.deleteFrom('nodes').where('id', '=', a.id))

/** The node of this uuid or name. */
export function* findNode(ident: string, { view, permit }: Access): Read<Node> {
  const uuid = canonicalUuid(ident)
  const found = yield* one(uuid ? nodeByUuid({ uuid, ...view }) : nodeByName({ name: ident, ...view }))
  if (!found) throw problem('metal_not_found', { what: 'Node', name: ident })
  permit(found)
  return found
}

/** The node's id and revision, for callers that may have it in a cache. */
export function* findNodeKey(ident: string, { view, permit }: Access): Read<NodeKey> {
  const uuid = canonicalUuid(ident)
  const found = yield* one(uuid ? keyByUuid({ uuid, ...view }) : keyByName({ name: ident, ...view }))
  if (!found) throw problem('metal_not_found', { what: 'Node', name: ident })
  permit(found)
  return found
}

/** Turns uuids or names into uuids, in the same order; null for nodes that don't exist or can't be seen. */
export function* nodeUuids(idents: readonly string[], { view }: Access): Read<(string | null)[]> {
  if (idents.length === 0) return []
  const uuids = idents.map(ident => canonicalUuid(ident)).filter(uuid => uuid !== null)
  const names = idents.filter(ident => canonicalUuid(ident) === null)
  const found = yield* all(namedAmong({ uuids, names, ...view }))
  const known = new Map(found.flatMap(({ uuid, name }) => [[uuid, uuid] as const, [name ?? uuid, uuid] as const]))
  return idents.map(ident => known.get(canonicalUuid(ident) ?? ident) ?? null)
}

export function* findInstance(instance: string): Read<Node | undefined> {
  return yield* one(nodeByInstance({ instance }))
}

/** The nodes of these ids, in this order. */
export function* nodesOf(ids: readonly NodeId[]): Read<Node[]> {
  const found = new Map((yield* all(nodesById({ ids }))).map(node => [node.id, node]))
  return ids.flatMap(id => found.get(id) ?? [])
}

/** The node as it is now, locked until the transaction ends. Nodes are locked before consumers and providers. */
export function* lockNode(ident: string, access: Access): Write<Node> {
  const { id } = yield* findNodeKey(ident, access)
  // Read after the lock, in a second statement: only then it sees what the previous holder wrote.
  const [, [found]] = yield* together(lockById({ id }), nodesById({ ids: [id] }))
  if (!found) throw problem('metal_not_found', { what: 'Node', name: ident })
  // Check again: the owner may have changed before the lock.
  access.permit(found)
  return found
}

export function* lockNodeById(id: NodeId): Write<NodeRow | undefined> {
  return yield* one(lockById({ id }))
}

export function* requireFreeNames(uuid: string, name: string | null, self: string | null): Read<void> {
  for (const twin of yield* all(twins({ uuid, name }))) {
    if (twin.uuid === self) continue
    const reason =
      twin.uuid === uuid ? `A node with UUID ${uuid} already exists.` : `A node with name ${name} already exists.`
    throw problem('metal_exists', { reason })
  }
}

/** A parent is another node, which the caller can see. */
export function* requireParent(parent: string | null, self: string, access: Access): Read<void> {
  if (parent === null) return
  const [found] = yield* nodeUuids([parent], access)
  if (found === null || found === self) {
    throw problem('invalid_parameter', { reason: `Node ${parent} can not be the parent_node: it is not there.` })
  }
}

export function* requireChildless(node: NodeRow): Read<void> {
  if (yield* one(childOf({ uuid: node.uuid }))) {
    throw problem('node_refuses', { reason: `Node ${called(node)} has child nodes.` })
  }
}

/** The uuids of the nodes that are built into a node, as far as the client sees them. */
export function* childrenOf(ident: string, access: Access): Read<string[]> {
  const { uuid } = yield* findNode(ident, access)
  return (yield* all(childrenInView({ parent: uuid, ...access.view }))).map(child => child.uuid)
}

export function* addNode(node: Omit<NodeRow, 'id'>): Write<NodeId> {
  const { id } = (yield* one(insertNode(node)))!
  yield* mark(nodeCreated(node))
  yield* noteNode({ ...node, id })
  return id
}

/** Saves a node, and says what became of it: `before` is the row as it was read under lock. */
export function* saveNode(before: NodeRow, after: NodeRow): Write<void> {
  yield* later([updateNode(after)])
  yield* mark(...whatBecame(before, after))
  yield* noteNode({ ...after, revision: after.revision + 1 })
}

/** Tells the caches in memory what the node is now. Whoever changes a node's row does: lists are made from memory. */
export function* noteNode(node: NodeRow): Write<void> {
  yield* note([{ provider: node.provider_id, room: 'metal', attached: fleetNode(node) }])
}

/** Raises the revision when the API's view of the node has changed but its row has not. */
export function* reviseNode(id: NodeId): Write<void> {
  const revised = yield* one(bumpRevision({ id }))
  if (revised) yield* noteNode(revised)
}

export function* dropNode(node: NodeRow): Write<void> {
  yield* run(removeNode({ id: node.id }))
  yield* note([{ provider: node.provider_id, room: 'metal', attached: null }])
  yield* mark(nodeDeleted(node))
}

/** The due time of work to do now. A later due time means that the machine works by itself until then. */
export const AT_ONCE = 0

/** Whether a conductor works on the node, or is about to. */
export const isLocked = ({ reservation, transition, due_at }: NodeRow): boolean =>
  reservation !== null || (transition !== null && due_at === AT_ONCE)

/** Refuses while a conductor works on the node, or is about to. */
export function requireUnlocked(node: NodeRow): void {
  if (!isLocked(node)) return
  throw problem('node_locked', { node: called(node), host: node.reservation ?? 'the next conductor that is free' })
}
