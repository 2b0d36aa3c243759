// Explains why a request doesn't fit: what keeps each host from it, and the next windows in which all of it would fit.
import { limits } from '../../shared/limits.ts'
import { type Problem, problem } from '../../problems/problem.ts'
import { type Leasable, meets, roomIn, type Size, SIZES, slotsIn, type Window } from './calendar.ts'
import type { Request, Wish } from './candidates.ts'
import { fit } from './fit.ts'
import { NO_LEASE } from './resources.ts'
import { MINUTE_MS } from '../context.ts'
import type { Refusal, RefusalReason } from '../../problems/leases.ts'

export function refusalOf(leasables: readonly Leasable[], request: Request, now: number, seesHosts: boolean): Problem {
  const reasons = reasonsOf(leasables, request, seesHosts)
  const details: Refusal = { reasons, windows: nextWindows(leasables, request, now) }
  return problem('lease_does_not_fit', { reason: sentenceOf(request, details), details })
}

/**
 * For each wish by itself: how many hosts each cause rules out, and how many are free. Callers who may see hosts also
 * get examples.
 */
export function reasonsOf(leasables: readonly Leasable[], request: Request, seesHosts: boolean): RefusalReason[] {
  const sampleMax = seesHosts ? limits.refusalSampleMax : 0
  return request.wishes.flatMap((wish, reservation) => {
    const causes = new Map<string, { count: number; sample: { host: string; detail: string }[] }>()
    for (const leasable of leasables) {
      const cause = causeOf(leasable, wish, request)
      const found = causes.getOrInsertComputed(cause.reason, () => ({ count: 0, sample: [] }))
      found.count++
      if (found.sample.length < sampleMax) found.sample.push({ host: leasable.name, detail: cause.detail() })
    }
    return [...causes].map(([reason, found]) => ({ reservation, reason, ...found }))
  })
}

/** The detail is a function because only a few are shown. */
interface Cause {
  reason: string
  detail: () => string
}

function causeOf(leasable: Leasable, wish: Wish, { window, except, now }: Request): Cause {
  if (!wish.accepts(leasable)) return { reason: 'does not match', detail: () => 'it is not what was asked for' }
  if (!leasable.isReservable) return { reason: 'not reservable', detail: () => closedBecause(leasable) }
  const { capacity } = leasable
  const taken = () => whenTaken(leasable, window, except)
  if (wish.kind === 'slots') {
    const { size } = wish
    const lacking = SIZES.find(name => capacity[name] < size[name])
    if (lacking) {
      const detail = () => `it has ${capacity[lacking]} ${lacking} in all, one slot needs ${size[lacking]}`
      return { reason: 'too small', detail }
    }
  }
  const room = roomIn(leasable, window, except, now)
  if (room.isTaken) return { reason: 'leased as a whole', detail: taken }
  if (wish.kind === 'whole') {
    if (room.isUntouched) return { reason: 'free', detail: () => 'nothing of it is booked' }
    return { reason: 'booked in part', detail: taken }
  }
  const slots = slotsIn(room.free, wish.size)
  if (slots >= (wish.affinity === false ? 1 : wish.amount)) return { reason: 'free', detail: () => `room for ${slots}` }
  const detail = () => {
    const when = room.isUntouched ? '' : `, ${taken()}`
    return `room for ${slots} of ${wish.amount}: ${scarcest(room.free, capacity, wish.size)}${when}`
  }
  return { reason: slots === 0 ? 'booked' : 'room for fewer', detail }
}

const closedBecause = ({ kind }: Leasable) =>
  kind === 'host' ? 'it is down, disabled or in maintenance' : 'it is in maintenance, retired, or not made available'

function scarcest(free: Size, capacity: Size, size: Size): string {
  const [name] = SIZES.filter(name => size[name] > 0).sort((a, b) => free[a] / size[a] - free[b] / size[b])
  return name === undefined ? 'nothing' : `${Math.max(free[name], 0)} of ${capacity[name]} ${name} free`
}

function whenTaken({ booked }: Leasable, window: Window, except: string | null): string {
  const others = booked.filter(one => one.lease !== except && meets(one, window))
  if (others.length === 0) return 'not given back yet by a lease that is over'
  const start = Math.min(...others.map(one => one.start))
  const free = Math.max(...others.map(one => one.free))
  if (free === Infinity) return 'in use, and nobody knows until when'
  // An allocation or hold has no start here.
  if (others.some(one => one.lease === NO_LEASE)) return `in use until ${shownMinute(free)}`
  return `booked from ${shownMinute(start)} to ${shownMinute(free)}`
}

/**
 * Capacity is freed only where a booking ends, so only these instants are tried, within the limit of work. The window
 * keeps its length.
 */
export function nextWindows(
  leasables: readonly Leasable[],
  request: Request,
  now: number,
  looksMax: number = limits.refusalLooksMax,
): { start_at: number; end_at: number }[] {
  const { window, wishes } = request
  const usable = leasables.filter(one => wishes.some(wish => wish.accepts(one)))
  // A request that doesn't fit into an empty calendar never will.
  const empty = usable.map(leasable => ({ ...leasable, booked: [] }))
  if (fit(empty, request).places === null) return []
  const from = Math.max(window.start, now)
  const ends = new Set<number>()
  for (const { booked } of usable) {
    for (const { free, lease } of booked)
      if (free > from && free < Infinity && lease !== request.except) ends.add(wholeMinute(free))
  }
  const cleaning = request.cleaningMs ?? 0
  const found: { start_at: number; end_at: number }[] = []
  const length = window.free - window.start
  const tries = Math.max(Math.floor(looksMax / usable.length), 1)
  for (const start of [...ends].sort((a, b) => a - b).slice(0, tries)) {
    const { now: _, ...rest } = request
    const later = { ...rest, window: { start, free: start + length } }
    if (fit(usable, later).places === null) continue
    found.push({ start_at: start, end_at: start + length - cleaning })
    if (found.length === limits.refusalWindowsMax) break
  }
  return found
}

/** The API has dates in whole minutes. */
const wholeMinute = (time: number) => Math.ceil(time / MINUTE_MS) * MINUTE_MS

function sentenceOf({ wishes }: Request, { reasons, windows }: Refusal): string {
  const parts = wishes.map((wish, index) => {
    const causes = reasons
      .filter(reason => reason.reservation === index)
      .map(({ reason, count, sample: [first] }) => {
        const example = first ? ` (${first.host}: ${first.detail})` : ''
        return `${count} ${reason}${example}`
      })
    const which = wishes.length > 1 ? `Reservation ${index + 1}` : 'The reservation'
    return `${which} asks for ${askedFor(wish)}: ${causes.join('; ') || 'there are none at all'}`
  })
  const next = windows.map(({ start_at, end_at }) => `${shownMinute(start_at)} to ${shownMinute(end_at)}`)
  const when = next.length > 0 ? ` It would fit from ${next.join(', or from ')}.` : ''
  return `Not enough hosts available. ${parts.join('. ')}.${when}`
}

function askedFor(wish: Wish): string {
  if (wish.kind === 'whole') return wish.min === wish.max ? `${wish.min} whole` : `${wish.min} to ${wish.max} whole`
  const { vcpus, memory_mb, disk_gb } = wish.size
  const where = wish.affinity === true ? ' on one host' : wish.affinity === false ? ' each on another host' : ''
  return `${wish.amount} of ${vcpus} vcpus, ${memory_mb} MB, ${disk_gb} GB${where}`
}

/** As clients write dates, in UTC. */
const shownMinute = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ')
