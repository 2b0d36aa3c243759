// Explains why a request doesn't fit: what keeps each host from it, and how many there are. Pure.
import { limits } from '../../shared/limits.ts'
import { amountIn, type Leasable, meets, namesIn, roomIn, type Size, slotsIn, type Window } from './calendar.ts'
import { mayUse, type Request, roomFor, type Wish } from './candidates.ts'
import { NO_LEASE } from './resources.ts'
import type { Refusal, RefusalReason, RefusalSample } from '../../problems/leases.ts'

/** A sample in which the lease is named by its id. */
type Sample = Omit<RefusalSample, 'lease'> & { lease: string | null }
export type Reason = Omit<RefusalReason, 'sample'> & { sample: readonly Sample[] }

/** How hosts and nodes are named to the caller. */
export interface Naming {
  /** Others see counts, and what their own reservations have. */
  seesHosts: boolean
  nameOf: (leasable: Pick<Leasable, 'kind' | 'name'>) => string
}

/**
 * For each wish by itself: how many hosts each cause rules out, and how many are free. Callers who may see them also
 * get examples.
 */
export function reasonsOf(leasables: readonly Leasable[], request: Request, naming: Naming): Reason[] {
  const { seesHosts, nameOf } = naming
  return request.wishes.flatMap((wish, reservation) => {
    const causes = new Map<string, { count: number; sample: Sample[] }>()
    for (const leasable of leasables) {
      const cause = causeOf(leasable, wish, request)
      const found = causes.getOrInsertComputed(cause.reason, () => ({ count: 0, sample: [] }))
      found.count++
      const isSeen = seesHosts || (leasable.kind === 'node' && wish.held.has(leasable.id))
      if (!isSeen || found.sample.length >= limits.refusalSampleMax) continue
      const { detail, ...when } = cause.told()
      found.sample.push({ host: leasable.name, name: nameOf(leasable), detail, ...NEVER, ...when })
    }
    return [...causes].map(([reason, found]) => ({ reservation, reason, ...found }))
  })
}

type When = Pick<Sample, 'from' | 'until' | 'lease'>
const NEVER: When = { from: null, until: null, lease: null }

/** For each wish by itself: how many slots, hosts or nodes there are in the window, and how many it needs. */
export function mostOf(leasables: readonly Leasable[], { wishes, window, except, now }: Request): Refusal['most'] {
  return wishes.map(wish => {
    const rooms = leasables
      .filter(leasable => mayUse(wish, leasable))
      .map(leasable => ({ leasable, ...roomIn(leasable, window, except, now) }))
    if (wish.kind === 'whole') return { count: rooms.filter(room => room.isUntouched).length, of: wish.min }
    const slots = rooms.map(room => roomFor(wish, room))
    const all = wish.affinity === true ? Math.max(0, ...slots) : slots.reduce((sum, one) => sum + one, 0)
    return { count: Math.min(all, wish.amount), of: wish.amount }
  })
}

/** What is told is a function because only a few are shown. */
interface Cause {
  reason: string
  told: () => Pick<Sample, 'detail'> & Partial<When>
}

function causeOf(leasable: Leasable, wish: Wish, { window, except, now }: Request): Cause {
  if (!wish.accepts(leasable)) {
    const detail = wish.whyNot?.(leasable) ?? 'it is not what was asked for'
    return { reason: 'does not match', told: () => ({ detail }) }
  }
  if (!leasable.isReservable) return { reason: 'not reservable', told: () => ({ detail: closedBecause(leasable) }) }
  const { capacity } = leasable
  const taken = () => whenTaken(leasable, window, except)
  if (wish.kind === 'slots') {
    const { size } = wish
    const lacking = namesIn(size).find(name => amountIn(capacity, name) < amountIn(size, name))
    if (lacking !== undefined) {
      const detail = `it has ${amountIn(capacity, lacking)} ${lacking} in all, one slot needs ${amountIn(size, lacking)}`
      return { reason: 'too small', told: () => ({ detail }) }
    }
  }
  const room = roomIn(leasable, window, except, now)
  if (room.isTaken) return { reason: 'leased as a whole', told: taken }
  if (wish.kind === 'whole') {
    if (room.isUntouched) return { reason: 'free', told: () => ({ detail: 'nothing of it is booked' }) }
    return { reason: 'booked in part', told: taken }
  }
  const slots = slotsIn(room.free, wish.size)
  if (slots >= (wish.affinity === false ? 1 : wish.amount))
    return { reason: 'free', told: () => ({ detail: `room for ${slots}` }) }
  const told = () => {
    const there = `room for ${slots} of ${wish.amount}: ${scarcest(room.free, capacity, wish.size)}`
    if (room.isUntouched) return { detail: there }
    const { detail, ...when } = taken()
    return { ...when, detail: `${there}, ${detail}` }
  }
  return { reason: slots === 0 ? 'booked' : 'room for fewer', told }
}

const closedBecause = ({ kind }: Leasable) =>
  kind === 'host' ? 'it is down, disabled or in maintenance' : 'it is in maintenance, retired, or not made available'

function scarcest(free: Size, capacity: Size, size: Size): string {
  const slots = (name: string) => amountIn(free, name) / amountIn(size, name)
  const [name] = namesIn(size)
    .filter(name => amountIn(size, name) > 0)
    .sort((a, b) => slots(a) - slots(b))
  return name === undefined
    ? 'nothing'
    : `${Math.max(amountIn(free, name), 0)} of ${amountIn(capacity, name)} ${name} free`
}

/** The first that is in the way. */
function whenTaken({ booked }: Leasable, window: Window, except: string | null): ReturnType<Cause['told']> {
  const others = booked.filter(one => one.lease !== except && meets(one, window))
  if (others.length === 0) return { detail: 'not given back yet by a lease that is over' }
  const { lease, start, free } = others.reduce((one, other) => (other.start < one.start ? other : one))
  if (free === Infinity) return { detail: 'in use, and nobody knows until when' }
  // An allocation or hold has no start here.
  if (lease === NO_LEASE) return { detail: `in use until ${shownMinute(free)}`, until: free }
  return { detail: `booked from ${shownMinute(start)} to ${shownMinute(free)}`, from: start, until: free, lease }
}

/** As clients write dates, in UTC. */
export const shownMinute = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ')
