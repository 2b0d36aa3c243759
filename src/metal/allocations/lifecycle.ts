// What clients do with allocations: create, change and retry them.
import { timeOf } from '../../events/subject.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { kindsOf } from '../../quotas/texts.ts'
import type { Kind } from '../../quotas/usage.ts'
import { type Limits, requireTerm, withinQuota } from '../../quotas/within.ts'
import { jsonText } from '../../shared/json.ts'
import { command, query } from '../../store/statement.ts'
import { mark, one, type Read, run, together, type Write, wake } from '../../store/transaction.ts'
import { type Access, seeing } from '../access.ts'
import {
  type Allocation,
  allocationBecame,
  allocationNotFound,
  allocationTwins,
  type AllocationRequest,
  type AllocationRow,
  columnsOf,
  findAllocation,
  insertAllocation,
  lockAllocation,
  refuseTwins,
  refuseUsers,
  requireFreeAllocationNames,
  usersOfUuid,
} from './rows.ts'
import { backfill } from './backfill.ts'
import { requireUntil } from './extension.ts'
import { requireUnmoved } from './ending.ts'
import { requireKeptPromise } from './keeping.ts'
import { affinityOf, liveConductors } from '../conductors/rows.ts'
import type { Json } from '../drivers/port.ts'
import { lockNodeById, nodeUuids } from '../nodes/rows.ts'
import { type Principal, requireFreeInstance } from '../nodes/provider.ts'
import { called } from '../called.ts'

const countAtWork = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('state', '=', 'allocating'),
)
type Changes = Pick<
  AllocationRow,
  'id' | 'name' | 'extra' | 'expires_at' | 'wait_until' | 'end_known_at' | 'planned_end' | 'note' | 'updated_at'
>
const update = command((db, a: Changes) =>
  db
    .updateTable('allocations')
    .set({
      name: a.name,
      extra: a.extra,
      expires_at: a.expires_at,
      wait_until: a.wait_until,
      end_known_at: a.end_known_at,
      planned_end: a.planned_end,
      note: a.note,
      updated_at: a.updated_at,
    })
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
      retried_at: a.updated_at,
      updated_at: a.updated_at,
    })
    .where('id', '=', a.id)
    .where('state', '=', 'error'),
)
/** Which conductor gets a new allocation: a random one of those alive. */
interface Routing {
  takeOverMs: number
  seed: number
  /** The allocator of this process, if there is one: it may assign a node at once. */
  attempt: ((row: AllocationRow, now: number) => Write<unknown>) | null
}

export function* createAllocation(
  wanted: AllocationRequest,
  access: Access,
  who: Principal,
  routing: Routing,
  now: number,
): Write<Allocation> {
  const kinds: Kind[] = ['nodes', ...kindsOf(wanted.extra, wanted.candidates ?? [])]
  return yield* withinQuota({ project: wanted.owner ?? who.project, kinds, now }, limits => {
    requireTerm(limits, 'longest_allocation_hours', { from: now, until: wanted.expiresAt })
    return wanted.node === null
      ? makeAllocation(wanted, access, who, routing, now)
      : backfill(wanted, wanted.node, access, who, now)
  })
}

function* makeAllocation(
  wanted: AllocationRequest,
  access: Access,
  who: Principal,
  routing: Routing,
  now: number,
): Write<Allocation> {
  const { conductor_affinity, candidates } = yield* requireAcceptable(wanted, access, routing)
  if (wanted.givenUuid !== null) yield* requireFreeInstance(wanted.uuid, '', now)
  const row = {
    ...columnsOf(wanted, who, now),
    resource_class: wanted.resourceClass!,
    candidate_nodes: jsonText(candidates),
    node_id: null,
    state: 'allocating' as const,
    conductor_affinity,
  }
  const { id } = (yield* one(insertAllocation(row)))!
  yield* mark(allocationBecame(row, 'created', { to: row.state, wait_until: timeOf(row.wait_until) }))
  yield* wake('allocations', ...(row.expires_at === null ? [] : (['expiry'] as const)))
  // An allocation that may wait takes its turn in the queue.
  if (row.wait_until === null && routing.attempt) yield* routing.attempt({ ...row, id }, now)
  return { ...row, id, node_uuid: null }
}

/** Checks a new allocation; returns the conductor that will process it, and its candidates as uuids. */
function* requireAcceptable(
  wanted: AllocationRequest,
  access: Access,
  routing: Pick<Routing, 'takeOverMs' | 'seed'>,
): Read<{ conductor_affinity: string; candidates: string[] }> {
  const [live, atWork, twins, users] = yield* together(
    liveConductors({ silentMs: routing.takeOverMs }),
    countAtWork({}),
    allocationTwins(wanted),
    usersOfUuid(wanted),
  )
  const conductor_affinity = someConductor(live, routing)
  requireRoomToWork(atWork)
  refuseTwins(wanted, twins, null)
  refuseUsers(wanted, users)
  return { conductor_affinity, candidates: yield* candidateUuids(wanted.candidates ?? [], access) }
}

type Live = Parameters<typeof affinityOf>[0]

function someConductor(live: readonly Live[], { seed }: Pick<Routing, 'seed'>): string {
  if (live.length === 0) throw problem('unavailable', { reason: 'No conductor is alive to process the allocation.' })
  return affinityOf(live[seed % live.length]!)
}

function requireRoomToWork([atWork]: readonly { count: number }[]): void {
  if (atWork!.count >= limits.allocationsAtWorkMax) {
    throw problem('unavailable', { reason: 'Too many allocations are being processed; try again later.' })
  }
}

function* candidateUuids(idents: readonly string[], access: Access): Read<string[]> {
  const found = yield* nodeUuids(idents, seeing(access))
  const unknown = idents.find((_, i) => found[i] === null)
  if (unknown !== undefined)
    throw problem('invalid_parameter', {
      reason: `Nodes cannot be found: ${unknown}. Each of candidate_nodes is the name or UUID of a node.`,
    })
  return [...new Set(found as string[])]
}

export interface AllocationPatch {
  name: string | null
  extra: Json
  expiresAt: number | null
  plannedEnd: number | null
  waitUntil: number | null
  note: string | null
  /** The proof that the caller is the keeper. */
  keeper: string | null
}

/** Changes the mutable part of an allocation; `change` gets the allocation as it is under lock. */
export function* patchAllocation(
  ident: string,
  access: Access,
  change: (present: Allocation) => AllocationPatch,
  now: number,
): Write<Allocation> {
  const found = yield* findAllocation(ident, access)
  const kinds: Kind[] = ['nodes', ...kindsOf(change(found).extra)]
  return yield* withinQuota({ project: found.project_id, kinds, now }, limits =>
    changeAllocation(found, access, limits, change, now),
  )
}

function* changeAllocation(
  { id, uuid: ident, node_id }: Allocation,
  access: Access,
  limits: Limits,
  change: (present: Allocation) => AllocationPatch,
  now: number,
): Write<Allocation> {
  const node = node_id === null ? undefined : yield* lockNodeById(node_id)
  const row = yield* one(lockAllocation({ id }))
  if (!row) throw allocationNotFound(ident)
  requireUnmoved(row, node_id)
  const present = yield* findAllocation(ident, access)
  const { name, extra, expiresAt, plannedEnd, waitUntil, note, keeper } = change(present)
  if (waitUntil !== present.wait_until) requireWaiting(present)
  requireKeptPromise(present, expiresAt, keeper, now)
  const term = { from: present.created_at, until: expiresAt, present: present.expires_at }
  requireTerm(limits, 'longest_allocation_hours', term)
  if (node) yield* requireUntil(node, expiresAt, access)
  if (name !== present.name) yield* requireFreeAllocationNames({ uuid: present.uuid, name }, present.uuid)
  const isMoved = expiresAt !== present.expires_at
  const end_known_at = isMoved ? now : present.end_known_at
  const times = {
    expires_at: expiresAt,
    wait_until: waitUntil,
    end_known_at,
    planned_end: plannedEnd,
    updated_at: now,
  }
  const changes = { id, name, extra: jsonText(extra), note, ...times }
  yield* run(update(changes))
  const after = { ...present, ...changes }
  yield* mark(
    isMoved
      ? allocationBecame(after, 'renewed', { until_before: timeOf(present.expires_at) })
      : allocationBecame(after, 'changed'),
  )
  if (isMoved) yield* wake('expiry')
  // Whoever gives up on it has to reckon again.
  if (waitUntil !== present.wait_until) yield* wake('allocations')
  return after
}

function requireWaiting(present: Allocation): void {
  if (present.state === 'allocating') return
  throw problem('node_refuses', {
    reason: `Allocation ${called(present)} is in state "${present.state}"; only one that waits has a wait_until to change.`,
  })
}

/** Puts an allocation from `error` back to `allocating`, perhaps with another conductor. */
export function* retryAllocation(
  ident: string,
  access: Access,
  waitUntil: number | null,
  routing: Routing,
  now: number,
): Write<Allocation> {
  const found = yield* findAllocation(ident, access)
  return yield* withinQuota({ project: found.project_id, kinds: ['nodes'], now }, () =>
    restartAllocation(found, waitUntil, routing, now),
  )
}

function* restartAllocation(
  found: Allocation,
  waitUntil: number | null,
  routing: Routing,
  now: number,
): Write<Allocation> {
  const [live, atWork] = yield* together(liveConductors({ silentMs: routing.takeOverMs }), countAtWork({}))
  const conductor_affinity = someConductor(live, routing)
  requireRoomToWork(atWork)
  const wait_until = waitUntil ?? found.wait_until
  const changes = { id: found.id, conductor_affinity, wait_until, updated_at: now }
  if ((yield* run(restart(changes))) === 0) {
    throw problem('node_refuses', {
      reason: `Allocation ${called(found)} is in state "${found.state}"; only one in "error" can be tried again.`,
    })
  }
  yield* mark(allocationBecame(found, 'retried', { from: 'error', to: 'allocating', wait_until: timeOf(wait_until) }))
  yield* wake('allocations')
  return { ...found, ...changes, state: 'allocating', last_error: null, reasons: null }
}
