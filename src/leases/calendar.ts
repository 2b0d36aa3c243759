// The calendar: what is booked when, and how much of a host or node is free in a window. Pure functions over half-open
// intervals: a booking that ends when another starts doesn't meet it.
import type { Facts } from './properties.ts'

export interface Window {
  start: number
  /** When it is free again: the end, and the time for cleaning after it. */
  free: number
}

export interface Size {
  vcpus: number
  memory_mb: number
  disk_gb: number
}

/** What one reservation has of one host or node. */
export interface Booked extends Window, Size {
  lease: string
  reservation: string
  /** Without the time for cleaning. */
  end: number
  slots: number
  /** Nobody else may have anything of it. */
  isWhole: boolean
}

/** A host or node that can be booked, as far as the calendar cares. */
export interface Leasable {
  id: number
  kind: 'host' | 'node'
  name: string
  isReservable: boolean
  capacity: Size
  /** What queries may ask about. */
  facts: Facts
  booked: readonly Booked[]
}

/** What is free of one host or node in one window. */
export interface Room {
  free: Size
  /** Nobody has anything of it in the window. */
  isUntouched: boolean
  /** Somebody has all of it in the window. */
  isTaken: boolean
}

/** A new lease waits at least this long for what the one before it has not given back in time. */
const OVERTIME_MS = 60_000

export const SIZES = ['vcpus', 'memory_mb', 'disk_gb'] as const

/** An empty one, of a lease that was ended as it began, meets nothing. */
export const meets = (a: Window, b: Window): boolean =>
  a.start < b.free && b.start < a.free && a.start < a.free && b.start < b.free

/**
 * What is free throughout the window, leaving out what the given lease or reservation has itself. Whatever should be over
 * by `now` and is still there is in use for at least a moment more.
 */
export function roomIn({ capacity, booked }: Leasable, window: Window, except: string | null, now = -Infinity): Room {
  let met: Booked[] | null = null
  let isTaken = false
  for (const other of booked) {
    if (other.lease === except || other.reservation === except) continue
    if (!meets(other.free <= now ? { start: other.start, free: now + OVERTIME_MS } : other, window)) continue
    if (met === null) met = [other]
    else met.push(other)
    if (other.isWhole) isTaken = true
  }
  if (met === null) return { free: { ...capacity }, isUntouched: true, isTaken: false }
  const { vcpus, memory_mb, disk_gb } = peakOf(met)
  return {
    free: {
      vcpus: capacity.vcpus - vcpus,
      memory_mb: capacity.memory_mb - memory_mb,
      disk_gb: capacity.disk_gb - disk_gb,
    },
    isUntouched: false,
    isTaken,
  }
}

/**
 * The most that is in use of each at any one instant. Bookings that all meet a window and one another meet inside it, so
 * of those that meet a window this is the most inside it.
 */
export function peakOf(booked: readonly Booked[]): Size {
  if (booked.length === 1) return booked[0]!
  const starts = booked.toSorted((a, b) => a.start - b.start)
  const ends = booked.toSorted((a, b) => a.free - b.free)
  const now: Size = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
  const peak: Size = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
  let over = 0
  for (const booking of starts) {
    // An empty one never is.
    if (booking.start === booking.free) continue
    // What ends at this instant is over before what starts at it begins.
    for (; over < ends.length && ends[over]!.free <= booking.start; over++) {
      if (ends[over]!.start < ends[over]!.free) add(now, ends[over]!, -1)
    }
    add(now, booking, 1)
    for (const name of SIZES) peak[name] = Math.max(peak[name], now[name])
  }
  return peak
}

/** How many slots of this size fit into the room. */
export function slotsIn(free: Size, size: Size): number {
  let slots = Infinity
  for (const name of SIZES) {
    if (size[name] > 0) slots = Math.min(slots, Math.floor(free[name] / size[name]))
    else if (free[name] < 0) return 0
  }
  return Math.max(slots, 0)
}

export function add(to: Size, size: Size, times: number): void {
  to.vcpus += size.vcpus * times
  to.memory_mb += size.memory_mb * times
  to.disk_gb += size.disk_gb * times
}
