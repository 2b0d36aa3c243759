// Keeping the allocation that a lease gave: its end is the lease's, so how long it is kept is told apart.
import { called } from '../called.ts'
import { problem } from '../../problems/problem.ts'
import type { AllocationId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { timeOf } from '../../events/subject.ts'
import { mark, one, run, type Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import { isKept, kept, requireNotEnding } from './keeping.ts'
import { lockedWithNode } from './ending.ts'
import { type Allocation, allocationBecame, findAllocation } from './rows.ts'

/** The end of the running lease that gave the allocation. */
const endOfLease = query((db, a: { allocation: string }) =>
  db
    .selectFrom('bookings as b')
    .innerJoin('leases as l', 'l.id', 'b.lease_id')
    .select('b.end_at')
    .where('b.allocation', '=', a.allocation)
    .where('l.status', '=', 'ACTIVE')
    .where('l.is_deleted', '=', 0),
)
const keep = command(
  (db, a: { id: AllocationId; keeper: string; until: number; plannedEnd: number | null; now: number }) =>
    db
      .updateTable('allocations')
      .set({
        keeper: a.keeper,
        kept_until: a.until,
        planned_end: a.plannedEnd,
        ending_by: null,
        ending_at: null,
        ending_message: null,
        updated_at: a.now,
      })
      .where('id', '=', a.id),
)

interface Keeping {
  keeper: string
  until: number
  /** null leaves it as it is. */
  plannedEnd: number | null
}

/** Keeps a lease's allocation, or keeps it longer; never beyond the lease's end, and not once the lease is ending. */
export function* keepLeased(ident: string, access: Access, wanted: Keeping, now: number): Write<Allocation> {
  const found = yield* findAllocation(ident, access)
  const { node, row } = yield* lockedWithNode(found)
  const refuse = (reason: string) => problem('node_refuses', { reason: `Allocation ${called(row)} ${reason}.` })
  if (!node || node.leased_to === null) throw refuse('was not given by a lease')
  const { keeper, until } = wanted
  if (isKept(row, now)) {
    if (row.keeper !== keeper) throw kept(row)
    requireNotEnding(row)
  }
  const lease = yield* one(endOfLease({ allocation: row.uuid }))
  if (!lease) throw refuse("can't be kept: its lease is ending")
  if (until > lease.end_at) throw refuse(`ends with its lease, at ${new Date(lease.end_at).toISOString()}`)
  const plannedEnd = wanted.plannedEnd ?? (row.keeper === keeper ? row.planned_end : null)
  yield* run(keep({ id: row.id, keeper, until, plannedEnd, now }))
  yield* mark(allocationBecame(row, 'changed', { until: timeOf(until) }))
  return yield* findAllocation(row.uuid, access)
}
