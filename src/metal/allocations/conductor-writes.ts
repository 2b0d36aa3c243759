// A conductor's writes on allocations. Each is guarded by conductor_affinity: a conductor that was given up finds
// another one's name there, and changes nothing.
import { claimBatch } from '../../ledger/claims/batch.ts'
import { limits } from '../../shared/limits.ts'
import { isRefusal, type Problem } from '../../problems/problem.ts'
import type { AllocationId, NodeId, ProviderId } from '../../store/schema/ids.ts'
import { bulk, command, query } from '../../store/statement.ts'
import { all, mark, run, together, type Write } from '../../store/transaction.ts'
import type { View } from '../access.ts'
import { claimFor, giveNodes, isStillGood, type Pair } from './giving.ts'
import type { AllocationRow } from './rows.ts'
import { affinityOf, conductorBecame, hostOf, liveConductors } from '../conductors/rows.ts'
import type { Drivers } from '../drivers/registry.ts'
import { findInstance } from '../nodes/rows.ts'
import { claimNode } from '../nodes/provider.ts'
import { byProvider, traitsByProvider } from '../nodes/traits.ts'

const everyAtWork = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .select(['id', 'conductor_affinity'])
    .where('state', '=', 'allocating')
    .orderBy('id')
    .limit(limits.allocationsAtWorkMax),
)
const lockNodes = command((db, a: { ids: readonly NodeId[] }, on) =>
  on.lock(
    db
      .selectFrom('nodes')
      .selectAll()
      .where(on.isIn('id', a.ids, 'bigint'))
      .orderBy('id'),
  ),
)
const lockAtWork = command((db, a: { ids: readonly AllocationId[]; affinity: string }, on) =>
  on.lock(
    db
      .selectFrom('allocations')
      .selectAll()
      .where(on.isIn('id', a.ids, 'bigint'))
      .where('state', '=', 'allocating')
      .where('conductor_affinity', '=', a.affinity)
      .orderBy('id'),
  ),
)
interface Activation {
  id: AllocationId
  node: NodeId
  affinity: string
  now: number
}
const activate = bulk<Activation>({ id: 'bigint', node: 'bigint', affinity: 'text', now: 'bigint' }, (db, r, on) =>
  on
    .update(db.updateTable('allocations'), 'allocations.id', r.id)
    .set({
      state: 'active',
      node_id: r.node,
      last_error: null,
      reasons: null,
      started_at: r.now,
      end_known_at: r.now,
      updated_at: r.now,
    })
    .where('allocations.conductor_affinity', '=', r.affinity)
    .where('allocations.state', '=', 'allocating'),
)
interface Failure {
  id: AllocationId
  affinity: string
  error: string
  reasons: NonNullable<AllocationRow['reasons']>
  now: number
}
const fail = bulk<Failure>(
  { id: 'bigint', affinity: 'text', error: 'text', reasons: 'text', now: 'bigint' },
  (db, r, on) =>
    on
      .update(db.updateTable('allocations'), 'allocations.id', r.id)
      .set({ state: 'error', last_error: r.error, reasons: r.reasons, updated_at: r.now })
      .where('allocations.conductor_affinity', '=', r.affinity)
      .where('allocations.state', '=', 'allocating')
      // Someone may have let it wait longer just now.
      .where(e => e.or([e('allocations.wait_until', 'is', null), e('allocations.wait_until', '<=', r.now)]))
      .returning('allocations.id'),
)
type Waiting = Omit<Failure, 'error' | 'now'>
const noteReasons = bulk<Waiting>({ id: 'bigint', affinity: 'text', reasons: 'text' }, (db, r, on) =>
  on
    .update(db.updateTable('allocations'), 'allocations.id', r.id)
    .set({ reasons: r.reasons })
    .where('allocations.conductor_affinity', '=', r.affinity)
    .where('allocations.state', '=', 'allocating')
    .where('allocations.reasons', 'is', null)
    .returning('allocations.id'),
)
const takeFrom = command((db, a: { id: AllocationId; dead: string; self: string }) =>
  db
    .updateTable('allocations')
    .set({ conductor_affinity: a.self })
    .where('id', '=', a.id)
    .where('conductor_affinity', '=', a.dead)
    .where('state', '=', 'allocating'),
)

/** A proposal from memory, not committed yet. */
interface Pick {
  allocation: AllocationId
  node: NodeId
  /** The provider of the node. */
  provider: ProviderId
}

/**
 * The result of a proposal: the allocation has the node; the node is taken or no longer fits; the node is busy with a
 * conductor; or the allocation is no longer ours.
 */
export type AssignResult = 'granted' | 'lost' | 'locked' | 'gone'

/** Gives nodes to allocations. For each pair, allocation, node and claim change together or not at all. */
export function* assign(
  picks: readonly Pick[],
  affinity: string,
  drivers: Drivers,
  now: number,
): Write<AssignResult[]> {
  // Traits are read after the locks: every change of traits locks the node first.
  const [nodeRows, rows, traitRows] = yield* together(
    lockNodes({ ids: picks.map(pick => pick.node) }),
    lockAtWork({ ids: picks.map(pick => pick.allocation), affinity }),
    traitsByProvider({ providers: picks.map(pick => pick.provider) }),
  )
  const nodes = new Map(nodeRows.map(node => [node.id, node]))
  const allocations = new Map(rows.map(row => [row.id, row]))
  const traits = byProvider(traitRows)
  const pairs = picks.flatMap((pick, place) => {
    const [allocation, node] = [allocations.get(pick.allocation), nodes.get(pick.node)]
    return allocation && node && isStillGood(node, traits.get(node.provider_id) ?? [], allocation)
      ? [{ place, allocation, node }]
      : []
  })
  const verdicts = yield* claimBatch(
    pairs.map(({ allocation, node }) => claimFor(allocation, node)),
    now,
  )
  const granted: typeof pairs = []
  for (const [i, pair] of pairs.entries()) {
    const verdict = verdicts[i]
    // The consumer has claims elsewhere already, and keeps them.
    const isGranted = verdict === null || (isOfItsOwn(verdict) && (yield* claimBeside(pair, now)))
    if (isGranted) granted.push(pair)
  }
  yield* writeDown(granted, affinity, drivers, now)
  const places = new Set(granted.map(({ place }) => place))
  return picks.map((pick, place) => {
    if (places.has(place)) return 'granted'
    if (!allocations.has(pick.allocation)) return 'gone'
    return nodes.get(pick.node)?.transition ? 'locked' : 'lost'
  })
}

const isOfItsOwn = (verdict: Problem | undefined) => verdict?.kind === 'consumer_generation_conflict'

function* claimBeside({ allocation, node }: Pair, now: number): Write<boolean> {
  if (yield* findInstance(allocation.uuid)) return false
  const { uuid: consumer, project_id: project, user_id: user, owner } = allocation
  // A project's allocation takes over only claims of that project.
  const view: View = { all: owner === null ? 1 : 0, project: owner }
  try {
    const until = allocation.expires_at === null ? {} : { until: allocation.expires_at }
    yield* claimNode(node, { consumer, type: 'ALLOCATION', project, user, view, ...until }, now)
    return true
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

function* writeDown(
  pairs: readonly Pair<AllocationRow>[],
  affinity: string,
  drivers: Drivers,
  now: number,
): Write<void> {
  const rows = pairs.map(({ allocation, node }) => ({ id: allocation.id, node: node.id, affinity, now }))
  if (rows.length > 0) yield* giveNodes(pairs, activate({ rows }), drivers, now)
}

export interface Verdict {
  allocation: AllocationId
  error: string
  reasons: NonNullable<AllocationRow['reasons']>
}

/** Marks allocations as failed, with the reasons. Returns the ids of those that were still this conductor's. */
export function* failAllocations(
  verdicts: readonly Verdict[],
  affinity: string,
  now: number,
): Write<Set<AllocationId>> {
  const rows = verdicts.map(({ allocation: id, error, reasons }) => ({ id, affinity, error, reasons, now }))
  if (rows.length === 0) return new Set()
  const failed = (yield* all(fail({ rows }))) as { id: AllocationId }[]
  return new Set(failed.map(({ id }) => id))
}

/** Notes why allocations have to wait, once for each. Returns the ids of those that had no such note. */
export function* keepWaiting(verdicts: readonly Verdict[], affinity: string): Write<Set<AllocationId>> {
  const rows = verdicts.map(({ allocation: id, reasons }) => ({ id, affinity, reasons }))
  if (rows.length === 0) return new Set()
  const noted = (yield* all(noteReasons({ rows }))) as { id: AllocationId }[]
  return new Set(noted.map(({ id }) => id))
}

/**
 * Takes over the allocations of conductors that are gone, and returns how many. With a host name: only those that an
 * earlier process of that name left.
 */
export function* takeOverAllocations(self: string, silentMs: number, hostname: string | null): Write<number> {
  const atWork = yield* all(everyAtWork({}))
  if (atWork.length === 0) return 0
  const live = new Set((yield* all(liveConductors({ silentMs }))).map(affinityOf)).add(self)
  const orphans = atWork.filter(
    ({ conductor_affinity: affinity }) =>
      !live.has(affinity) && (hostname === null || affinity.startsWith(`${hostname} `)),
  )
  const taken = new Map<string, number>()
  for (const { id, conductor_affinity: dead } of orphans) {
    const count = yield* run(takeFrom({ id, dead, self }))
    if (count > 0) taken.set(hostOf(dead), (taken.get(hostOf(dead)) ?? 0) + count)
  }
  const by = hostOf(self)
  yield* mark(
    ...[...taken].map(([name, allocations]) => conductorBecame(name, 'taken_over', { taken_by: by, allocations })),
  )
  return [...taken.values()].reduce((sum, count) => sum + count, 0)
}
