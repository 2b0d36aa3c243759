// Counts what projects used lately, for the fair order. The end of an allocation is written down in the transaction that
// ends it, so a crash can neither lose nor double it. One count a minute for all processes takes these rows in.
import { sql } from 'kysely'
import type { Clock } from '../../clock/clock.ts'
import { limits } from '../../shared/limits.ts'
import { bulk, command, query } from '../../store/statement.ts'
import type { Store } from '../../store/store.ts'
import { all, one, type Read, run, runAll, wake, type Write } from '../../store/transaction.ts'
import type { AllocationRow } from '../allocations/rows.ts'
import { type EndedUse, type Usage, usagesAt } from './fading.ts'
import type { QueueRules } from './order.ts'

const addUses = bulk<EndedUse>({ project_id: 'text', from_at: 'bigint', until_at: 'bigint' }, (db, r, on) =>
  on.insert(db.insertInto('node_uses'), { ...r }),
)
const newestCount = query((db, _: object) =>
  db.selectFrom('project_usages').select('counted_at').orderBy('counted_at', 'desc').limit(1),
)
// Two counts at once would each write what it read before the other.
const takeTurn = command((db, _: object, on) =>
  db.selectNoFrom((on.dialect === 'postgres' ? sql`cast(pg_advisory_xact_lock(8785, 0) as text)` : sql`1`).as('turn')),
)
export const everyUsage = query((db, _: object) => db.selectFrom('project_usages').selectAll().orderBy('project_id'))
const takeUses = command((db, _: object) => db.deleteFrom('node_uses').returning(['project_id', 'from_at', 'until_at']))
const runningUses = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .select(e => ['project_id', e.fn.coalesce('started_at', 'created_at').as('from_at')])
    .where('node_id', 'is not', null),
)
const putUsages = bulk<Usage>(
  { project_id: 'text', ended: 'bigint', used: 'bigint', served_at: 'bigint', counted_at: 'bigint' },
  (db, r, on) =>
    on.insert(db.insertInto('project_usages'), { ...r }).onConflict(c =>
      c.column('project_id').doUpdateSet(e => ({
        ended: e.ref('excluded.ended'),
        used: e.ref('excluded.used'),
        served_at: e.ref('excluded.served_at'),
        counted_at: e.ref('excluded.counted_at'),
      })),
    ),
)
const dropOld = command((db, a: { now: number }) => db.deleteFrom('project_usages').where('counted_at', '<>', a.now))

/** Writes down that allocations have ended, in the transaction that ends them. Adds rows only, so nobody waits for it. */
export function* noteUses(ended: readonly AllocationRow[], now: number): Write<void> {
  const uses = ended.map(({ project_id, started_at, created_at }) => ({
    project_id,
    from_at: started_at ?? created_at,
    until_at: now,
  }))
  const rows = uses.filter(({ from_at, until_at }) => until_at > from_at)
  if (rows.length > 0) yield* run(addUses({ rows }))
}

interface CountOptions {
  store: Store
  clock: Clock
  rules: QueueRules
}

/** Counts once a minute, whichever process comes first; returns the milliseconds until the next count. */
export async function countUsage({ store, clock, rules }: CountOptions): Promise<number> {
  const dueIn = await store.read(() => nextCount(clock.now()))
  if (dueIn > 0) return dueIn
  await store.write(() => count(rules, clock.now()))
  return limits.usageCountMs
}

function* nextCount(now: number): Read<number> {
  const newest = yield* one(newestCount({}))
  // A count in the future is of a clock that was wrong, and would else be the last for long.
  return newest && newest.counted_at <= now + limits.clockSlackMs ? newest.counted_at + limits.usageCountMs - now : 0
}

function* count({ order, halfLifeMs }: QueueRules, now: number): Write<void> {
  yield* one(takeTurn({}))
  if ((yield* nextCount(now)) > 0) return
  const before = yield* all(everyUsage({}))
  // Before those that run: who ends between the two readings is missing until the next count, and never counted twice.
  const ended = yield* all(takeUses({}))
  const running = yield* all(runningUses({}))
  const rows = usagesAt({ before, ended, running }, halfLifeMs, now)
  yield* runAll([...(rows.length > 0 ? [putUsages({ rows })] : []), dropOld({ now })])
  // The order may be another one now.
  if (order === 'fair') yield* wake('allocations')
}
