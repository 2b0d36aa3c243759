// Ends expired holds and allocations. A node in use is torn down first; one that can't be released now is retried.
import { sql } from 'kysely'
import { recorded } from '../audit/record.ts'
import type { Witness } from '../audit/witness.ts'
import type { Clock } from '../clock/clock.ts'
import { releaseLapsed } from '../ledger/managed.ts'
import { limits } from '../shared/limits.ts'
import { Problem } from '../problems/problem.ts'
import type { Bell } from '../store/bell.ts'
import type { AllocationId } from '../store/schema/ids.ts'
import { query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all, one, type Read, together, type Write } from '../store/transaction.ts'
import { EVERYTHING } from './access.ts'
import { endAllocation, requireUnmoved } from './allocations/lifecycle.ts'
import { type Allocation, lockAllocation, selectAllocations } from './allocations/rows.ts'
import type { Drivers } from './drivers/registry.ts'
import { lockNodeById, type NodeRow, OWNER } from './nodes/rows.ts'
import { NOBODY } from './nodes/provider.ts'
import { hasMachine, transitionFor } from './nodes/states.ts'
import { startVerb } from './nodes/transitions.ts'

const lapsed = query((db, a: { now: number; limit: number }) =>
  selectAllocations(db)
    .where('a.expires_at', '<=', a.now)
    // An allocation whose node is in transition is skipped until the transition ends.
    .where('n.transition', 'is', null)
    .orderBy('a.expires_at')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const allocationNow = query((db, a: { id: AllocationId; now: number }) =>
  selectAllocations(db).where('a.id', '=', a.id).where('a.expires_at', '<=', a.now),
)
const nextAllocation = query((db, a: { now: number }) =>
  db.selectFrom('allocations').select('expires_at').where('expires_at', '>', a.now).orderBy('expires_at').limit(1),
)
const lapsedHold = query((db, a: { now: number }) =>
  db.selectFrom('consumers').select('id').where('expires_at', '<=', a.now).where('managed_by', '=', OWNER).limit(1),
)
const nextHold = query((db, a: { now: number }) =>
  db.selectFrom('consumers').select('expires_at').where('expires_at', '>', a.now).orderBy('expires_at').limit(1),
)

interface ExpiryOptions {
  store: Store
  clock: Clock
  drivers: Drivers
  bell: Bell
  witness: Witness
}

/** Ends what has expired; returns in how many milliseconds to run again, or null. */
export async function endLapsed({ store, clock, drivers, bell, witness }: ExpiryOptions): Promise<number | null> {
  const limit = limits.expiryBatchMax
  const expired = <T>(work: Write<T>) => recorded(work, witness?.({ action: 'expire', outcome: 'done' }))
  if (await store.read(() => hasLapsed(clock.now()))) {
    while ((await store.write(() => expired(releaseLapsed(OWNER, limit, clock.now())))) === limit);
  }
  const due = await store.read(() => all(lapsed({ now: clock.now(), limit })))
  let [postponed, started] = [0, 0]
  for (const { id } of due) {
    const outcome = await store.write(() => expired(endOne(id, drivers, clock.now())))
    if (outcome === 'started') started++
    if (outcome === 'postponed') postponed++
  }
  if (started > 0) bell.ring('nodes')
  if (due.length === limit && postponed < limit) return 0
  if (postponed > 0) return limits.expiryRetryMs
  const next = await store.read(() => nextExpiry(clock.now()))
  return next === null ? null : next - clock.now()
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
function* endOne(id: AllocationId, drivers: Drivers, now: number): Write<'ended' | 'started' | 'postponed'> {
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

function* endFound(found: Allocation, drivers: Drivers, now: number): Write<'ended' | 'started' | 'postponed'> {
  try {
    return (yield* tearDown(found, drivers, now)) ? 'started' : yield* endNow(found, now)
  } catch (error) {
    // The node is protected, in maintenance or locked: try again later.
    if (error instanceof Problem) return 'postponed'
    throw error
  }
}

function* endNow(found: Allocation, now: number): Write<'ended'> {
  yield* endAllocation(found, now)
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
    if (error instanceof Problem) return 'postponed'
    throw error
  }
}
