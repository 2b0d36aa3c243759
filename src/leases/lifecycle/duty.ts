// The duty that starts and ends leases on time, in the order of their due times. At the same time ends come before
// starts, so that the next lease can have what the last one gives back.
import { sql } from 'kysely'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collected } from '../../audit/collected.ts'
import type { Entry, Outcome } from '../../audit/entry.ts'
import { recordAll, recorded } from '../../audit/record.ts'
import type { Deed, Witness } from '../../audit/witness.ts'
import { Duty } from '../../shared/duty.ts'
import { inParallel } from '../../shared/in-parallel.ts'
import { limits } from '../../shared/limits.ts'
import { isRefusal } from '../../problems/problem.ts'
import { StoreUnavailable } from '../../store/failure.ts'
import { query } from '../../store/statement.ts'
import { all, one, type Subject, type Write, wake } from '../../store/transaction.ts'
import {
  closeLease,
  type Ending,
  endLeaseIfDue,
  passBeforeEnd,
  startLeaseOfNodes,
  startLeases,
} from './start-and-end.ts'
import type { LeaseContext } from '../context.ts'
import { tellService } from '../enforcement-service.ts'
import { hastener } from './emptied.ts'
import { postpone } from './writes.ts'
import type { EventType } from '../types.ts'

interface DueEvent {
  lease_id: string
  event_type: EventType
  attempts: number
  /** The lease's project. */
  project: string
  /** When it should have happened. */
  time: number
  /** The lease has nodes. Nodes become available one by one, so such leases start one by one, too. */
  has_nodes: 0 | 1
}

const dueEvents = query((db, a: { now: number; limit: number }) =>
  db
    .selectFrom('lease_events')
    .innerJoin('leases', 'leases.id', 'lease_events.lease_id')
    .select(['lease_id', 'event_type', 'attempts', 'time', 'project_id as project'])
    .select(
      sql<0 | 1>`case when exists (select 1 from lease_reservations r where r.lease_id = lease_events.lease_id
        and r.resource_type = 'physical:node') then 1 else 0 end`.as('has_nodes'),
    )
    .where('due_at', '<=', a.now)
    .orderBy('due_at')
    .orderBy(sql`case event_type when 'end_lease' then 0 when 'start_lease' then 1 else 2 end`)
    .orderBy('lease_id')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const nextEvent = query((db, _: object) =>
  db.selectFrom('lease_events').select('due_at').where('due_at', 'is not', null).orderBy('due_at').limit(1),
)

type Working = Pick<LeaseContext, 'store' | 'clock' | 'log' | 'config' | 'drivers' | 'compute'> & {
  witness: Witness
  metrics: { leaseEvent(event: EventType, lateMs: number): void }
}

export function eventsDuty(context: Working): Duty {
  const hasten = hastener()
  const run = async () => {
    await hasten(context)
    return workDue(context)
  }
  return new Duty({ name: 'lease events', pollMs: limits.conductorPollMs, run, log: context.log })
}

/** Works on all due events. Returns in how many milliseconds the next is due. */
async function workDue(context: Working): Promise<number | null> {
  const { store, clock } = context
  for (;;) {
    const due = await store.read(() => all(dueEvents({ now: clock.now(), limit: limits.leaseEventsMax })))
    for (const run of runsOf(due)) await work(context, run)
    if (due.length === 0) break
  }
  const next = await store.read(() => one(nextEvent({})))
  return next ? next.due_at! - clock.now() : null
}

/** Groups neighbouring events of the same kind, which can share a transaction. */
function runsOf(due: readonly DueEvent[]): DueEvent[][] {
  const runs: DueEvent[][] = []
  for (const event of due) {
    const last = runs.at(-1)
    if (last && isLike(last[0]!, event)) last.push(event)
    else runs.push([event])
  }
  return runs
}

const isLike = (a: DueEvent, b: DueEvent) => a.event_type === b.event_type && a.has_nodes === b.has_nodes

async function work(context: Working, events: readonly DueEvent[]): Promise<void> {
  const { event_type: type, has_nodes: hasNodes } = events[0]!
  // One lease a transaction: an end also locks the claims of its servers, and larger ones would wait for each other.
  if (type === 'end_lease') {
    await inParallel(events, limits.leaseEndsAtOnce, event => end(context, event))
    return
  }
  if (type === 'start_lease' && hasNodes) {
    for (const event of events) await startNodes(context, event)
    return
  }
  const { compute, clock } = context
  const step = (ids: string[]) =>
    type === 'start_lease' ? startLeases(ids, compute, clock.now()) : passBeforeEnd(ids, clock.now())
  for (let from = 0; from < events.length; from += limits.leaseStartsMax) {
    const batch = events.slice(from, from + limits.leaseStartsMax)
    await together(context, batch, step)
    // Lets waiting requests run first.
    await nextTurn()
  }
}

/** One transaction for all events. If it fails, each gets its own, so that one failure doesn't stop the others. */
async function together(context: Working, events: readonly DueEvent[], step: (ids: string[]) => Write<string[]>) {
  try {
    const done = await context.store.write(() => writtenDown(context, events, step))
    for (const event of events) if (done.includes(event.lease_id)) tell(context, event)
  } catch (error) {
    if (events.length === 1) return putOff(context, events[0]!, error)
    for (const event of events) await together(context, [event], step)
  }
}

/** Writes one audit entry for each lease, though they share the transaction. */
function* writtenDown(
  { witness }: Working,
  events: readonly DueEvent[],
  step: (ids: string[]) => Write<string[]>,
): Write<string[]> {
  const { value: done, subjects } = yield* collected(step(events.map(({ lease_id }) => lease_id)))
  const byLease = Map.groupBy(subjects, ({ kind, id }) => (kind === 'lease' ? id : null))
  const told = events.filter(({ lease_id }) => done.includes(lease_id) || byLease.has(lease_id))
  const changes = told.map((event, i) => ({
    entry: witness(deedOf(event, done.includes(event.lease_id) ? 'done' : 'failed')),
    // What else changed came of all of them; the first one names it.
    subjects: [...(byLease.get(event.lease_id) ?? [leaseOf(event)]), ...(i === 0 ? (byLease.get(null) ?? []) : [])],
  }))
  yield* recordAll(changes)
  return done
}

const leaseOf = ({ lease_id: id }: DueEvent): Subject => ({ kind: 'lease', id })

const deedOf = ({ event_type: action, project }: DueEvent, outcome: Outcome): Deed => ({ action, outcome, project })

async function startNodes(context: Working, event: DueEvent): Promise<void> {
  const { store, clock, witness } = context
  try {
    const newUuid = () => clock.newUuid()
    const start = function* () {
      const isAll = yield* startLeaseOfNodes(event.lease_id, context, newUuid, clock.now())
      if (isAll === false) yield* wake('healing')
      return isAll
    }
    const isAll = await store.write(() =>
      recordedIfNews(start(), isAll => witness(deedOf(event, isAll ? 'done' : 'failed'))),
    )
    if (isAll) tell(context, event)
    if (isAll === false) await putOff(context, event, null)
  } catch (error) {
    await putOff(context, event, error)
  }
}

/** Attempts that bring nothing new are not written down. */
function* recordedIfNews<T>(work: Write<T>, entryOf: (value: T) => Entry): Write<T> {
  const { value, subjects } = yield* collected(work)
  if (subjects.length > 0) yield* recordAll([{ entry: entryOf(value), subjects }])
  return value
}

/** Of tries to end a lease, those are written down that did something, be it only that one of its nodes is back. */
function* recordedEnd({ witness }: Working, event: DueEvent, work: Write<Ending | null>): Write<Ending | null> {
  const { value: ending, subjects } = yield* collected(work)
  const isNews = ending?.isNews || subjects.some(({ became }) => became !== undefined)
  if (isNews) yield* recordAll([{ entry: witness(deedOf(event, ending?.isOver ? 'done' : 'accepted')), subjects }])
  return ending
}

async function end(context: Working, event: DueEvent): Promise<void> {
  const { store, clock } = context
  try {
    const ending = await store.write(() =>
      recordedEnd(context, event, endLeaseIfDue(event.lease_id, context, clock.now())),
    )
    if (ending === null) return
    if (ending.isOver) {
      tell(context, event)
      void tellService(context, ending.lease)
      return
    }
    if (ending.isKept) await lookSoon(context, event)
    else await putOff(context, event, null)
  } catch (error) {
    await close(context, event, error)
    await putOff(context, event, error)
  }
}

/** When the end fails, at least closes the lease, so that nobody can use more of its resources. */
async function close({ store, clock, compute, witness, log }: Working, event: DueEvent, error: unknown): Promise<void> {
  // The database was unavailable: nothing is wrong with the lease.
  if (error instanceof StoreUnavailable) return
  const reason = isRefusal(error) ? error.message : 'Ending the lease failed; it is tried again.'
  const closing = () => closeLease(event.lease_id, compute, reason, clock.now())
  const entryOf = (isNews: boolean) => (isNews ? witness(deedOf(event, 'failed')) : undefined)
  try {
    await store.write(() => recorded(closing(), entryOf))
  } catch (closingError) {
    log.warn({ err: closingError, lease: event.lease_id }, 'a lease failed to end, and could not be closed either')
  }
}

const tell = ({ metrics, clock }: Working, { event_type, time }: DueEvent) =>
  metrics.leaseEvent(event_type, clock.now() - time)

/** Retries with exponential backoff, without an end. */
async function putOff({ store, clock, log }: Working, event: DueEvent, error: unknown): Promise<void> {
  if (error !== null) log.warn({ err: error, lease: event.lease_id, event: event.event_type }, 'a lease event failed')
  const delay = Math.min(limits.leaseRetryMs * 2 ** Math.min(event.attempts, 10), limits.leaseRetryMsMax)
  await store.write(() => postpone(event.lease_id, event.event_type, clock.now() + delay))
}

/** Whoever has a node is waited for as long as it takes, which is no failure. */
async function lookSoon({ store, clock }: Working, { lease_id, event_type }: DueEvent): Promise<void> {
  await store.write(() => postpone(lease_id, event_type, clock.now() + limits.leaseWaitMs, 0))
}
