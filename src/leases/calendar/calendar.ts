// The calendar: what is booked when, and how much of a host or node is free in a window. Pure functions over half-open
// intervals: a booking that ends when another starts doesn't overlap it.
import type { Facts } from '../pool/properties.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Extras } from '../../store/schema/leases.ts'

export interface Window {
  start: number
  /** When the host or node is free again: the end plus the time for cleaning. */
  free: number
}

export interface Size {
  vcpus: number
  memory_mb: number
  disk_gb: number
  /** Amounts of other resource classes; absent for most bookings. */
  extras?: Extras | undefined
}

/** What one reservation has of one host or node. */
export interface Booked extends Window, Size {
  lease: string
  reservation: string
  /** Without the time for cleaning. */
  end: number
  slots: number
  /** Nobody else may book a part of it. */
  isWhole: boolean
  /** The uuid of the allocation, for a node that was given to the lease. */
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

/** The free capacity of one host or node in one window. */
export interface Room {
  free: Size
  /** It has no bookings in the window. */
  isUntouched: boolean
  /** It is booked as a whole in the window. */
  isTaken: boolean
}

/** An overdue booking counts as in use for at least this much longer. */
const OVERTIME_MS = 60_000

export const SIZES = ['vcpus', 'memory_mb', 'disk_gb'] as const

/** The names of all that a size has amounts of: the three sizes, and classes. */
export const namesIn = ({ extras }: Size): string[] => [...SIZES, ...Object.keys(extras ?? {})]

export const amountIn = (size: Size, name: string): number =>
  (SIZES as readonly string[]).includes(name) ? size[name as (typeof SIZES)[number]] : (size.extras?.[name] ?? 0)

export const isWithin = (use: Size, capacity: Size): boolean =>
  namesIn(use).every(name => amountIn(use, name) <= amountIn(capacity, name))

/** Whether two windows overlap. An empty one, of a lease that ended as it began, overlaps nothing. */
export const meets = (a: Window, b: Window): boolean =>
  a.start < b.free && b.start < a.free && a.start < a.free && b.start < b.free

function isInTheWay(other: Booked, { start, free }: Window, except: string | null, now: number): boolean {
  if (other.start >= free || other.lease === except || other.reservation === except) return false
  const until = other.free <= now ? now + OVERTIME_MS : other.free
  return until > start && start < free && other.start < until
}

/**
 * Caches the start and end of each booking, side by side. A large pool has a hundred thousand bookings, and reading
 * them from objects takes ten times as long as from an array. Lists of bookings are never changed, only replaced.
 */
const SPANS = new WeakMap<readonly Booked[], Float64Array>()

function spansOf(booked: readonly Booked[]): Float64Array {
  const known = SPANS.get(booked)
  if (known) return known
  const spans = writeSpans(new Float64Array(booked.length * 2), booked, 0)
  SPANS.set(booked, spans)
  return spans
}

function writeSpans(spans: Float64Array, booked: readonly Booked[], from: number): Float64Array {
  for (let i = from; i < booked.length; i++) {
    spans[i * 2] = booked[i]!.start
    spans[i * 2 + 1] = booked[i]!.free
  }
  return spans
}

/** The bookings that overlap the window; null when there are none, as for most of a large pool. */
function inTheWay(
  { booked }: Pick<Leasable, 'booked'>,
  window: Window,
  except: string | null,
  now: number,
): Booked[] | null {
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

/** Whether it has bookings in the window. */
export function isTouched(leasable: Leasable, window: Window, except: string | null, now = -Infinity): boolean {
  return inTheWay(leasable, window, except, now) !== null
}

/**
 * The capacity that is free throughout the window. Bookings of the lease or reservation `except` don't count. A booking
 * that should have ended by `now` and still exists counts as in use for a while longer.
 */
export function roomIn(leasable: Leasable, window: Window, except: string | null, now = -Infinity): Room {
  const { capacity } = leasable
  const met = inTheWay(leasable, window, except, now)
  if (met === null) return { free: { ...capacity }, isUntouched: true, isTaken: false }
  const free = { ...capacity }
  add(free, peakOf(met), -1)
  return {
    free,
    isUntouched: false,
    isTaken: met.some(({ isWhole }) => isWhole),
  }
}

/**
 * The highest use of each resource at any instant. Bookings that overlap a window and each other overlap inside it, so
 * for the bookings that overlap a window this is the peak inside it.
 */
export function peakOf(booked: readonly Booked[]): Size {
  if (booked.length === 1) return booked[0]!
  const starts = booked.toSorted((a, b) => a.start - b.start)
  const ends = booked.toSorted((a, b) => a.free - b.free)
  const now: Size = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
  const peak: Size = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
  let over = 0
  for (const booking of starts) {
    // An empty booking uses nothing.
    if (booking.start === booking.free) continue
    // At the same instant, ends come before starts.
    for (; over < ends.length && ends[over]!.free <= booking.start; over++) {
      if (ends[over]!.start < ends[over]!.free) add(now, ends[over]!, -1)
    }
    add(now, booking, 1)
    for (const name of SIZES) peak[name] = Math.max(peak[name], now[name])
    if (booking.extras) peak.extras = { ...peak.extras, ...highest(booking.extras, peak, now) }
  }
  return peak
}

/** The peak of each list that it was asked of. */
const PEAKS = new WeakMap<readonly Booked[], Size>()

/** The highest use of each resource by all bookings of a host or node. */
export const wholePeakOf = ({ booked }: Pick<Leasable, 'booked'>): Size =>
  PEAKS.getOrInsertComputed(booked, () => peakOf(booked))

/** The bookings with some more. What is known of the others is kept: a popular host has thousands. */
export function withMore(leasable: Pick<Leasable, 'booked'>, more: readonly Booked[]): readonly Booked[] {
  const { booked } = leasable
  const all = [...booked, ...more]
  const spans = new Float64Array(all.length * 2)
  spans.set(spansOf(booked))
  SPANS.set(all, writeSpans(spans, all, booked.length))
  // The peak can only rise where something is added.
  const peaks = more.map(one => peakOf(inTheWay({ booked: all }, one, null, -Infinity) ?? []))
  PEAKS.set(all, peaks.reduce(higher, wholePeakOf(leasable)))
  return all
}

function higher(a: Size, b: Size): Size {
  const peak: Size = {
    vcpus: Math.max(a.vcpus, b.vcpus),
    memory_mb: Math.max(a.memory_mb, b.memory_mb),
    disk_gb: Math.max(a.disk_gb, b.disk_gb),
  }
  if (a.extras || b.extras) peak.extras = { ...a.extras, ...highest(b.extras ?? {}, a, b) }
  return peak
}

/** The peaks of these classes, with a higher use now. */
const highest = (classes: Extras, peak: Size, now: Size): Extras =>
  Object.fromEntries(Object.keys(classes).map(name => [name, Math.max(amountIn(peak, name), amountIn(now, name))]))

/** How many slots of this size fit. */
export function slotsIn(free: Size, size: Size): number {
  let slots = Infinity
  for (const name of SIZES) {
    if (size[name] > 0) slots = Math.min(slots, Math.floor(free[name] / size[name]))
    else if (free[name] < 0) return 0
  }
  for (const [name, amount] of size.extras ? Object.entries(size.extras) : []) {
    slots = Math.min(slots, Math.floor((free.extras?.[name] ?? 0) / amount))
  }
  return Math.max(slots, 0)
}

export function add(to: Size, size: Size, times: number): void {
  to.vcpus += size.vcpus * times
  to.memory_mb += size.memory_mb * times
  to.disk_gb += size.disk_gb * times
  if (size.extras) to.extras = plus(to.extras, size.extras, times)
}

/** A new object, because sizes share theirs. */
function plus(to: Extras = {}, extras: Extras, times: number): Extras {
  const sum = { ...to }
  for (const [name, amount] of Object.entries(extras)) sum[name] = (sum[name] ?? 0) + amount * times
  return sum
}
