// Settles a round of work for Nova, and tells when trouble begins and when it is over. A lease with trouble is degraded:
// that is merged into its view, and isn't written into the lease, which the ledger gave all that it promised.
import { recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import { textIn } from '../../events/subject.ts'
import { mark, type Read, wake, type Write } from '../../store/transaction.ts'
import type { LeaseContext } from '../context.ts'
import { lockLeases, type StoredLease } from '../lifecycle/rows.ts'
import { leaseBecame, postpone } from '../lifecycle/writes.ts'
import type { Lease } from '../types.ts'
import { errorOf, type Outcome, settleWork, troublesOf, type Work } from './rows.ts'

export async function settled(
  { store, clock, witness }: Pick<LeaseContext, 'store' | 'clock'> & { witness: Witness },
  work: Work,
  outcome: Outcome,
): Promise<void> {
  const error = errorOf(outcome, work)
  const isNews = (error === null) !== (work.error === null)
  const outcomeWord = error === null ? 'done' : 'failed'
  await store.write(() =>
    recorded(settle(work, outcome, isNews, clock.now()), lease =>
      lease ? witness({ action: 'tell_nova', outcome: outcomeWord, project: lease.project_id }) : undefined,
    ),
  )
}

/** Returns the lease when there is something to tell about it. */
function* settle(work: Work, outcome: Outcome, isNews: boolean, now: number): Write<StoredLease | null> {
  // Locked first, as everywhere. Two reservations of one lease must not both be the first to be in trouble.
  const [lease] = isNews ? yield* lockLeases([work.lease_id]) : []
  const became = yield* settleWork(work, outcome, now)
  if (became !== 'settled') yield* wake('nova')
  if (became === 'lost') return null
  if (outcome.kind === 'waiting' && outcome.isClear) {
    // Nothing holds the class any more.
    yield* postpone(work.lease_id, 'end_lease', now, 0)
    yield* wake('leases')
  }
  if (!lease || lease.is_deleted || lease.degraded) return null
  const others = (yield* troublesOf([lease.id])).filter(({ reservation }) => reservation !== work.reservation_id)
  if (others.length > 0) return null
  const error = errorOf(outcome, work)
  yield* mark(leaseBecame(lease, error === null ? 'whole' : 'degraded', { reason: textIn(error) }))
  return lease
}

/** The leases as people see them: those with trouble in Nova are degraded, and say why. */
export function* withTrouble<T extends Lease>(leases: readonly T[]): Read<T[]> {
  const found = yield* troublesOf(leases.map(({ id }) => id))
  const byLease = Map.groupBy(found, ({ lease }) => lease)
  return leases.map(lease => {
    const mine = byLease.get(lease.id)
    if (!mine) return lease
    const why = [...new Set(mine.map(({ error }) => `${error}.`))].join(' ')
    const reasons = [lease.status_reason, `Not all of it is done in Nova yet, and it is tried again: ${why}`]
    return { ...lease, degraded: true, status_reason: reasons.filter(one => one !== null).join(' ') }
  })
}
