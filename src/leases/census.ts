// The gauges of leases.
import { sql } from 'kysely'
import { byState, type Gauges, type Sample, secondsSince } from '../shared/gauges.ts'
import { query } from '../store/statement.ts'
import { type Read, together } from '../store/transaction.ts'

export const leaseGauges = {
  holdfast_leases: { help: 'Leases that are not over, by status.', label: 'status' },
  holdfast_leases_degraded: { help: 'Leases that are not over and lack something of what they booked.' },
  holdfast_leases_overdue: { help: 'Leases past their end that have not given everything back.' },
  holdfast_lease_events_late: { help: 'Events of leases whose time has come and that are not done.' },
  holdfast_lease_event_oldest_seconds: { help: 'For how long the oldest of them has been late.' },
  holdfast_nova_work_due: { help: 'Reservations of which Nova does not have what it should have yet.' },
  holdfast_nova_work_failing: { help: 'Those of them with trouble: Nova is away, or refuses.' },
  holdfast_nova_work_oldest_seconds: { help: 'For how long the oldest of them has been due.' },
} satisfies Gauges

// Ended leases are kept for ever, so the query must skip them: only a lease that is not over has an event to come.
const leasesByStatus = query((db, _: object) =>
  db
    .selectFrom('leases')
    .select('status as state')
    .select(e => e.fn.countAll<number>().as('count'))
    .select(e => sql<number>`cast(${e.fn.sum('degraded')} as bigint)`.as('degraded'))
    .where('id', 'in', db.selectFrom('lease_events').select('lease_id').where('due_at', 'is not', null))
    .groupBy('status'),
)
// By `time`, not `due_at`: a failed event gets a later `due_at` and is still late.
const lateEvents = query((db, a: { now: number }) =>
  db
    .selectFrom('lease_events')
    .select(e => e.fn.countAll<number>().as('count'))
    .select(e => e.fn.min<number | null>('time').as('since'))
    .select(sql<number>`count(case event_type when 'end_lease' then 1 end)`.as('ends'))
    .where('due_at', 'is not', null)
    .where('time', '<=', a.now),
)

const novaWork = query((db, _: object) =>
  db
    .selectFrom('nova_work')
    .select(e => e.fn.countAll<number>().as('count'))
    .select(e => e.fn.min<number | null>('updated_at').as('since'))
    .select(sql<number>`count(error)`.as('failing'))
    .where('due_at', 'is not', null),
)

export function* countLeases(now: number): Read<Sample<keyof typeof leaseGauges>[]> {
  const [leases, [late], [work]] = yield* together(leasesByStatus({}), lateEvents({ now }), novaWork({}))
  return [
    ...byState('holdfast_leases', ['PENDING', 'STARTING', 'ACTIVE', 'TERMINATING'], leases),
    { name: 'holdfast_leases_degraded', value: leases.reduce((sum, { degraded }) => sum + degraded, 0) },
    { name: 'holdfast_leases_overdue', value: late!.ends },
    { name: 'holdfast_lease_events_late', value: late!.count },
    { name: 'holdfast_lease_event_oldest_seconds', value: secondsSince(late!.since, now) },
    { name: 'holdfast_nova_work_due', value: work!.count },
    { name: 'holdfast_nova_work_failing', value: work!.failing },
    { name: 'holdfast_nova_work_oldest_seconds', value: secondsSince(work!.since, now) },
  ]
}
