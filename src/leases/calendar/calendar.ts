// The calendar: what is booked when, and how much of a host or node is free in a window. Pure functions over half-open
// intervals: a booking that ends when another starts doesn't meet it.
import type { Facts } from '../pool/properties.ts'
import type { ProviderId } from '../../store/schema/ids.ts'

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
  /** Of a node that was given: as what it is allocated. */
  allocation?: string | null
}

/** A host or node that can be booked, as far as the calendar cares. */
export interface Leasable {
  id: ProviderId
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

function isInTheWay(other: Booked, { start, free }: Window, except: string | null, now: number): boolean {
  if (other.start >= free || other.lease === except || other.reservation === except) return false
  const until = other.free <= now ? now + OVERTIME_MS : other.free
  return until > start && start < free && other.start < until
}

/**
 * Start and end of each booking, side by side. A large pool has a hundred thousand bookings, and going from object to object
 * takes ten times as long as reading numbers in a row. Lists of bookings are never changed, only replaced.
 */
const SPANS = new WeakMap<readonly Booked[], Float64Array>()

function spansOf(booked: readonly Booked[]): Float64Array {
  const known = SPANS.get(booked)
  if (known) return known
  const spans = new Float64Array(booked.length * 2)
  booked.forEach(({ start, free }, i) => spans.set([start, free], i * 2))
  SPANS.set(booked, spans)
  return spans
}

/** The bookings that are in the way of the window; null when there are none, as for most of a large pool. */
function inTheWay({ booked }: Leasable, window: Window, except: string | null, now: number): Booked[] | null {
  if (booked.length === 0) return null
  const spans = spansOf(booked)
  const { start, free } = window
  let met: Booked[] | null = null
  for (let i = 0; i < booked.length; i++) {
    const until = spans[i * 2 + 1]!
    if (spans[i * 2]! >= free || (until <= start && until > now)) continue
    const other = booked[i]!
    if (isInTheWay(other, window, except, now)) (met ??= []).push(other)
  }
  return met
}

/** Whether anyone has anything of it in the window. */
export function isTouched(leasable: Leasable, window: Window, except: string | null, now = -Infinity): boolean {
  return inTheWay(leasable, window, except, now) !== null
}

/**
 * What is free throughout the window, leaving out what the given lease or reservation has itself. Whatever should be over
 * by `now` and is still there is in use for at least a moment more.
 */
export function roomIn(leasable: Leasable, window: Window, except: string | null, now = -Infinity): Room {
  const { capacity } = leasable
  const met = inTheWay(leasable, window, except, now)
  if (met === null) return { free: { ...capacity }, isUntouched: true, isTaken: false }
  const { vcpus, memory_mb, disk_gb } = peakOf(met)
  return {
    free: {
      vcpus: capacity.vcpus - vcpus,
      memory_mb: capacity.memory_mb - memory_mb,
      disk_gb: capacity.disk_gb - disk_gb,
    },
    isUntouched: false,
    isTaken: met.some(({ isWhole }) => isWhole),
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
