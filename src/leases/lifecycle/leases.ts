// Creates, changes and deletes leases for clients. Each is one transaction, all or nothing.
import { limits } from '../../shared/limits.ts'
import type { Principal } from '../../metal/nodes/provider.ts'
import { kindsOf } from '../../quotas/texts.ts'
import { type Limits, type Promised, requireTerm, withinQuota, withinQuotaBeside } from '../../quotas/within.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { mark, type Write, wake } from '../../store/transaction.ts'
import { book, bookedAt, findPlaces, type Placed, type Propose, type Verdict } from '../booking/book.ts'
import { planChange, type ChangePlan } from './change.ts'
import { endLease } from './start-and-end.ts'
import { beforeEndOf, checkNewDates, minuteOf, timesOf } from './dates.ts'
import { checkAhead, checkLength, type Limited } from '../enforcement.ts'
import type { Places, Request } from '../calendar/candidates.ts'
import { newResources, provideResources, remakeFlavor } from './reservation-resources.ts'
import { leasablesOf, lockLeasables } from '../calendar/resources.ts'
import { replaceBookings } from '../booking/rows.ts'
import { type LeaseContext, type Means, MINUTE_MS } from '../context.ts'
import { completeNodes } from './reservation-nodes.ts'
import { askService, tellService } from '../enforcement-service.ts'
import { bookedBy, findLease, lockLease, requireFreeId, requireFreeReservations, type StoredLease } from './rows.ts'
import { dropLease, leaseBecame, newLeaseWrites, saveLease } from './writes.ts'
import type { EventType, Lease, LeaseChange, NewLease } from '../types.ts'
import { wishOf } from '../calendar/wishes.ts'

export { findLease, keysOfLeases, someLeases } from './rows.ts'

const cleaningOf = ({ config }: LeaseContext) => config.leaseCleaningMinutes * MINUTE_MS

/** Books all reservations of the lease, or none. */
export async function createLease(context: LeaseContext, who: Principal, wanted: NewLease): Promise<Lease> {
  const { lease } = await bookNew(context, who, wanted)
  // The booking has chosen the nodes, so the lease is read again.
  const hasNodes = wanted.reservations.some(({ resource_type }) => resource_type === 'physical:node')
  return hasNodes ? context.store.read(() => findLease(lease.id, null)) : lease
}

/** A lease that is booked: what was asked of the calendar, and where it is. */
export interface BookedLease {
  lease: Lease
  request: Request
  places: Places
}

export async function bookNew(context: LeaseContext, caller: Principal, wanted: NewLease): Promise<BookedLease> {
  const { clock, config } = context
  const who = wanted.owner ?? caller
  const now = clock.now()
  checkNewDates(wanted, now)
  checkLength(config, who.project, wanted)
  const lease = newLease(context, who, wanted, now)
  const request = requestOf(context, lease, null)
  await askService(context, 'check-create', lease, request, null)
  const places = await book(context, propose =>
    withinQuotaBeside(
      promisedTo(lease, now),
      placesFor(context, lease, request, propose, now),
      function* (limits, found) {
        requireTerm(limits, 'longest_lease_hours', { from: lease.start_at, until: lease.end_at })
        if (wanted.id !== null) yield* requireFreeId(wanted.id)
        const chosen = (wanted.reservation_ids ?? []).filter(id => id !== null)
        if (chosen.length > 0) yield* requireFreeReservations(chosen)
        return 'kind' in found ? found : yield* create(context, lease, found, now)
      },
    ),
  )
  return { lease, request, places }
}

const promisedTo = ({ project_id, reservations }: Lease, now: number): Promised & { project: string } => ({
  project: project_id,
  kinds: ['leases', 'nodes', ...kindsOf(reservations.map(({ terms }) => terms))],
  now,
})

/** The duty polls for events; it is woken for an event that is due before the next poll. */
function* wakeForEvents({ events }: Lease, now: number): Write<void> {
  const soon = now + 2 * limits.conductorPollMs
  if (events.some(({ time, status }) => status !== 'DONE' && time <= soon)) yield* wake('leases')
}

function newLease({ clock, config }: LeaseContext, who: Principal, wanted: NewLease, now: number): StoredLease {
  const id = wanted.id ?? clock.newUuid()
  const { name, start_at, end_at } = wanted
  const beforeEnd = beforeEndOf(wanted, wanted.before_end_at ?? null, config.leaseBeforeEndMinutes * MINUTE_MS)
  const times = timesOf(wanted, beforeEnd)
  const made = { lease_id: id, created_at: now, updated_at: null }
  return {
    id,
    name,
    project_id: who.project,
    user_id: who.user,
    start_at,
    end_at,
    status: 'PENDING',
    status_reason: null,
    degraded: false,
    is_deleted: false,
    reservations: wanted.reservations.map((terms, at) => ({
      id: wanted.reservation_ids?.[at] ?? clock.newUuid(),
      status: 'pending',
      terms,
      missing_resources: false,
      resources_changed: false,
      nodes: [],
      ...made,
    })),
    events: (Object.keys(times) as EventType[]).map(event_type => ({
      id: clock.newUuid(),
      event_type,
      time: times[event_type]!,
      status: 'UNDONE',
      ...made,
    })),
    due: times,
    created_at: now,
    updated_at: null,
  }
}

const requestOf = (context: LeaseContext, { start_at, end_at, reservations }: Lease, except: string | null): Request =>
  requestFor(context, { start_at, end_at, reservations: reservations.map(({ terms }) => terms) }, except)

/** The request to the calendar for these reservations. */
function requestFor(
  context: LeaseContext,
  { start_at, end_at, reservations }: Pick<NewLease, 'start_at' | 'end_at' | 'reservations'>,
  except: string | null,
): Request {
  const cleaningMs = cleaningOf(context)
  const window = { start: start_at, free: end_at + cleaningMs }
  const wishes = reservations.map(terms => wishOf(terms))
  return { window, except, cleaningMs, wishes, ...overdue(start_at, context.clock.now()) }
}

/** Only a lease that has not started has to wait for overdue bookings. */
const overdue = (start_at: number, now: number) => (start_at >= minuteOf(now) ? { now } : {})

function* placesFor(context: LeaseContext, lease: Lease, request: Request, propose: Propose, now: number) {
  yield* checkAhead(context.config, limitedBy(lease), now)
  return yield* findPlaces(request, propose, context.calendar)
}

function* create(context: LeaseContext, lease: StoredLease, found: Placed, now: number): Write<Verdict<Places>> {
  const booked = bookedAt(lease, lease.reservations, found.places, cleaningOf(context))
  const { compute } = context
  const first = [...newLeaseWrites(lease), ...newResources(lease.reservations, compute, now)]
  yield* replaceBookings(found.held, lease.id, booked, first)
  yield* mark(leaseBecame(lease, 'created', { to: lease.status }))
  if (compute.kind === 'nova') yield* wake('nova')
  yield* wakeForEvents(lease, now)
  return { kind: 'done', value: found.places }
}

const limitedBy = ({ id, project_id, start_at, end_at }: Lease): Limited => ({ id, project_id, start_at, end_at })

/** `project` is the caller's; null may change every project's leases. Another project's lease is not found. */
export async function updateLease(
  context: LeaseContext,
  id: string,
  project: string | null,
  change: LeaseChange,
): Promise<Lease> {
  return (await bookChange(context, id, project, change)).lease
}

export async function bookChange(
  context: LeaseContext,
  id: string,
  project: string | null,
  change: LeaseChange,
): Promise<BookedLease> {
  const { store, clock, config } = context
  const now = clock.now()
  const before = await store.read(() => findLease(id, project))
  const plan = planChange(before, new Map(), change, config, now)
  if (plan.isMoved) checkLength(config, before.project_id, plan.lease)
  if (plan.isMoved || plan.isRebooked) {
    await askService(context, 'check-update', plan.lease, requestOf(context, plan.lease, id), before)
  }
  const update = { id, project, change, now }
  return book(context, propose =>
    withinQuota(promisedTo(plan.lease, now), limits => tryUpdate(context, { ...update, limits, propose })),
  )
}

interface Update {
  id: string
  project: string | null
  change: LeaseChange
  limits: Limits
  propose: Propose
  now: number
}

function* tryUpdate(
  context: LeaseContext,
  { id, project, change, limits, propose, now }: Update,
): Write<Verdict<BookedLease>> {
  const { config } = context
  const before = yield* lockLease(id, project)
  const held = yield* bookedBy(id)
  const plan = planChange(before, held, change, config, now)
  if (plan.isMoved) yield* checkAhead(config, limitedBy(plan.lease), now)
  requireLength(limits, before, plan.lease)
  const refused = yield* rebook(context, before, plan, held, propose, now)
  if (refused) return refused
  const isRunning = plan.isRebooked && plan.lease.status === 'ACTIVE'
  const newUuid = () => context.clock.newUuid()
  yield* saveLease(
    before,
    isRunning ? (yield* completeNodes(plan.lease, context.drivers, newUuid, now)).lease : plan.lease,
  )
  const lease = yield* findLease(id, project)
  yield* wakeForEvents(lease, now)
  const has = yield* bookedBy(id)
  const places = lease.reservations.map(one => has.get(one.id) ?? new Map<ProviderId, number>())
  return { kind: 'done', value: { lease, request: requestIn(context, plan, now), places } }
}

function requireLength(limits: Limits, before: Lease, { start_at, end_at }: Lease): void {
  const present = start_at + before.end_at - before.start_at
  requireTerm(limits, 'longest_lease_hours', { from: start_at, until: end_at, present })
}

function requestIn(context: LeaseContext, { lease, wishes }: ChangePlan, now: number): Request {
  const cleaningMs = cleaningOf(context)
  const window = { start: lease.start_at, free: lease.end_at + cleaningMs }
  return { window, except: lease.id, cleaningMs, wishes, ...overdue(lease.start_at, now) }
}

/** Writes the bookings of the plan; returns a verdict when it doesn't fit. */
function* rebook(
  context: LeaseContext,
  before: StoredLease,
  plan: ChangePlan,
  has: ReadonlyMap<string, ReadonlyMap<ProviderId, number>>,
  propose: Propose,
  now: number,
): Write<Exclude<Verdict<never>, { kind: 'done' }> | null> {
  const { lease, isMoved, isRebooked } = plan
  const { compute } = context
  if (!isMoved && !isRebooked) return null
  const cleaningMs = cleaningOf(context)
  const ids = [...new Set([...has.values()].flatMap(places => [...places.keys()]))]
  if (!isRebooked) {
    const places = lease.reservations.map(({ id }) => has.get(id) ?? new Map<ProviderId, number>())
    const held = yield* lockLeasables(ids)
    yield* replaceBookings(held, lease.id, bookedAt(lease, lease.reservations, places, cleaningMs))
    return null
  }
  const found = yield* findPlaces(requestIn(context, plan, now), propose, context.calendar, ids)
  if ('kind' in found) return found
  const booked = bookedAt(lease, lease.reservations, found.places, cleaningMs)
  yield* replaceBookings(found.held, lease.id, booked)
  for (const [index, reservation] of lease.reservations.entries()) {
    const isPending = reservation.status === 'pending'
    if (isPending && reservation.terms !== before.reservations[index]!.terms) {
      yield* remakeFlavor(reservation, compute, now)
    }
  }
  if (lease.status === 'ACTIVE') {
    yield* provideResources([lease], yield* leasablesOf([...booked.keys()]), compute, now)
  }
  return null
}

export async function deleteLease(
  context: LeaseContext,
  id: string,
  project: string | null,
  by: string,
): Promise<void> {
  const { store, clock } = context
  const now = clock.now()
  const ended = await store.write(() => removeLease(id, project, context, by, now))
  if (ended.status !== 'TERMINATED' && ended.status !== 'PENDING') void tellService(context, ended)
}

/** Removes the lease at once if all its resources are free; otherwise hides it until they are. */
export function* removeLease(
  id: string,
  project: string | null,
  means: Means,
  by: string,
  now: number,
): Write<StoredLease> {
  const lease = yield* lockLease(id, project)
  if ((yield* endLease(lease, means, by, now)).isOver) yield* dropLease(lease)
  else yield* saveLease(lease, { ...(yield* findLease(id, null)), is_deleted: true })
  yield* wake('leases')
  return lease
}
