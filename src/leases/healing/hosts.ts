// Heals one reservation after the other: keeps what can stay, finds places for the rest, as much as there is. Slots that
// servers still run on stay booked, so that nobody else is promised them; others take their place when the servers go.
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
import type { Reservation } from '../types.ts'
import { bookedFor, wishOf } from '../calendar/wishes.ts'

/** A reservation, and the hosts that it can't stay on. */
export interface Ailing {
  lease: string
  reservation: string
  unusable: ReadonlySet<ProviderId>
}

export type Places = Map<ProviderId, number>
type Pool = ReadonlyMap<ProviderId, RevisedLeasable>
/** Heals one reservation. Says what was looked at, and whether the pool was wrong about it: then nothing was done. */
export type Heal = (ailing: Ailing, pool: Pool, terms: Terms) => Write<Healed>
interface Healed {
  ids: readonly ProviderId[]
  isStale: boolean
  /** Whose lease it is, where one was found. */
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
  const entryOf = ({ project }: Healed) =>
    witness?.({ action: 'heal_lease', outcome: 'done', project: project ?? null })
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
  /** Takes what there is, even if more was proposed. */
  isLast: boolean
  now: number
}

function* healReservation(ailing: Ailing, pool: Pool, terms: Terms): Write<Healed> {
  const [lease] = yield* lockLeases([ailing.lease])
  const reservation = lease?.reservations.find(({ id }) => id === ailing.reservation)
  // What is being given back is not to be had anew.
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
  // Under the locks of its shares nobody can start a server there: what is in use now stays so until this is done.
  yield* lockInvolved(
    [],
    held.flatMap(({ reservationProvider }) => reservationProvider ?? []),
  )
  if (!isSame(used, yield* usedBy(reservation))) return { ids, isStale: !terms.isLast }
  const isWhole = reservation.terms.resource_type !== 'virtual:instance'
  const kept = new Map(
    [...used].filter(([id]) => has.has(id) && !places.has(id)).map(([id, slots]) => [id, isWhole ? 1 : slots]),
  )
  const after = new Map([...beside(kept, places, mostOf(reservation), has, used), ...kept])
  if (!isSame(after, has) || reservation.missing_resources) {
    yield* move(lease, reservation, { held, has, places: after, used, window: request.window }, terms.now)
  }
  return { ids, isStale: false, project: lease.project_id }
}

/** More slots than were booked it never has; a whole host that is lost is replaced, whatever is left on the old one. */
const mostOf = ({ terms }: Reservation): number =>
  terms.resource_type === 'virtual:instance' ? terms.amount : Infinity

/** Without as many as are kept elsewhere: first what it didn't have before, and nothing that is in use. */
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

/** What it has on hosts that are open; of more than it wants, what nobody uses goes. */
function stayingOf({ terms }: Reservation, has: Places, used: Places, open: ReadonlySet<ProviderId>): Places {
  const staying = new Map([...has].filter(([id]) => open.has(id)))
  if (terms.resource_type !== 'virtual:instance') return staying
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

/** All that was wished for, or as much of it as there is. */
export function best(leasables: readonly RevisedLeasable[], request: Request): Places {
  const [wish] = request.wishes as [Wish]
  const tryWith = (wish: Wish) => fit(leasables, { ...request, wishes: [wish] }).places?.[0]
  const whole = tryWith(wish)
  if (whole) return new Map(whole)
  if (wish.kind === 'whole') return new Map(tryWith({ ...wish, min: wish.held.size }) ?? wish.held)
  // Fewer fit wherever more do, so the most that fit is found by halving.
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

/** Slots that servers run on, by id of the host. */
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
  const wanted = terms.resource_type === 'virtual:instance' ? terms.amount : terms.min
  const isMoved = [...places.keys()].some(at => !has.has(at))
  const healed: Reservation = {
    ...reservation,
    missing_resources: total(places) < wanted,
    resources_changed: reservation.resources_changed || (isActive && isMoved),
    updated_at: now,
  }
  yield* saveLease({ ...withReservation(lease, healed), updated_at: now })
}
