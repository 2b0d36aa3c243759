// Tells of allocations that end soon, once for each end. That the holder knows of the end shows in `end_known_at`: it was
// set, or told, after the time to remind of it. So nobody is reminded of an end that was set only then: neither the holder
// of a short allocation, nor one who renews it every few seconds, nor one who has just moved the end.
import { sql } from 'kysely'
import { recordAll } from '../audit/record.ts'
import type { Witness } from '../audit/witness.ts'
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import type { AllocationId } from '../store/schema/ids.ts'
import { command, query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all, one, run, type Write } from '../store/transaction.ts'
import { type Allocation, allocationBecame, selectAllocations } from './allocations/rows.ts'

interface Term {
  now: number
  /** The reminder comes so long before the end. */
  leadMs: number
}

interface DueAllocation extends Allocation {
  node_name: string | null
}

const isDue = ({ now, leadMs }: Term, table: 'a' | 'allocations') => {
  const [end, known, created] = ['expires_at', 'end_known_at', 'created_at'].map(name => sql.ref(`${table}.${name}`))
  return sql<boolean>`${end} > ${now} and ${end} <= cast(${now} as bigint) + cast(${leadMs} as bigint)
    and coalesce(${known}, ${created}) < ${end} - cast(${leadMs} as bigint)`
}
const dueSoon = query((db, a: Term & { limit: number }) =>
  selectAllocations(db)
    .select('n.name as node_name')
    .where('a.state', '=', 'active')
    .where(isDue(a, 'a'))
    .orderBy('a.expires_at')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const remember = command((db, a: Term & { id: AllocationId; end: number }) =>
  db
    .updateTable('allocations')
    .set({ end_known_at: a.now })
    .where('id', '=', a.id)
    .where('expires_at', '=', a.end)
    .where(isDue(a, 'allocations')),
)
const nextEnd = query((db, a: { after: number }) =>
  db.selectFrom('allocations').select('expires_at').where('expires_at', '>', a.after).orderBy('expires_at').limit(1),
)

interface ReminderOptions {
  store: Store
  clock: Clock
  witness: Witness
  /** 0 for no reminders. */
  leadMs: number
}

/** Tells of what ends soon; returns in how many milliseconds to run again, or null. */
export async function remindOfEnds({ store, clock, witness, leadMs }: ReminderOptions): Promise<number | null> {
  if (leadMs === 0) return null
  for (;;) {
    const term = { now: clock.now(), leadMs }
    const due = await store.read(() => all(dueSoon({ ...term, limit: limits.expiryBatchMax })))
    for (const allocation of due) await store.write(() => remind(allocation, term, witness))
    if (due.length < limits.expiryBatchMax) break
  }
  const now = clock.now()
  const next = await store.read(() => one(nextEnd({ after: now + leadMs })))
  return next ? next.expires_at! - leadMs - now : null
}

function* remind(found: DueAllocation, term: Term, witness: Witness): Write<void> {
  const { id, node_uuid: uuid, node_name: name } = found
  // Another process may have told of it, or its end was moved.
  if ((yield* run(remember({ ...term, id, end: found.expires_at! }))) === 0) return
  const entry = witness({ action: 'remind', outcome: 'done', request: found.request_id })
  yield* recordAll([{ entry, subjects: [allocationBecame(found, 'before_end', { node: { uuid, name } })] }])
}
