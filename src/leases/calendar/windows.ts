// Finds when a request would fit: the next windows, and the latest end with the start that was asked for. Pure.
import type { FreeWindow } from '../../problems/leases.ts'
import { limits } from '../../shared/limits.ts'
import { MINUTE_MS } from '../context.ts'
import type { Leasable, Window } from './calendar.ts'
import type { Request } from './candidates.ts'
import { fit } from './fit.ts'

/** The hosts and nodes that matter, and how often we may still look at all of them. */
interface Search {
  usable: readonly Leasable[]
  request: Request
  tries: number
}

/** Null if it wouldn't fit into an empty calendar either. */
function searchFor(leasables: readonly Leasable[], request: Request, looksMax: number): Search | null {
  const usable = leasables.filter(one => request.wishes.some(wish => wish.accepts(one)))
  const empty = usable.map(leasable => ({ ...leasable, booked: [] }))
  if (fit(empty, request).places === null) return null
  return { usable, request, tries: Math.max(Math.floor(looksMax / usable.length), 1) }
}

/** Whether it fits then; undefined if we may look no more. Bookings that are overdue now are over by then. */
function fitsIn(search: Search, window: Window): boolean | undefined {
  if (search.tries-- <= 0) return undefined
  const { now: _, ...rest } = search.request
  return fit(search.usable, { ...rest, window }).places !== null
}

/** The times of bookings that are not the request's own, in order, each once. */
const timesIn = ({ usable, request }: Search, time: 'start' | 'free', from: number, below = Infinity): number[] => {
  const found = new Set<number>()
  for (const { booked } of usable) {
    for (const one of booked)
      if (one[time] > from && one[time] < below && one.lease !== request.except) found.add(one[time])
  }
  return [...found].sort((a, b) => a - b)
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
): FreeWindow[] {
  // What has started stays where it is.
  if (request.except !== null && request.now === undefined) return []
  const search = searchFor(leasables, request, looksMax)
  if (search === null) return []
  const { window, cleaningMs = 0 } = request
  const length = window.free - window.start
  const found: FreeWindow[] = []
  let known = -Infinity
  for (const free of timesIn(search, 'free', Math.max(window.start, now))) {
    const start = wholeMinute(free)
    if (start <= known) continue
    const fits = fitsIn(search, { start, free: start + length })
    if (fits === undefined) break
    if (!fits) continue
    const last = lastStart(search, start, length)
    found.push({ start_at: start, end_at: start + length - cleaningMs, last_start_at: last })
    if (last === null || found.length === limits.refusalWindowsMax) break
    known = last
  }
  return found
}

/** The last start of the windows that fit from this one on; null if none is in the way later. */
function lastStart(search: Search, start: number, length: number): number | null {
  let last = start
  for (const other of timesIn(search, 'start', start + length - 1)) {
    const until = minuteOf(other - length)
    if (until < start) continue
    last = until
    // Only by reaching into another booking can it cease to fit.
    if (fitsIn(search, { start: until + MINUTE_MS, free: until + MINUTE_MS + length }) !== true) return last
  }
  return null
}

/** The latest end before the one that was asked for; null if it fits with none. */
export function latestEnd(
  leasables: readonly Leasable[],
  request: Request,
  looksMax: number = limits.refusalLooksMax,
): number | null {
  const search = searchFor(leasables, request, looksMax)
  if (search === null) return null
  const { window, cleaningMs = 0, now } = request
  for (const other of timesIn(search, 'start', window.start, window.free).toReversed()) {
    const end = minuteOf(other - cleaningMs)
    if (end <= Math.max(window.start, now ?? window.start)) return null
    if (search.tries-- <= 0) return null
    const shorter = { ...request, window: { start: window.start, free: end + cleaningMs } }
    if (fit(search.usable, shorter).places !== null) return end
  }
  return null
}

/** The API has dates in whole minutes. */
const wholeMinute = (time: number) => Math.ceil(time / MINUTE_MS) * MINUTE_MS
const minuteOf = (time: number) => Math.floor(time / MINUTE_MS) * MINUTE_MS
