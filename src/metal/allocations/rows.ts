// The rows of allocations and their lookups. An allocation is a request for a node, which a conductor processes.
import { type Kysely, type Selectable, sql } from 'kysely'
import { subject, timeOf, type Word } from '../../events/subject.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import { isReadable, jsonIn, jsonText, MEMBERS, TEXTS } from '../../shared/json.ts'
import type { AllocationId, NodeId } from '../../store/schema/ids.ts'
import type { HistoryLine } from '../../store/node-history.ts'
import type { Schema } from '../../store/schema.ts'
import { command, query } from '../../store/statement.ts'
import { mark, one, type Read, type Subject, together } from '../../store/transaction.ts'
import { type Access, ownInView, seeing, type View } from '../access.ts'
import { given } from '../history/lines.ts'
import type { Json } from '../drivers/port.ts'
import type { Waiting } from '../queue/line.ts'
import { findNode, type NodeRow } from '../nodes/rows.ts'
import { nameOf } from '../nodes/what-became.ts'
import type { Principal } from '../nodes/provider.ts'
import { called } from '../called.ts'

export type AllocationRow = Selectable<Schema['allocations']>
type AllocationState = AllocationRow['state']
/** Without the number that the database gives it. */
export type NewAllocation = Omit<AllocationRow, 'id'>
export interface Allocation extends AllocationRow {
  node_uuid: string | null
}

export const STATES: ReadonlySet<string> = new Set<AllocationState>(['allocating', 'active', 'error'])

export const selectAllocations = (db: Kysely<Schema>) =>
  db
    .selectFrom('allocations as a')
    .leftJoin('nodes as n', 'n.id', 'a.node_id')
    .selectAll('a')
    .select('n.uuid as node_uuid')

const byUuid = query((db, a: { uuid: string } & View) =>
  selectAllocations(db).where('a.uuid', '=', a.uuid).where(ownInView('a.owner', a)),
)
const byName = query((db, a: { name: string } & View) =>
  selectAllocations(db).where('a.name', '=', a.name).where(ownInView('a.owner', a)),
)
export const allocationByNode = query((db, a: { node: NodeId } & View) =>
  selectAllocations(db).where('a.node_id', '=', a.node).where(ownInView('a.owner', a)),
)
export const lockAllocation = command((db, a: { id: AllocationId }, on) =>
  on.lock(db.selectFrom('allocations').selectAll().where('id', '=', a.id)),
)
export const allocationTwins = query((db, a: { uuid: string; name: string | null }) =>
  db
    .selectFrom('allocations')
    .select(['uuid', 'name'])
    .where(e =>
      e.or([
        e('uuid', '=', a.uuid),
        e('name', '=', sql<string>`cast(${a.name} as text)`),
        // Names were free once: one may be the uuid that another is to have, and would be hidden by it.
        e('name', '=', a.uuid),
      ]),
    ),
)
export const usersOfUuid = query((db, a: { uuid: string }) =>
  db
    .selectFrom('nodes')
    .select('uuid')
    .where('instance_uuid', '=', a.uuid)
    .union(db.selectFrom('consumers').select('uuid').where('uuid', '=', a.uuid)),
)
type NewRow = Omit<AllocationRow, 'id' | keyof typeof UNKEPT>
export const insertAllocation = command((db, a: NewRow) =>
  db
    .insertInto('allocations')
    .values({
      uuid: a.uuid,
      name: a.name,
      node_id: a.node_id,
      resource_class: a.resource_class,
      traits: a.traits,
      candidate_nodes: a.candidate_nodes,
      extra: a.extra,
      owner: a.owner,
      project_id: a.project_id,
      user_id: a.user_id,
      state: a.state,
      last_error: a.last_error,
      reasons: a.reasons,
      conductor_affinity: a.conductor_affinity,
      wait_until: a.wait_until,
      expires_at: a.expires_at,
      created_at: a.created_at,
      updated_at: a.updated_at,
      request_id: a.request_id,
      keeper: a.keeper,
      planned_end: a.planned_end,
      started_at: a.started_at,
      note: a.note,
    })
    .returning('id'),
)
/** What a new row has in the columns that insertAllocation leaves out. */
const UNKEPT = {
  end_known_at: null,
  kept_until: null,
  ending_by: null,
  ending_at: null,
  ending_message: null,
  retried_at: null,
}

/** What a client asks for, checked. */
export interface AllocationRequest {
  uuid: string
  /** The uuid that the client chose; null when we chose it. */
  givenUuid: string | null
  name: string | null
  resourceClass: string | null
  traits: readonly string[]
  /** Names or uuids; null for any node. */
  candidates: readonly string[] | null
  /** A node that is deployed already, for a backfill. */
  node: string | null
  extra: Json
  owner: string | null
  waitUntil: number | null
  expiresAt: number | null
  keeper: string | null
  plannedEnd: number | null
  note: string | null
  /** The request that asks. */
  requestId: string | null
}

/** The allocation of this uuid or name. */
export function* findAllocation(ident: string, { view, permit }: Access): Read<Allocation> {
  const uuid = canonicalUuid(ident)
  // A name may look like a uuid; the uuid comes first.
  const found = (uuid && (yield* one(byUuid({ uuid, ...view })))) || (yield* one(byName({ name: ident, ...view })))
  if (!found) throw allocationNotFound(ident)
  permit({ project: found.owner })
  return found
}

type Told = Pick<AllocationRow, 'uuid' | 'name' | 'owner' | 'user_id' | 'resource_class' | 'expires_at'>

/** Says what became of an allocation. `until` is its end. */
export const allocationBecame = (
  row: Told,
  became: Word<'allocation'>,
  more: Subject['data'] = {},
  history?: HistoryLine,
): Subject =>
  subject('allocation', row.uuid, became, {
    whose: { project: row.owner, user: row.user_id },
    data: { name: row.name, resource_class: row.resource_class, until: timeOf(row.expires_at), ...more },
    ...(history && { history }),
  })

/** An allocation that has its node from the start. */
export const markGiven = (row: Told, node: Pick<NodeRow, 'uuid' | 'name'>, by: 'allocation' | 'lease') =>
  mark(
    allocationBecame(row, 'created', { to: 'allocating' }),
    allocationBecame(row, 'active', { from: 'allocating', to: 'active', node: nameOf(node) }, given(row, node, by)),
  )

export const allocationNotFound = (name: string) => problem('metal_not_found', { what: 'Allocation', name })

/** The node's allocation. Without one, the error depends on whether the node has an instance. */
export function* allocationOfNode(ident: string, access: Access): Read<Allocation> {
  const node = yield* findNode(ident, seeing(access))
  const found = yield* one(allocationByNode({ node: node.id, ...access.view }))
  if (found) {
    access.permit({ project: found.owner })
    return found
  }
  if (node.instance_uuid !== null && node.allocation_uuid === null) {
    throw problem('invalid_parameter', {
      reason: `Node ${called(node)} is associated with instance ${node.instance_uuid}, which is no allocation.`,
    })
  }
  throw problem('metal_not_found', { what: 'An allocation of node', name: node.uuid })
}

interface Names {
  uuid: string
  name: string | null
}

export function* requireFreeAllocationNames(names: Names, self: string | null = null): Read<void> {
  const [twins, users] = yield* together(allocationTwins(names), usersOfUuid(names))
  refuseTwins(names, twins, self)
  if (self === null) refuseUsers(names, users)
}

/** Refuses a uuid or name that another allocation has. */
export function refuseTwins({ uuid, name }: Names, twins: readonly Names[], self: string | null): void {
  const twin = twins.find(other => other.uuid !== self && (self === null || other.name === name))
  if (!twin) return
  const what = twin.uuid === uuid ? `UUID ${uuid}` : `name ${twin.name}`
  throw problem('metal_exists', { reason: `An allocation with ${what} already exists.` })
}

/** Refuses a uuid that an instance or a consumer has already. */
export function refuseUsers({ uuid }: Names, users: readonly unknown[]): void {
  if (users.length === 0) return
  throw problem('metal_exists', { reason: `UUID ${uuid} is in use already, as an instance or a consumer.` })
}

export const columnsOf = (wanted: AllocationRequest, who: Principal, now: number) => ({
  uuid: wanted.uuid,
  name: wanted.name,
  traits: jsonText(wanted.traits),
  extra: jsonText(wanted.extra),
  owner: wanted.owner,
  project_id: wanted.owner ?? who.project,
  user_id: who.user,
  last_error: null,
  reasons: null,
  wait_until: wanted.waitUntil,
  expires_at: wanted.expiresAt,
  created_at: now,
  updated_at: null,
  request_id: wanted.requestId,
  keeper: wanted.keeper,
  planned_end: wanted.plannedEnd,
  started_at: null,
  note: wanted.note,
  ...UNKEPT,
})

/** instance_info of a node with the traits of its allocation. */
export const withTraits = (
  { instance_info }: Pick<NodeRow, 'instance_info'>,
  traits: readonly string[],
): NodeRow['instance_info'] => jsonText({ ...jsonIn(instance_info, MEMBERS), traits })

/** Of those who wait, without those of whom nobody can read what they ask for. */
export const wishesOf = (rows: readonly AllocationRow[]): Waiting[] => rows.filter(isAskable).map(wishOf)

export const isAskable = (row: NewAllocation): boolean =>
  isReadable(row.traits, TEXTS) && isReadable(row.candidate_nodes, TEXTS)

export const wishOf = (row: AllocationRow): Waiting => ({ ...newWishOf(row), id: row.id })

export function newWishOf(row: NewAllocation): Omit<Waiting, 'id'> {
  const candidates = jsonIn(row.candidate_nodes, TEXTS)
  return {
    name: row.name,
    resourceClass: row.resource_class,
    traits: jsonIn(row.traits, TEXTS),
    candidates: candidates.length > 0 ? new Set(candidates) : null,
    owner: row.owner,
    until: row.expires_at,
    uuid: row.uuid,
    project: row.project_id,
    since: row.retried_at ?? row.created_at,
    waitUntil: row.wait_until,
  }
}
