// The gauges of bare metal: conductors, allocations, reservations and nodes at work, counted in the database.
import { sql } from 'kysely'
import { byState, type Gauges, type Sample, secondsSince } from '../shared/gauges.ts'
import { query } from '../store/statement.ts'
import { type Read, together } from '../store/transaction.ts'
import { STATES } from './allocations/rows.ts'
import { databaseNow } from '../clock/database-now.ts'

export const metalGauges = {
  holdfast_conductors: {
    help: 'Conductors: alive, silent for too long, or offline (stopped or given up within the last day).',
    label: 'state',
  },
  holdfast_allocations: { help: 'Allocations by state.', label: 'state' },
  holdfast_allocation_oldest_seconds: { help: 'For how long the oldest allocation in allocating has been there.' },
  holdfast_reservations: {
    help: 'Reservations that hold a node, or have expired and are not swept yet.',
    label: 'state',
  },
  holdfast_nodes_at_work: { help: 'Nodes that a conductor works on or is to work on.' },
  holdfast_node_transition_oldest_seconds: {
    help: 'For how long the longest present step of a node has taken so far.',
  },
} satisfies Gauges

const conductorsByState = query((db, a: { silentMs: number }, on) =>
  db
    .selectFrom('conductors')
    .select(e =>
      sql<string>`case when ${e.ref('online')} = 0 then 'offline'
        when ${e.ref('heartbeat_at')} < ${databaseNow(on)} - cast(${a.silentMs} as bigint) then 'silent'
        else 'alive' end`.as('state'),
    )
    .select(e => e.fn.countAll<number>().as('count'))
    .groupBy('state'),
)
const allocationsByState = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .select('state')
    .select(e => e.fn.countAll<number>().as('count'))
    // After a retry, the time counts from the retry.
    .select(e => e.fn.min<number>(e.fn.coalesce('updated_at', 'created_at')).as('since'))
    .groupBy('state'),
)
const holdsByState = query((db, a: { now: number }) =>
  db
    .selectFrom('reservations')
    .select(e => sql<string>`case when ${e.ref('expires_at')} > ${a.now} then 'active' else 'expired' end`.as('state'))
    .select(e => e.fn.countAll<number>().as('count'))
    .groupBy('state'),
)
const nodesAtWork = query((db, _: object) =>
  db
    .selectFrom('nodes')
    .select(e => e.fn.countAll<number>().as('count'))
    .select(e =>
      sql<number | null>`min(case when ${e.ref('target_provision_state')} is not null
        then ${e.ref('provision_updated_at')} end)`.as('since'),
    )
    .where('transition', 'is not', null),
)

export function* countMetal(silentMs: number, now: number): Read<Sample<keyof typeof metalGauges>[]> {
  const [conductors, allocations, holds, [work]] = yield* together(
    conductorsByState({ silentMs }),
    allocationsByState({}),
    holdsByState({ now }),
    nodesAtWork({}),
  )
  const oldest = allocations.find(({ state }) => state === 'allocating')?.since
  return [
    ...byState('holdfast_conductors', ['alive', 'silent', 'offline'], conductors),
    ...byState('holdfast_allocations', [...STATES], allocations),
    { name: 'holdfast_allocation_oldest_seconds', value: secondsSince(oldest, now) },
    ...byState('holdfast_reservations', ['active', 'expired'], holds),
    { name: 'holdfast_nodes_at_work', value: work!.count },
    { name: 'holdfast_node_transition_oldest_seconds', value: secondsSince(work!.since, now) },
  ]
}
