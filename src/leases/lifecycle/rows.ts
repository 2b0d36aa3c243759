// Finds, lists and locks leases in the database.
import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import { problem } from '../../problems/problem.ts'
import type { Terms } from '../../store/schema/leases.ts'
import { shownTerms, termsIn } from './terms.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Schema } from '../../store/schema.ts'
import { command, query } from '../../store/statement.ts'
import { all, one, type Read, together, type Write } from '../../store/transaction.ts'
import type { EventStatus, EventType, Lease, LeaseEvent, LeaseStatus, Reservation } from '../types.ts'

export type LeaseRow = Selectable<Schema['leases']>
type ReservationRow = Selectable<Schema['lease_reservations']>
type EventRow = Selectable<Schema['lease_events']>

interface NodeBooking {
  lease_id: string
  reservation_id: string
  node: string
  allocation: string | null
}

/** A lease with its internal fields. */
export interface StoredLease extends Lease {
  is_deleted: boolean
  /** When the duty next works on each event; null once it is done. */
  due: Readonly<Partial<Record<EventType, number | null>>>
}

/** The query for some leases. */
function ofLeases<TB extends keyof Schema, Row>(build: (db: Kysely<Schema>) => SelectQueryBuilder<Schema, TB, Row>) {
  return {
    some: query((db, a: { ids: readonly string[] }, on) => build(db).where(on.isIn('leases.id', a.ids))),
  }
}

const leaseRows = ofLeases(db => db.selectFrom('leases').selectAll().orderBy('created_at').orderBy('id'))
const reservationRows = ofLeases(db =>
  db
    .selectFrom('leases')
    .innerJoin('lease_reservations', 'lease_reservations.lease_id', 'leases.id')
    .selectAll('lease_reservations')
    .orderBy('lease_id')
    .orderBy('position'),
)
const eventRows = ofLeases(db =>
  db.selectFrom('leases').innerJoin('lease_events', 'lease_events.lease_id', 'leases.id').selectAll('lease_events'),
)
const nodeRows = ofLeases(db =>
  db
    .selectFrom('leases')
    .innerJoin('bookings', 'bookings.lease_id', 'leases.id')
    .innerJoin('leasables', 'leasables.provider_id', 'bookings.provider_id')
    .select(['bookings.lease_id', 'reservation_id', 'leasables.name as node', 'allocation'])
    .where('leasables.kind', '=', 'node')
    .orderBy('bookings.provider_id'),
)
const takenIds = query((db, a: { ids: readonly string[] }, on) =>
  db
    .selectFrom('lease_reservations')
    .select('id')
    .where(on.isIn('id', a.ids))
    .unionAll(db.selectFrom('flavors').select('id').where(on.isIn('id', a.ids))),
)
const lockRows = command((db, a: { ids: readonly string[] }, on) =>
  on.lock(db.selectFrom('leases').select('id').where(on.isIn('id', a.ids)).orderBy('id')),
)

/** Refuses the id of a lease that is there, or that was deleted and is still being ended. */
export function* requireFreeId(id: string): Read<void> {
  if ((yield* all(leaseRows.some({ ids: [id] }))).length > 0) throw problem('lease_exists', { lease: id })
}

/** Refuses ids that a reservation has, or a flavor, since a reservation's flavor has its id. */
export function* requireFreeReservations(ids: readonly string[]): Read<void> {
  const [taken] = yield* all(takenIds({ ids }))
  if (taken) throw problem('reservation_exists', { reservation: taken.id })
}

/** The lease, if it belongs to this project; with null, any project's. */
export function* findLease(id: string, project: string | null): Read<StoredLease> {
  return visible(id, yield* leasesWithIds([id]), project)
}

/** Locks and reads the lease. Lock order: leases come first. */
export function* lockLease(id: string, project: string | null): Write<StoredLease> {
  return visible(id, yield* lockLeases([id]), project)
}

function visible(id: string, [found]: readonly StoredLease[], project: string | null): StoredLease {
  if (!found || found.is_deleted || (project !== null && found.project_id !== project)) {
    throw problem('lease_not_found', { lease: id })
  }
  return found
}

export function* leasesWithIds(ids: readonly string[]): Read<StoredLease[]> {
  const a = { ids }
  return assemble(
    yield* together(leaseRows.some(a), reservationRows.some(a), eventRows.some(a), nodeRows.some(a)),
    shownTerms,
  )
}

export function* lockLeases(ids: readonly string[]): Write<StoredLease[]> {
  const a = { ids }
  // Separate statements after the lock: only then do they see what the previous holder committed.
  const [, ...parts] = yield* together(
    lockRows(a),
    leaseRows.some(a),
    reservationRows.some(a),
    eventRows.some(a),
    nodeRows.some(a),
  )
  return assemble(parts, termsIn)
}

/** What is listed before it is read: all leases of a project, in the order of their creation, with their sizes. */
const listedIn = query((db, a: { project: string | null }) =>
  db
    .selectFrom('leases')
    .leftJoin('lease_reservations as r', 'r.lease_id', 'leases.id')
    .select('leases.id')
    .select(sql<number>`cast(coalesce(sum(octet_length(r.terms)), 0) as bigint)`.as('bytes'))
    .where(sql<boolean>`(cast(${a.project} as text) is null or leases.project_id = ${a.project})`)
    .where('leases.is_deleted', '=', 0)
    .groupBy(['leases.id', 'leases.created_at'])
    .orderBy('leases.created_at')
    .orderBy('leases.id'),
)
export const keysOfLeases = (project: string | null): Read<{ id: string; bytes: number }[]> =>
  all(listedIn({ project }))

/** These leases, in the order of their creation. What was deleted meanwhile is left out. */
export function* someLeases(ids: readonly string[]): Read<StoredLease[]> {
  const a = { ids }
  const found = yield* together(leaseRows.some(a), reservationRows.some(a), eventRows.some(a), nodeRows.some(a))
  return assemble(found, shownTerms).filter(lease => !lease.is_deleted)
}

type Parts = readonly [LeaseRow[], ReservationRow[], EventRow[], NodeBooking[]]

function assemble([leases, reservations, events, nodes]: Parts, terms: typeof termsIn): StoredLease[] {
  const reservationsOf = Map.groupBy(reservations, row => row.lease_id)
  const eventsOf = Map.groupBy(events, row => row.lease_id)
  const nodesOf = Map.groupBy(nodes, row => row.reservation_id)
  return leases.map(({ degraded, is_deleted, ...row }) => {
    const mine = eventsOf.get(row.id) ?? []
    return {
      ...row,
      degraded: degraded === 1,
      is_deleted: is_deleted === 1,
      reservations: (reservationsOf.get(row.id) ?? []).map(one =>
        reservationOf(one, terms(one), nodesOf.get(one.id) ?? []),
      ),
      events: EVENT_TYPES.flatMap(type => mine.filter(event => event.event_type === type)).map(event =>
        eventOf(event, row.status),
      ),
      due: Object.fromEntries(mine.map(event => [event.event_type, event.due_at])),
    }
  })
}

const EVENT_TYPES: readonly EventType[] = ['start_lease', 'end_lease', 'before_end_lease']

const reservationOf = (row: ReservationRow, terms: Terms, nodes: readonly NodeBooking[]): Reservation => ({
  id: row.id,
  lease_id: row.lease_id,
  status: row.status,
  terms,
  missing_resources: row.missing_resources === 1,
  resources_changed: row.resources_changed === 1,
  nodes: nodes.map(({ node, allocation }) => ({ node, allocation })),
  created_at: row.created_at,
  updated_at: row.updated_at,
})

function eventOf({ due_at, attempts: _, ...event }: EventRow, status: LeaseStatus): LeaseEvent {
  const isUnderWay =
    (status === 'STARTING' && event.event_type === 'start_lease') ||
    (status === 'TERMINATING' && event.event_type === 'end_lease')
  const shown: EventStatus = due_at === null ? 'DONE' : isUnderWay ? 'IN_PROGRESS' : 'UNDONE'
  return { ...event, status: shown }
}

/** The lease with one reservation changed. It is degraded while any reservation misses or has lost resources. */
export function withReservation(lease: StoredLease, changed: Reservation): StoredLease {
  const reservations = lease.reservations.map(one => (one.id === changed.id ? changed : one))
  const degraded = reservations.some(one => one.missing_resources || one.resources_changed)
  return { ...lease, reservations, degraded }
}

const hoursOfProject = query((db, a: { project: string; now: number }) =>
  db
    .selectFrom('leases')
    .select(['id', 'start_at', 'end_at'])
    .where('project_id', '=', a.project)
    .where('end_at', '>', a.now),
)

/** The leases of a project that end after `now`. */
export function* aheadOf(project: string, now: number): Read<Pick<LeaseRow, 'id' | 'start_at' | 'end_at'>[]> {
  return yield* all(hoursOfProject({ project, now }))
}

const reservationById = query((db, a: { id: string }) =>
  db
    .selectFrom('lease_reservations')
    .innerJoin('leases', 'leases.id', 'lease_reservations.lease_id')
    .select(['resource_type', 'project_id', 'leases.status as lease_status'])
    .where('lease_reservations.id', '=', a.id)
    .where('is_deleted', '=', 0),
)

interface ReservationFacts {
  resource_type: ReservationRow['resource_type']
  project_id: string
  lease_status: LeaseStatus
}

/** The type of a reservation, its project, and the status of its lease. */
export function* findReservation(id: string): Read<ReservationFacts | undefined> {
  return yield* one(reservationById({ id }))
}

const placesOfLeases = query((db, a: { ids: readonly string[] }, on) =>
  db.selectFrom('bookings').select('provider_id as id').distinct().where(on.isIn('lease_id', a.ids)),
)
const slotsOfLease = query((db, a: { id: string }) =>
  db.selectFrom('bookings').select(['reservation_id', 'provider_id', 'slots']).where('lease_id', '=', a.id),
)
/** The hosts and nodes with bookings of these leases. */
export function* placesOf(ids: readonly string[]): Read<ProviderId[]> {
  return (yield* all(placesOfLeases({ ids }))).map(row => row.id)
}

/** For each reservation of a lease, its slots by id of the host or node. */
export function* bookedBy(id: string): Read<Map<string, Map<ProviderId, number>>> {
  const has = new Map<string, Map<ProviderId, number>>()
  for (const { reservation_id, provider_id, slots } of yield* all(slotsOfLease({ id }))) {
    has.getOrInsertComputed(reservation_id, () => new Map()).set(provider_id, slots)
  }
  return has
}
