// Heals reservations of hosts, one by one: keeps the slots that can stay, and finds new places for as many others as it
// can. Slots with running servers stay booked, so that nobody else gets them; they are replaced when the servers go.
import { recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import { lockInvolved } from '../../ledger/claims/batch.ts'
import { dropShare, putShares } from '../../ledger/shares.ts'
import { limits } from '../../shared/limits.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { query } from '../../store/statement.ts'
import { all, type Read, type Write } from '../../store/transaction.ts'
import type { Request, Wish } from '../calendar/candidates.ts'
import { fit } from '../calendar/fit.ts'
import { classOf, OWNER, sharesOf } from '../lifecycle/reservation-resources.ts'
import { allLeasables, leasablesOf, lockLeasables, type RevisedLeasable } from '../calendar/resources.ts'
import { replaceBookingsOf } from '../booking/rows.ts'
import { type LeaseContext, MINUTE_MS } from '../context.ts'
import { bookedBy, lockLeases, type StoredLease, withReservation } from '../lifecycle/rows.ts'
import { saveLease } from '../lifecycle/writes.ts'
import { isOfInstances, type Reservation } from '../types.ts'
import { bookedFor, wishOf } from '../calendar/wishes.ts'

/** A reservation to heal, and the hosts or nodes that it can't stay on. */
export interface Ailing {
  lease: string
  reservation: string
  unusable: ReadonlySet<ProviderId>
}

export type Places = Map<ProviderId, number>
type Pool = ReadonlyMap<ProviderId, RevisedLeasable>
/** Heals one reservation. Returns the locked leasables, and whether the pool was stale: then nothing was done. */
export type Heal = (ailing: Ailing, pool: Pool, terms: Terms) => Write<Healed>
interface Healed {
  ids: readonly ProviderId[]
  isStale: boolean
  /** The lease's project, if the lease was found. */
  project?: string
}

type Working = Pick<LeaseContext, 'store' | 'clock' | 'log' | 'config'> & { witness: Witness }

const inUse = query((db, a: { class: string }) =>
  db
    .selectFrom('resource_classes')
    .innerJoin('inventories', 'inventories.class_id', 'resource_classes.id')
    .innerJoin('providers', 'providers.id', 'inventories.provider_id')
    .innerJoin('leasables', 'leasables.reservation_provider', 'providers.uuid')
    .select(['leasables.provider_id as id', 'inventories.used'])
    .where('resource_classes.name', '=', a.class),
)

export async function healAll(context: Working, ailing: readonly Ailing[], heal: Heal = healReservation) {
  const { store, clock, log, config, witness } = context
  const cleaningMs = config.leaseCleaningMinutes * MINUTE_MS
  const entryOf = ({ project }: Healed) => witness({ action: 'heal_lease', outcome: 'done', project: project ?? null })
  const pool = new Map<ProviderId, RevisedLeasable>()
  const learn = (found: readonly RevisedLeasable[]) => found.forEach(one => pool.set(one.id, one))
  learn(await store.read(allLeasables))
  for (const one of ailing) {
    try {
      for (let attempts = 1; ; attempts++) {
        const isLast = attempts > limits.bookingAttemptsMax
        const terms = { cleaningMs, isLast, now: clock.now() }
        const looked = await store.write(() => recorded(heal(one, pool, terms), entryOf))
        learn(await store.read(() => leasablesOf(looked.ids)))
        if (!looked.isStale) break
      }
    } catch (error) {
      log.warn({ err: error, lease: one.lease, reservation: one.reservation }, 'a reservation could not be healed')
    }
  }
}

interface Terms {
  cleaningMs: number
  /** The last attempt takes what there is, even if the pool promised more. */
  isLast: boolean
  now: number
}

function* healReservation(ailing: Ailing, pool: Pool, terms: Terms): Write<Healed> {
  const [lease] = yield* lockLeases([ailing.lease])
  const reservation = lease?.reservations.find(({ id }) => id === ailing.reservation)
  // A lease that is ending needs no healing.
  const isOver = reservation?.status === 'deleted' || lease?.status === 'TERMINATING'
  if (!lease || !reservation || isOver) return { ids: [], isStale: false }
  const has = (yield* bookedBy(lease.id)).get(reservation.id) ?? new Map<ProviderId, number>()
  const used = yield* usedBy(reservation)
  const isOpen = ({ id, isReservable }: RevisedLeasable) => isReservable && !ailing.unusable.has(id)
  const inPool = [...pool.values()].filter(isOpen)
  const staying = stayingOf(reservation, has, used, new Set(inPool.map(({ id }) => id)))
  const request = requestFor(lease, reservation, staying, terms.cleaningMs)
  const proposed = best(inPool, request)
  const held = yield* lockLeasables([...new Set([...proposed.keys(), ...has.keys()])])
  const places = best(held.filter(isOpen), request)
  const ids = held.map(({ id }) => id)
  if (total(places) < total(proposed) && !terms.isLast) return { ids, isStale: true }
  // While the reservation providers are locked nobody can start a server there, so `used` stays true until the commit.
  yield* lockInvolved(
    [],
    held.flatMap(({ reservationProvider }) => reservationProvider ?? []),
  )
  if (!isSame(used, yield* usedBy(reservation))) return { ids, isStale: !terms.isLast }
  const isWhole = !isOfInstances(reservation.terms)
  const kept = new Map(
    [...used].filter(([id]) => has.has(id) && !places.has(id)).map(([id, slots]) => [id, isWhole ? 1 : slots]),
  )
  const after = new Map([...beside(kept, places, mostOf(reservation), has, used), ...kept])
  if (!isSame(after, has) || reservation.missing_resources) {
    yield* move(lease, reservation, { held, has, places: after, used, window: request.window }, terms.now)
  }
  return { ids, isStale: false, project: lease.project_id }
}

/** It never has more slots than it booked. A lost whole host is replaced, even if servers remain on the old one. */
const mostOf = ({ terms }: Reservation): number => (isOfInstances(terms) ? terms.amount : Infinity)

/** Drops as many slots as are kept elsewhere: new ones first, and none that are in use. */
function beside(kept: Places, places: Places, most: number, has: Places, used: Places): Places {
  let surplus = total(kept) + total(places) - most
  const after = new Map(places)
  for (const [id, slots] of [...places].sort(([a], [b]) => Number(has.has(a)) - Number(has.has(b)))) {
    const spare = Math.min(Math.max(surplus, 0), slots - Math.min(used.get(id) ?? 0, slots))
    surplus -= spare
    if (slots > spare) after.set(id, slots - spare)
    else after.delete(id)
  }
  return after
}

/** The slots that it has on open hosts. If these are too many, unused ones are dropped. */
function stayingOf({ terms }: Reservation, has: Places, used: Places, open: ReadonlySet<ProviderId>): Places {
  const staying = new Map([...has].filter(([id]) => open.has(id)))
  if (!isOfInstances(terms)) return staying
  let surplus = total(staying) - terms.amount
  for (const [id, slots] of staying) {
    const spare = Math.min(Math.max(surplus, 0), slots - (used.get(id) ?? 0))
    surplus -= spare
    if (slots > spare) staying.set(id, slots - spare)
    else staying.delete(id)
  }
  return staying
}

export function requestFor(
  lease: StoredLease,
  { id, terms }: Reservation,
  staying: Places,
  cleaningMs: number,
): Request {
  const wish = wishOf(terms, { places: staying, isFixed: true })
  return { window: { start: lease.start_at, free: lease.end_at + cleaningMs }, except: id, wishes: [wish] }
}

/** Places for the whole wish, or for as much of it as fits. */
export function best(leasables: readonly RevisedLeasable[], request: Request): Places {
  const [wish] = request.wishes as [Wish]
  const tryWith = (wish: Wish) => fit(leasables, { ...request, wishes: [wish] }).places?.[0]
  const whole = tryWith(wish)
  if (whole) return new Map(whole)
  if (wish.kind === 'whole') return new Map(tryWith({ ...wish, min: wish.held.size }) ?? wish.held)
  // If an amount fits, every smaller one does, so a binary search finds the largest.
  let fits = new Map(wish.held)
  let [low, high] = [total(fits), wish.amount]
  while (high - low > 1) {
    const amount = Math.floor((low + high) / 2)
    const found = tryWith({ ...wish, amount })
    if (found) [fits, low] = [new Map(found), amount]
    else high = amount
  }
  return fits
}

export const total = (places: ReadonlyMap<ProviderId, number>) =>
  [...places.values()].reduce((sum, slots) => sum + slots, 0)
export const isSame = (a: Places, b: Places) => a.size === b.size && [...a].every(([id, slots]) => b.get(id) === slots)

/** The slots that servers use, by id of the host. */
function* usedBy({ id, status }: Reservation): Read<Places> {
  if (status !== 'active') return new Map()
  const rows = yield* all(inUse({ class: classOf(id) }))
  return new Map(rows.filter(({ used }) => used > 0).map(({ id, used }) => [id, used]))
}

interface Move {
  held: readonly RevisedLeasable[]
  has: Places
  places: Places
  used: Places
  window: Request['window']
}

function* move(lease: StoredLease, reservation: Reservation, to: Move, now: number): Write<void> {
  const { held, has, places, used, window } = to
  const { id, terms, status } = reservation
  const booking = (slots: number) => bookedFor(lease.id, id, terms, { ...window, end: lease.end_at }, slots)
  yield* replaceBookingsOf(held, id, new Map([...places].map(([at, slots]) => [at, [booking(slots)]])))
  const isActive = status === 'active'
  if (isActive) {
    const left = held.filter(one => one.reservationProvider !== null && !places.has(one.id) && !used.has(one.id))
    for (const { reservationProvider } of left) yield* dropShare(reservationProvider!, classOf(id), OWNER, now)
    yield* putShares(sharesOf(reservation, yield* leasablesOf([...places.keys()])), OWNER, now)
  }
  const wanted = isOfInstances(terms) ? terms.amount : terms.min
  const isMoved = [...places.keys()].some(at => !has.has(at))
  const healed: Reservation = {
    ...reservation,
    missing_resources: total(places) < wanted,
    resources_changed: reservation.resources_changed || (isActive && isMoved),
    updated_at: now,
  }
  yield* saveLease(lease, { ...withReservation(lease, healed), updated_at: now })
}
