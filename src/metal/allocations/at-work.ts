// Which allocations are looking for a node.
import { limits } from '../../shared/limits.ts'
import { query } from '../../store/statement.ts'
import { all, one, type Read, together } from '../../store/transaction.ts'
import type { AllocationRow } from './rows.ts'

const ownAtWork = query((db, a: { affinity: string }) =>
  db
    .selectFrom('allocations')
    .selectAll()
    .where('state', '=', 'allocating')
    .where('conductor_affinity', '=', a.affinity)
    .orderBy('id')
    .limit(limits.allocationsAtWorkMax),
)
const othersWaiting = query((db, a: { affinity: string }) =>
  db
    .selectFrom('allocations')
    .selectAll()
    .where('state', '=', 'allocating')
    .where('wait_until', 'is not', null)
    .where('conductor_affinity', '<>', a.affinity)
    .orderBy('id')
    .limit(limits.allocationsAtWorkMax),
)
/** One that waits, at any conductor. */
export const anyoneWaiting = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .select('id')
    .where('state', '=', 'allocating')
    .where('wait_until', 'is not', null)
    .limit(1),
)
interface AtWork {
  own: AllocationRow[]
  /** Allocations that wait at other conductors. They may have come first. */
  others: AllocationRow[]
}

/** All allocations that a conductor has to decide. */
export function* allocationsAtWork(affinity: string): Read<AtWork> {
  const [own, others] = yield* together(ownAtWork({ affinity }), othersWaiting({ affinity }))
  return { own, others }
}

/** All allocations that wait for a node, at any conductor. */
export function* waitingAllocations(): Read<AllocationRow[]> {
  return yield* all(othersWaiting({ affinity: '' }))
}

export function* isSomeoneWaiting(): Read<boolean> {
  return (yield* one(anyoneWaiting({}))) !== undefined
}
