// Allocations: a wish for a node, written down for a conductor; their rows, and all that clients do with them.
import { type Kysely, type Selectable, sql } from 'kysely'
import { canonicalUuid } from '../ledger/uuid.ts'
import { limits } from '../limits.ts'
import { problem } from '../problem.ts'
import { StoreConflict } from '../store/failure.ts'
import type { Schema } from '../store/schema.ts'
import { command, query } from '../store/statement.ts'
import { mark, one, type Read, run, together, type Write } from '../store/transaction.ts'
import { type Access, EVERYTHING, ownInView, seeing, type View } from './access.ts'
import { liveConductors } from './conductors.ts'
import type { Json } from './drivers/port.ts'
import type { Wish } from './matching.ts'
import { findNode, lockNode, lockNodeById, type NodeRow, saveNode } from './nodes.ts'
import { claimNode, type Principal, promised, releaseInstance, takeNode, withoutAllocatedTraits } from './offer.ts'
import { mayHaveUntil } from './pledge.ts'
import { mayDeallocate } from './states.ts'
import { traitsOfProviders } from './traits.ts'

export type AllocationRow = Selectable<Schema['allocations']>
export type AllocationState = AllocationRow['state']
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
const byNode = query((db, a: { node: number } & View) =>
  selectAllocations(db).where('a.node_id', '=', a.node).where(ownInView('a.owner', a)),
)
const lockRow = command((db, a: { id: number }, on) =>
  on.lock(db.selectFrom('allocations').selectAll().where('id', '=', a.id)),
)
const twins = query((db, a: { uuid: string; name: string | null }) =>
  db
    .selectFrom('allocations')
    .select(['uuid', 'name'])
    .where(e => e.or([e('uuid', '=', a.uuid), e('name', '=', sql<string>`cast(${a.name} as text)`)])),
)
const usersOfUuid = query((db, a: { uuid: string }) =>
  db
    .selectFrom('nodes')
    .select('uuid')
    .where('instance_uuid', '=', a.uuid)
    .union(db.selectFrom('consumers').select('uuid').where('uuid', '=', a.uuid)),
)
const countAtWork = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('state', '=', 'allocating'),
)
const insert = command((db, a: Omit<AllocationRow, 'id'>) =>
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
    })
    .returning('id'),
)
type Changes = Pick<AllocationRow, 'id' | 'name' | 'extra' | 'expires_at' | 'updated_at'>
const update = command((db, a: Changes) =>
  db
    .updateTable('allocations')
    .set({ name: a.name, extra: a.extra, expires_at: a.expires_at, updated_at: a.updated_at })
    .where('id', '=', a.id),
)
const restart = command((db, a: Pick<AllocationRow, 'id' | 'conductor_affinity' | 'wait_until' | 'updated_at'>) =>
  db
    .updateTable('allocations')
    .set({
      state: 'allocating',
      last_error: null,
      reasons: null,
      conductor_affinity: a.conductor_affinity,
      wait_until: a.wait_until,
      updated_at: a.updated_at,
    })
    .where('id', '=', a.id)
    .where('state', '=', 'error'),
)
const remove = command((db, a: { id: number }) => db.deleteFrom('allocations').where('id', '=', a.id))

/** What a client asks for, checked. */
export interface AllocationRequest {
  uuid: string
  /** The client's own, null when it left that to us. */
  givenUuid: string | null
  name: string | null
  resourceClass: string | null
  traits: readonly string[]
  /** Names or uuids; null for any node. */
  candidates: readonly string[] | null
  /** A node that is deployed already, to be written down as allocated. */
  node: string | null
  extra: Json
  owner: string | null
  waitUntil: number | null
  expiresAt: number | null
  /** The request that asks. */
  requestId: string | null
}

/** Where a new allocation goes: chance picks one of the conductors that live. */
export interface Routing {
  takeOverMs: number
  seed: number
  /** The conductor in this process, if there is one; it may do its work at once. */
  attempt: ((row: AllocationRow, now: number) => Write<void>) | null
}

/** The allocation of this uuid or name. */
export function* findAllocation(ident: string, { view, permit }: Access): Read<Allocation> {
  const uuid = canonicalUuid(ident)
  // A name may look like a uuid; the uuid comes first.
  const found = (uuid && (yield* one(byUuid({ uuid, ...view })))) || (yield* one(byName({ name: ident, ...view })))
  if (!found) throw notFound(ident)
  permit({ project: found.owner })
  return found
}

const markAllocation = ({ uuid }: Pick<AllocationRow, 'uuid'>) => mark({ kind: 'allocation', id: uuid })

const notFound = (name: string) => problem('metal_not_found', { what: 'Allocation', name })

/** The allocation that the node belongs to; the seed tells the two ways of having none apart. */
export function* allocationOfNode(ident: string, access: Access): Read<Allocation> {
  const node = yield* findNode(ident, seeing(access))
  const found = yield* one(byNode({ node: node.id, ...access.view }))
  if (found) {
    access.permit({ project: found.owner })
    return found
  }
  if (node.instance_uuid !== null && node.allocation_uuid === null) {
    throw problem('invalid_parameter', {
      reason: `Node ${node.uuid} is associated with instance ${node.instance_uuid}, which is no allocation.`,
    })
  }
  throw problem('metal_not_found', { what: 'An allocation of node', name: node.uuid })
}

export function* createAllocation(
  wanted: AllocationRequest,
  access: Access,
  who: Principal,
  routing: Routing,
  now: number,
): Write<Allocation> {
  if (wanted.node !== null) return yield* backfill(wanted, wanted.node, access, who, now)
  const conductor_affinity = yield* someConductor(routing)
  yield* requireRoomToWork()
  yield* requireFreeNames(wanted.uuid, wanted.name)
  const row = {
    ...columnsOf(wanted, who, now),
    resource_class: wanted.resourceClass!,
    candidate_nodes: JSON.stringify(yield* candidateUuids(wanted.candidates ?? [], access)),
    node_id: null,
    state: 'allocating' as const,
    conductor_affinity,
  }
  const { id } = (yield* one(insert(row)))!
  yield* markAllocation(row)
  // A waiting one queues like all others.
  if (row.wait_until === null && routing.attempt) yield* routing.attempt({ ...row, id }, now)
  return { ...row, id, node_uuid: null }
}

function* someConductor({ takeOverMs, seed }: Routing): Read<string> {
  const live = yield* liveConductors(takeOverMs)
  if (live.length === 0) throw problem('unavailable', { reason: 'No conductor is alive to process the allocation.' })
  return live[seed % live.length]!
}

function* requireRoomToWork(): Read<void> {
  const { count } = (yield* one(countAtWork({})))!
  if (count >= limits.allocationsAtWorkMax) {
    throw problem('unavailable', { reason: 'Too many allocations are being processed; try again later.' })
  }
}

function* requireFreeNames(uuid: string, name: string | null, self: string | null = null): Read<void> {
  const [rows, users] = yield* together(twins({ uuid, name }), usersOfUuid({ uuid }))
  for (const twin of rows) {
    if (twin.uuid === self) continue
    const reason =
      twin.uuid === uuid
        ? `An allocation with UUID ${uuid} already exists.`
        : `An allocation with name ${name} already exists.`
    throw problem('metal_exists', { reason })
  }
  if (self === null && users.length > 0) {
    throw problem('metal_exists', { reason: `UUID ${uuid} is in use already, as an instance or a consumer.` })
  }
}

function* candidateUuids(idents: readonly string[], access: Access): Read<string[]> {
  const uuids: string[] = []
  for (const ident of idents) {
    try {
      uuids.push((yield* findNode(ident, seeing(access))).uuid)
    } catch {
      throw problem('invalid_parameter', { reason: `Candidate node ${ident} could not be found.` })
    }
  }
  return [...new Set(uuids)]
}

const columnsOf = (wanted: AllocationRequest, who: Principal, now: number) => ({
  uuid: wanted.uuid,
  name: wanted.name,
  traits: JSON.stringify(wanted.traits),
  extra: JSON.stringify(wanted.extra),
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
})

/** Writes down that a deployed node is allocated. Done at once: there is nothing to look for. */
function* backfill(
  wanted: AllocationRequest,
  ident: string,
  access: Access,
  who: Principal,
  now: number,
): Write<Allocation> {
  const node = yield* lockedForBackfill(ident, access)
  const uuid = node.instance_uuid ?? wanted.uuid
  yield* requireBackfillable(node, wanted)
  if (node.instance_uuid === null) yield* requireFreeNames(uuid, wanted.name)
  else yield* requireFreeNames(uuid, wanted.name, uuid)
  const row = {
    ...columnsOf({ ...wanted, uuid }, who, now),
    resource_class: wanted.resourceClass ?? node.resource_class!,
    candidate_nodes: '[]',
    node_id: node.id,
    state: 'active' as const,
    conductor_affinity: '',
  }
  const claimant = { consumer: uuid, type: 'ALLOCATION', project: row.project_id, user: who.user } as const
  yield* claimNode(node, { ...claimant, view: access.view }, now)
  const { id } = (yield* one(insert(row)))!
  yield* markAllocation(row)
  yield* saveNode({ ...node, instance_uuid: uuid, instance_info: withTraits(node, wanted.traits), updated_at: now })
  return { ...row, id, node_uuid: node.uuid }
}

function* lockedForBackfill(ident: string, access: Access) {
  try {
    return yield* lockNode(ident, seeing(access))
  } catch (error) {
    if (error instanceof Error && 'kind' in error && error.kind === 'metal_not_found') {
      throw problem('invalid_parameter', { reason: `Node ${ident} could not be found.` })
    }
    throw error
  }
}

function* requireBackfillable(node: NodeRow, wanted: AllocationRequest): Read<void> {
  const refuse = (reason: string) =>
    problem('node_refuses', { reason: `Node ${node.uuid} can not be backfilled: ${reason}.` })
  if (node.provision_state !== 'active') throw refuse(`it is in state "${node.provision_state}", not "active"`)
  if (yield* one(byNode({ node: node.id, ...EVERYTHING.view }))) throw refuse('it has an allocation already')
  if (node.resource_class === null) throw refuse('it has no resource class')
  if (wanted.resourceClass !== null && wanted.resourceClass !== node.resource_class)
    throw refuse(`its resource class is ${node.resource_class}`)
  if (node.instance_uuid !== null && wanted.givenUuid !== null && wanted.givenUuid !== node.instance_uuid)
    throw refuse(`its instance is ${node.instance_uuid}, which would be the UUID of the allocation`)
  const has = (yield* traitsOfProviders([node.provider_id])).get(node.provider_id) ?? []
  const missing = wanted.traits.filter(trait => !has.includes(trait))
  if (missing.length > 0) throw refuse(`it lacks ${missing.join(', ')}`)
}

export interface Gift {
  uuid: string
  owner: string
  user: string
  traits: readonly string[]
}

/** Gives an open node to a project, by whoever has promised it to them: there is nothing to look for. */
export function* giveNode(node: NodeRow, { uuid, owner, user, traits }: Gift, now: number): Write<void> {
  const { view } = EVERYTHING
  yield* takeNode(node, { consumer: uuid, type: 'ALLOCATION', project: owner, user, view }, now)
  const none = {
    name: null,
    request_id: null,
    last_error: null,
    reasons: null,
    wait_until: null,
    expires_at: null,
    updated_at: null,
  }
  const given = { uuid, owner, project_id: owner, user_id: user, traits: JSON.stringify(traits), extra: '{}' }
  const place = {
    resource_class: node.resource_class!,
    candidate_nodes: '[]',
    node_id: node.id,
    conductor_affinity: '',
  }
  yield* one(insert({ ...none, ...given, ...place, state: 'active', created_at: now }))
  yield* saveNode({ ...node, instance_uuid: uuid, instance_info: withTraits(node, traits), updated_at: now })
}

/** The instance information of a node that is given to an allocation. */
export const withTraits = ({ instance_info }: Pick<NodeRow, 'instance_info'>, traits: readonly string[]): string =>
  JSON.stringify({ ...(JSON.parse(instance_info) as Json), traits })

export interface AllocationPatch {
  name: string | null
  extra: Json
  expiresAt: number | null
}

/** Changes what may be changed of an allocation: `change` sees it as it is now, under lock. */
export function* patchAllocation(
  ident: string,
  access: Access,
  change: (present: Allocation) => AllocationPatch,
  now: number,
): Write<Allocation> {
  const { id, node_id } = yield* findAllocation(ident, access)
  const node = node_id === null ? undefined : yield* lockNodeById(node_id)
  if (!(yield* one(lockRow({ id })))) throw notFound(ident)
  const present = yield* findAllocation(ident, access)
  const { name, extra, expiresAt } = change(present)
  if (node && !mayHaveUntil(node, expiresAt)) throw promised(node)
  if (name !== present.name) yield* requireFreeNames(present.uuid, name, present.uuid)
  const changes = { id, name, extra: JSON.stringify(extra), expires_at: expiresAt, updated_at: now }
  yield* run(update(changes))
  yield* markAllocation(present)
  return { ...present, ...changes }
}

/** Ends an allocation, and with it the having of its node. */
export function* deleteAllocation(ident: string, access: Access, now: number): Write<void> {
  const found = yield* findAllocation(ident, access)
  yield* endAllocation(found, now)
}

export function* deleteAllocationOfNode(ident: string, access: Access, now: number): Write<void> {
  yield* endAllocation(yield* allocationOfNode(ident, access), now)
}

export function* endAllocation(found: Allocation, now: number): Write<void> {
  const node = found.node_id === null ? undefined : yield* lockNodeById(found.node_id)
  const row = yield* one(lockRow({ id: found.id }))
  if (!row) throw notFound(found.uuid)
  yield* markAllocation(row)
  // Between finding and locking it was given a node: only a fresh start locks that in its turn.
  if (row.node_id !== found.node_id) throw new StoreConflict('allocation_moved')
  if (node) {
    if (!mayDeallocate(node)) {
      throw problem('node_refuses', {
        reason: `Cannot remove allocation ${found.uuid} for node ${node.uuid}, because the node is in state "${node.provision_state}" and not in maintenance.`,
      })
    }
    yield* releaseInstance(node, found.uuid, now)
    yield* saveNode({ ...node, instance_uuid: null, instance_info: withoutAllocatedTraits(node), updated_at: now })
  } else {
    yield* run(remove({ id: found.id }))
  }
}

/** From `error` back to work, with some other conductor perhaps. */
export function* retryAllocation(
  ident: string,
  access: Access,
  waitUntil: number | null,
  routing: Routing,
  now: number,
): Write<Allocation> {
  const found = yield* findAllocation(ident, access)
  const conductor_affinity = yield* someConductor(routing)
  yield* requireRoomToWork()
  const wait_until = waitUntil ?? found.wait_until
  const changes = { id: found.id, conductor_affinity, wait_until, updated_at: now }
  if ((yield* run(restart(changes))) === 0) {
    throw problem('node_refuses', {
      reason: `Allocation ${found.uuid} is in state "${found.state}"; only one in "error" can be tried again.`,
    })
  }
  yield* markAllocation(found)
  return { ...found, ...changes, state: 'allocating', last_error: null, reasons: null }
}

export function wishOf(row: AllocationRow): Wish {
  const candidates = JSON.parse(row.candidate_nodes) as string[]
  return {
    id: row.id,
    name: row.name,
    resourceClass: row.resource_class,
    traits: JSON.parse(row.traits) as string[],
    candidates: candidates.length > 0 ? new Set(candidates) : null,
    owner: row.owner,
    until: row.expires_at,
  }
}
