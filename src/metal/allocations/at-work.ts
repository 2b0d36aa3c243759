// Which allocations are looking for a node, and who waits before whom.
import { limits } from '../../shared/limits.ts'
import type { AllocationId } from '../../store/schema/ids.ts'
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
const anyoneWaiting = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .select('id')
    .where('state', '=', 'allocating')
    .where('wait_until', 'is not', null)
    .limit(1),
)
const waitingBefore = query((db, a: { id: AllocationId; resource_class: string }) =>
  db
    .selectFrom('allocations')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('state', '=', 'allocating')
    .where('wait_until', 'is not', null)
    .where('resource_class', '=', a.resource_class)
    .where('id', '<', a.id),
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

/** All allocations that wait for a node, at any conductor, oldest first. */
export function* waitingAllocations(): Read<AllocationRow[]> {
  return yield* all(othersWaiting({ affinity: '' }))
}

/** How many allocations of its class come before this one when a node is freed; 0 if it doesn't wait. */
export function* countAhead({ id, resource_class, state, wait_until }: AllocationRow): Read<number> {
  if (state !== 'allocating' || wait_until === null) return 0
  return (yield* one(waitingBefore({ id, resource_class })))!.count
}

export function* isSomeoneWaiting(): Read<boolean> {
  return (yield* one(anyoneWaiting({}))) !== undefined
}
