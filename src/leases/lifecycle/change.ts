// Plans a client's change of a lease, before anything is written. Pure.
import { problem } from '../../problems/problem.ts'
import { checkMovedDates } from './dates.ts'
import type { Wish } from '../calendar/candidates.ts'
import { type LeaseSettings, MINUTE_MS } from '../context.ts'
import type { StoredLease } from './rows.ts'
import {
  type EventType,
  type FlavorTerms,
  isOfInstances,
  type LeaseChange,
  type LeaseEvent,
  type Reservation,
  type Terms,
  type TermsChange,
} from '../types.ts'
import { wishOf } from '../calendar/wishes.ts'
import type { ProviderId } from '../../store/schema/ids.ts'

export interface ChangePlan {
  lease: StoredLease
  /** The start or end changes. */
  isMoved: boolean
  /** New places have to be found; otherwise it keeps its places. */
  isRebooked: boolean
  wishes: readonly Wish[]
}

/** For each reservation, its slots by id of the host or node. */
type Has = ReadonlyMap<string, ReadonlyMap<ProviderId, number>>

export function planChange(
  before: StoredLease,
  has: Has,
  change: LeaseChange,
  config: LeaseSettings,
  now: number,
): ChangePlan {
  const { name = before.name, start_at = before.start_at, end_at = before.end_at } = change
  const isMoved = start_at !== before.start_at || end_at !== before.end_at
  const beforeEndChanges = change.before_end_at !== undefined && change.before_end_at !== null
  if (isMoved || beforeEndChanges || change.reservations) requireChangeable(before, now)
  checkMovedDates(before, { start_at, end_at }, now)
  const reservations = changedReservations(before, change.reservations ?? [], now)
  const hasNewTerms = reservations.some((one, index) => one !== before.reservations[index])
  const isNarrower = start_at >= before.start_at && end_at <= before.end_at
  const moved = { ...before, start_at, end_at }
  const events = movedEvents(before, moved, change.before_end_at ?? null, config.leaseBeforeEndMinutes * MINUTE_MS, now)
  const isSameDates = events.events.every((event, index) => event === before.events[index])
  const isUnchanged = name === before.name && !isMoved && !hasNewTerms && isSameDates
  return {
    lease: { ...moved, ...events, name, reservations, updated_at: isUnchanged ? before.updated_at : now },
    isMoved,
    isRebooked: hasNewTerms || (isMoved && !isNarrower),
    wishes: reservations.map((reservation, index) => wishFor(reservation, before.reservations[index]!, has)),
  }
}

function requireChangeable({ id, status, end_at }: StoredLease, now: number): void {
  if (status === 'STARTING' || status === 'TERMINATING') {
    throw problem('lease_refuses', { reason: `Lease ${id} is ${status}; try again when that is done.` })
  }
  if (status === 'TERMINATED' || end_at < now) {
    throw problem('lease_invalid', { reason: 'Terminated leases can only be renamed.' })
  }
}

function changedReservations(lease: StoredLease, changes: readonly TermsChange[], now: number): readonly Reservation[] {
  const byId = new Map(changes.map(change => [change.id, change]))
  for (const id of byId.keys()) {
    if (!lease.reservations.some(one => one.id === id)) {
      throw problem('reservation_not_found', { reservation: id, lease: lease.id })
    }
  }
  return lease.reservations.map(reservation => {
    const change = byId.get(reservation.id)
    const terms = change ? changedTerms(reservation, change) : reservation.terms
    return terms === reservation.terms ? reservation : { ...reservation, terms, updated_at: now }
  })
}

/** The changed terms; the same object when nothing changes. */
function changedTerms({ id, status, terms }: Reservation, { id: _, resource_type, ...given }: TermsChange): Terms {
  if (resource_type !== undefined && resource_type !== terms.resource_type) {
    throw problem('lease_invalid', { reason: `Reservation ${id} is ${terms.resource_type} and stays that.` })
  }
  if (terms.resource_type === 'flavor:instance') requireSameFlavor(id, terms, given)
  const isKnown = (name: string) =>
    name in terms || (name === 'candidate_nodes' && terms.resource_type === 'physical:node')
  const known = Object.entries(given).filter(
    ([name, value]) => name !== 'flavor_id' && isKnown(name) && value !== undefined,
  )
  const after: Terms = { ...terms, ...Object.fromEntries(known) }
  const changed = Object.keys(after).filter(name => !isSame(at(after, name), at(terms, name)))
  if (changed.length === 0) return terms
  if (status === 'active') requireGrowth(id, terms, after, changed)
  return after
}

/** Clients may send back what they were shown: the flavor of the reservation, and the sizes. */
function requireSameFlavor(id: string, { flavor_id, flavor }: FlavorTerms, given: Omit<TermsChange, 'id'>): void {
  const { flavor_id: named = id, vcpus = flavor.vcpus, memory_mb = flavor.ram_mb, disk_gb = flavor.disk_gb } = given
  if (named !== id && named !== flavor_id) {
    throw problem('lease_invalid', { reason: `Reservation ${id} is by flavor ${flavor_id} and stays that.` })
  }
  if (vcpus !== flavor.vcpus || memory_mb !== flavor.ram_mb || disk_gb !== flavor.disk_gb) {
    throw problem('lease_invalid', { reason: `Reservation ${id} has the size of its flavor and keeps it.` })
  }
}

const at = (terms: Terms, name: string) => (terms as unknown as Record<string, unknown>)[name]
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** What says which nodes will do. */
const KIND: ReadonlySet<string> = new Set(['resource_class', 'traits', 'candidate_nodes'])

/** A reservation in use can only grow. */
function requireGrowth(id: string, before: Terms, after: Terms, changed: readonly string[]): void {
  const refuse = (reason: string) => problem('lease_refuses', { reason: `Reservation ${id} is in use: ${reason}.` })
  const kind = changed.find(name => KIND.has(name))
  if (kind !== undefined) throw refuse(`${kind} can not be changed`)
  if (!isOfInstances(before) || !isOfInstances(after)) return
  const other = changed.find(name => name !== 'amount')
  if (other !== undefined) throw refuse(`${other} can not be changed`)
  if (after.amount < before.amount) throw refuse('amount can only grow')
}

function wishFor(reservation: Reservation, before: Reservation, has: Has): Wish {
  const places = has.get(reservation.id) ?? new Map<ProviderId, number>()
  const wish = wishOf(reservation.terms, { places, isFixed: reservation.status === 'active' })
  if (!reservation.missing_resources || reservation.terms !== before.terms) return wish
  // It already lacks resources. That must not make an unrelated change fail, so it asks only for what it has.
  const slots = [...places.values()].reduce((sum, one) => sum + one, 0)
  return wish.kind === 'slots' ? { ...wish, amount: slots } : { ...wish, min: Math.min(wish.min, slots) }
}

/** The start and end events follow the dates. The event before the end keeps its distance unless its time is given. */
function movedEvents(
  before: StoredLease,
  after: Pick<StoredLease, 'start_at' | 'end_at'>,
  given: number | null,
  usualMs: number,
  now: number,
): Pick<StoredLease, 'events' | 'due'> {
  const known = before.events.find(event => event.event_type === 'before_end_lease')
  if (given !== null && (given <= after.start_at || given >= after.end_at)) {
    throw problem('lease_invalid', { reason: 'The before_end date must be between start and end.' })
  }
  const distance = known ? before.end_at - known.time : usualMs
  const times: Record<EventType, number> = {
    start_lease: after.start_at,
    end_lease: after.end_at,
    before_end_lease: given ?? Math.max(after.end_at - distance, after.start_at),
  }
  const due = { ...before.due }
  const events = before.events.map((event): LeaseEvent => {
    const time = times[event.event_type]
    if (time === event.time) return event
    // An event that was done becomes due again, because its time has changed.
    due[event.event_type] = time
    return { ...event, time, updated_at: now }
  })
  return { events, due }
}
