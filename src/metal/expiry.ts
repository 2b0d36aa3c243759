// Ends expired holds and allocations. A node in use is torn down first; one that can't be released now is retried.
import { sql } from 'kysely'
import { recorded } from '../audit/record.ts'
import type { Witness } from '../audit/witness.ts'
import type { Clock } from '../clock/clock.ts'
import { ENDING } from '../ledger/claims/lapsed.ts'
import { releaseLapsed } from '../ledger/managed.ts'
import { limits } from '../shared/limits.ts'
import { isRefusal } from '../problems/problem.ts'
import type { AllocationId } from '../store/schema/ids.ts'
import { query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all, one, type Read, together, type Write } from '../store/transaction.ts'
import { EVERYTHING } from './access.ts'
import { endAllocation, requireUnmoved } from './allocations/ending.ts'
import { type Allocation, lockAllocation, selectAllocations } from './allocations/rows.ts'
import type { Drivers } from './drivers/registry.ts'
import { lockNodeById, type NodeRow, OWNER } from './nodes/rows.ts'
import { NOBODY } from './nodes/provider.ts'
import { hasMachine, transitionFor } from './nodes/states.ts'
import { startVerb } from './nodes/transitions.ts'

/** A page of expired allocations, oldest first, behind the one that expired at `at` and has the id `id`. */
const lapsedAfter = query((db, a: { at: number; id: AllocationId; now: number; limit: number }) =>
  selectAllocations(db)
    .where('a.expires_at', '>=', a.at)
    .where('a.expires_at', '<=', a.now)
    .where(e => e.or([e('a.expires_at', '>', a.at), e('a.id', '>', a.id)]))
    // An allocation whose node is in transition is skipped until the transition ends.
    .where('n.transition', 'is', null)
    .orderBy('a.expires_at')
    .orderBy('a.id')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const allocationNow = query((db, a: { id: AllocationId; now: number }) =>
  selectAllocations(db).where('a.id', '=', a.id).where('a.expires_at', '<=', a.now),
)
const nextAllocation = query((db, a: { now: number }) =>
  db.selectFrom('allocations').select('expires_at').where('expires_at', '>', a.now).orderBy('expires_at').limit(1),
)
const lapsedHold = query((db, a: { now: number }) =>
  db
    .selectFrom('consumers')
    .select('id')
    .where('expires_at', '<=', a.now)
    .where('managed_by', '=', OWNER)
    .where('type', '=', sql.lit(ENDING))
    .limit(1),
)
const nextHold = query((db, a: { now: number }) =>
  db
    .selectFrom('consumers')
    .select('expires_at')
    .where('expires_at', '>', a.now)
    .where('managed_by', '=', OWNER)
    .where('type', '=', sql.lit(ENDING))
    .orderBy('expires_at')
    .limit(1),
)

interface ExpiryOptions {
  store: Store
  clock: Clock
  drivers: Drivers
  witness: Witness
}

type Ending = 'ended' | 'started' | 'postponed'

/** Ends what has expired by now; returns in how many milliseconds to run again, or null. */
export async function endLapsed(options: ExpiryOptions): Promise<number | null> {
  const { store, clock } = options
  const now = clock.now()
  if (await store.read(() => hasLapsed(now))) await endHolds(options, now)
  if (await endAllocations(options, now)) return limits.expiryRetryMs
  const next = await store.read(() => nextExpiry(now))
  return next === null ? null : next - clock.now()
}

const witnessed = <T>(work: Write<T>, witness: Witness) =>
  recorded(work, witness({ action: 'expire', outcome: 'done' }))

async function endHolds({ store, witness }: ExpiryOptions, now: number): Promise<void> {
  const limit = limits.expiryBatchMax
  while ((await store.write(() => witnessed(releaseLapsed(OWNER, limit, now), witness))) === limit);
}

/**
 * Goes once through all allocations that have expired by now, so that those which must wait don't keep others from
 * ending. Returns whether one was postponed.
 */
async function endAllocations(options: ExpiryOptions, now: number): Promise<boolean> {
  const limit = limits.expiryBatchMax
  let isPostponed = false
  let after = { at: 0, id: 0 as AllocationId }
  for (;;) {
    const page = await options.store.read(() => all(lapsedAfter({ ...after, now, limit })))
    const endings = await endEach(options, page)
    if (endings.has('postponed')) isPostponed = true
    if (page.length < limit) return isPostponed
    const { expires_at, id } = page.at(-1)!
    after = { at: expires_at!, id }
  }
}

async function endEach({ store, clock, drivers, witness }: ExpiryOptions, page: readonly Allocation[]) {
  const endings = new Set<Ending>()
  for (const { id } of page) {
    endings.add(await store.write(() => witnessed(endOne(id, drivers, clock.now()), witness)))
  }
  return endings
}

function* hasLapsed(now: number): Read<boolean> {
  return (yield* one(lapsedHold({ now }))) !== undefined
}

function* nextExpiry(now: number): Read<number | null> {
  const [[allocation], [hold]] = yield* together(nextAllocation({ now }), nextHold({ now }))
  const times = [allocation?.expires_at, hold?.expires_at].filter(time => time !== undefined && time !== null)
  return times.length === 0 ? null : Math.min(...times)
}

/** Ends the allocation. If a machine is deployed, starts its tear-down, which ends the allocation when it is done. */
function* endOne(id: AllocationId, drivers: Drivers, now: number): Write<Ending> {
  const [found] = yield* all(allocationNow({ id, now }))
  if (!found) return 'ended'
  // Read again under lock: a client may just have extended it, or a conductor may have given it a node.
  if (found.node_id !== null) yield* lockNodeById(found.node_id)
  yield* one(lockAllocation({ id }))
  const [present] = yield* all(allocationNow({ id, now }))
  if (!present) return 'ended'
  requireUnmoved(present, found.node_id)
  return yield* endFound(present, drivers, now)
}

function* endFound(found: Allocation, drivers: Drivers, now: number): Write<Ending> {
  try {
    return (yield* tearDown(found, drivers, now)) ? 'started' : yield* endNow(found, drivers, now)
  } catch (error) {
    // The node is protected, in maintenance or locked: try again later.
    if (isRefusal(error)) return 'postponed'
    throw error
  }
}

function* endNow(found: Allocation, drivers: Drivers, now: number): Write<'ended'> {
  yield* endAllocation(found, 'expired', drivers, now)
  return 'ended'
}

function* tearDown(found: Allocation, drivers: Drivers, now: number): Write<boolean> {
  const node = found.node_id === null ? undefined : yield* lockNodeById(found.node_id)
  if (!node || !transitionFor('deleted', node.provision_state)) return false
  return yield* undeploy(node, drivers, now)
}

function undeploy({ uuid }: NodeRow, drivers: Drivers, now: number): Write<boolean> {
  const order = { verb: 'deleted', word: 'deleted', args: {}, reservation: null, who: NOBODY } as const
  return startVerb(uuid, EVERYTHING, order, drivers, now)
}

/** Starts to tear down the machine on a node; says whether there is none, or whether it must stay for now. */
export function* emptyNode(node: NodeRow, drivers: Drivers, now: number): Write<'empty' | 'started' | 'postponed'> {
  if (!hasMachine(node)) return 'empty'
  try {
    yield* undeploy(node, drivers, now)
    return 'started'
  } catch (error) {
    if (isRefusal(error)) return 'postponed'
    throw error
  }
}
