// Writes leases, their reservations and their events to the database.
import type { Selectable } from 'kysely'
import { someOf, subject, timeOf, type Word } from '../../events/subject.ts'
import { jsonText } from '../../shared/json.ts'
import type { Schema } from '../../store/schema.ts'
import { bulk, type Command, command } from '../../store/statement.ts'
import { mark, run, runAll, type Subject, type Write } from '../../store/transaction.ts'
import type { LeaseRow, StoredLease } from './rows.ts'
import type { EventType, LeaseEvent, LeaseStatus, Reservation, ReservationStatus } from '../types.ts'

type ReservationRow = Selectable<Schema['lease_reservations']>
type EventRow = Selectable<Schema['lease_events']>

const insertLease = command((db, a: Omit<LeaseRow, 'is_deleted'>) =>
  db.insertInto('leases').values({
    id: a.id,
    name: a.name,
    project_id: a.project_id,
    user_id: a.user_id,
    start_at: a.start_at,
    end_at: a.end_at,
    status: a.status,
    status_reason: a.status_reason,
    degraded: a.degraded,
    created_at: a.created_at,
    updated_at: a.updated_at,
  }),
)
const changeLease = command((db, a: Omit<LeaseRow, 'project_id' | 'user_id' | 'status_reason' | 'created_at'>) =>
  db
    .updateTable('leases')
    .set({
      name: a.name,
      start_at: a.start_at,
      end_at: a.end_at,
      status: a.status,
      degraded: a.degraded,
      is_deleted: a.is_deleted,
      updated_at: a.updated_at,
    })
    .where('id', '=', a.id),
)
const removeLease = command((db, a: { id: string }) => db.deleteFrom('leases').where('id', '=', a.id))

const RESERVATION = {
  id: 'text',
  lease_id: 'text',
  position: 'bigint',
  resource_type: 'text',
  status: 'text',
  terms: 'text',
  missing_resources: 'bigint',
  resources_changed: 'bigint',
  created_at: 'bigint',
  updated_at: 'bigint',
} as const
const putReservations = bulk<ReservationRow>(RESERVATION, (db, r, on) =>
  on.insert(db.insertInto('lease_reservations'), { ...r }).onConflict(c =>
    c.column('id').doUpdateSet(e => ({
      status: e.ref('excluded.status'),
      terms: e.ref('excluded.terms'),
      missing_resources: e.ref('excluded.missing_resources'),
      resources_changed: e.ref('excluded.resources_changed'),
      updated_at: e.ref('excluded.updated_at'),
    })),
  ),
)
const EVENT = {
  id: 'text',
  lease_id: 'text',
  event_type: 'text',
  time: 'bigint',
  due_at: 'bigint',
  attempts: 'bigint',
  created_at: 'bigint',
  updated_at: 'bigint',
} as const
const putEvents = bulk<EventRow>(EVENT, (db, r, on) =>
  on.insert(db.insertInto('lease_events'), { ...r }).onConflict(c =>
    c.column('id').doUpdateSet(e => ({
      time: e.ref('excluded.time'),
      due_at: e.ref('excluded.due_at'),
      attempts: e.ref('excluded.attempts'),
      updated_at: e.ref('excluded.updated_at'),
    })),
  ),
)

const bit = (value: boolean): 0 | 1 => (value ? 1 : 0)

function reservationRow(reservation: Reservation, position: number): ReservationRow {
  const { nodes: _, terms, ...row } = reservation
  return {
    ...row,
    position,
    resource_type: terms.resource_type,
    terms: jsonText(terms),
    missing_resources: bit(reservation.missing_resources),
    resources_changed: bit(reservation.resources_changed),
  }
}

const eventRow = ({ status: _, ...event }: LeaseEvent, due: StoredLease['due']): EventRow => ({
  ...event,
  due_at: due[event.event_type] ?? null,
  attempts: 0,
})

/** The commands that insert a new lease. */
export const newLeaseWrites = (lease: StoredLease): Command[] => [
  insertLease({ ...lease, degraded: bit(lease.degraded) }),
  ...partWrites(lease),
]

/** Saves a lease, and says what became of it: `before` is the lease as it was read under lock. */
export function* saveLease(before: StoredLease, lease: StoredLease): Write<void> {
  const row = { ...lease, degraded: bit(lease.degraded), is_deleted: bit(lease.is_deleted) }
  yield* runAll([changeLease(row), ...partWrites(lease)])
  yield* mark(...whatBecame(before, lease))
}

type Told = Pick<StoredLease, 'id' | 'name' | 'project_id' | 'user_id' | 'start_at' | 'end_at'>

/** Says what became of a lease. */
export const leaseBecame = (lease: Told, became: Word<'lease'>, more: Subject['data'] = {}): Subject =>
  subject('lease', lease.id, became, {
    whose: { project: lease.project_id, user: lease.user_id },
    data: { name: lease.name, start: timeOf(lease.start_at), end: timeOf(lease.end_at), ...more },
  })

function whatBecame(before: StoredLease, after: StoredLease): Subject[] {
  // Nobody sees it any more, though some of its resources are still in use.
  if (after.is_deleted) return [leaseBecame(after, 'deleted', { from: after.status })]
  const missing = someOf(after.reservations.filter(one => one.missing_resources).map(({ id }) => id))
  const isMended = after.degraded !== before.degraded
  const isChanged = promiseOf(after) !== promiseOf(before) || (!isMended && flagsOf(after) !== flagsOf(before))
  const found = [
    ...(isChanged ? [leaseBecame(after, 'changed', { missing })] : []),
    ...(isMended ? [leaseBecame(after, after.degraded ? 'degraded' : 'whole', { missing })] : []),
  ]
  return found.length > 0 ? found : [{ kind: 'lease', id: after.id }]
}

/** Which reservations lack or lost something, to be compared. */
export const flagsOf = ({ reservations }: StoredLease): string =>
  JSON.stringify(reservations.map(one => [one.missing_resources, one.resources_changed]))

/** What a client asked for, to be compared. */
const promiseOf = ({ name, start_at, end_at, reservations, events }: StoredLease): string =>
  JSON.stringify([name, start_at, end_at, reservations.map(({ terms }) => terms), events.map(({ time }) => time)])

function partWrites({ reservations, events, due }: StoredLease): Command[] {
  return [
    ...(reservations.length > 0 ? [putReservations({ rows: reservations.map(reservationRow) })] : []),
    ...(events.length > 0 ? [putEvents({ rows: events.map(event => eventRow(event, due)) })] : []),
  ]
}

/** Deletes the lease with its reservations and events. It must have no bookings. */
export function* dropLease(lease: StoredLease): Write<void> {
  yield* run(removeLease({ id: lease.id }))
  if (!lease.is_deleted) yield* mark(leaseBecame(lease, 'deleted', { from: 'TERMINATED' }))
}

const changeStatuses = bulk<{ id: string; status: LeaseStatus; now: number }>(
  { id: 'text', status: 'text', now: 'bigint' },
  (db, r, on) =>
    on
      .update(db.updateTable('leases'), 'leases.id', r.id)
      .set({ status: r.status, status_reason: null, updated_at: r.now }),
)
const changeReservationStatuses = bulk<{ id: string; status: ReservationStatus; now: number }>(
  { id: 'text', status: 'text', now: 'bigint' },
  (db, r, on) =>
    on
      .update(db.updateTable('lease_reservations'), 'lease_reservations.lease_id', r.id)
      .set({ status: r.status, updated_at: r.now }),
)
const finishEvents = bulk<{ id: string; type: EventType; now: number }>(
  { id: 'text', type: 'text', now: 'bigint' },
  (db, r, on) =>
    on
      .update(db.updateTable('lease_events'), 'lease_events.lease_id', r.id)
      .set({ due_at: null, updated_at: r.now })
      .where('lease_events.event_type', '=', r.type),
)

/** Sets the status of these leases and of their reservations, and marks events as done. */
export function* stepLeases(
  ids: readonly string[],
  step: { lease: LeaseStatus; reservations: Reservation['status']; events: readonly EventType[] },
  now: number,
): Write<void> {
  if (ids.length === 0) return
  yield* runAll([
    changeStatuses({ rows: ids.map(id => ({ id, status: step.lease, now })) }),
    changeReservationStatuses({ rows: ids.map(id => ({ id, status: step.reservations, now })) }),
    finishEvents({ rows: ids.flatMap(id => step.events.map(type => ({ id, type, now }))) }),
  ])
}

export function* finishEvent(ids: readonly string[], type: EventType, now: number): Write<void> {
  if (ids.length > 0) yield* run(finishEvents({ rows: ids.map(id => ({ id, type, now })) }))
}

interface StatusChange {
  id: string
  status: LeaseStatus
  reason: string | null
  now: number
}
const changeStatus = command((db, a: StatusChange) =>
  db.updateTable('leases').set({ status: a.status, status_reason: a.reason, updated_at: a.now }).where('id', '=', a.id),
)
const setDue = command((db, a: { id: string; type: EventType; at: number; failures: 0 | 1 }) =>
  db
    .updateTable('lease_events')
    .set(e => ({ due_at: a.at, attempts: e('attempts', '+', a.failures) }))
    .where('lease_id', '=', a.id)
    .where('event_type', '=', a.type)
    // A done event stays done: our commit may have succeeded unnoticed, or another process was faster.
    .where('due_at', 'is not', null),
)

/** Marks a lease whose start or end is under way, and due now. Only `postpone` counts the attempt. */
export function* setStatus(
  id: string,
  status: 'STARTING' | 'TERMINATING',
  now: number,
  reason: string | null = null,
): Write<void> {
  yield* run(changeStatus({ id, status, reason, now }))
  yield* run(setDue({ id, type: status === 'STARTING' ? 'start_lease' : 'end_lease', at: now, failures: 0 }))
}

/** Sets a later due time for an event that could not be done, and counts the attempt unless that was no failure. */
export function* postpone(id: string, type: EventType, at: number, failures: 0 | 1 = 1): Write<void> {
  yield* run(setDue({ id, type, at, failures }))
}
