// What the address says of the calendar: from when, how much time, which rows. What it doesn't say follows today.
import { startOfDay, type Zoom, zonedAt, ZOOMS } from '../../parts/timeline/scale.ts'
import { words } from '../../words.ts'

export const ROWS = ['class,rack', 'class', 'rack', 'machine', 'host', 'project'] as const
export type Rows = (typeof ROWS)[number]

/** Where the time begins: with a day of the zone that is shown, or at an instant; null with today. */
type Start = { day: string } | { at: number } | null

export interface View {
  start: Start
  zoom: Zoom
}

type Query = Readonly<Record<string, string | string[] | undefined>>

const oneOf = <T extends string>(all: readonly T[], value: string | string[] | undefined, otherwise: T): T =>
  all.find(one => one === value) ?? otherwise

export const viewIn = (query: Query): View => ({
  start: startIn([query['from'] ?? ''].flat()[0]!),
  zoom: oneOf(ZOOMS, query['span'], '2w'),
})
export const rowsIn = (query: Query): Rows => oneOf(ROWS, query['rows'], 'class,rack')

function startIn(text: string): Start {
  try {
    if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return { day: Temporal.PlainDate.from(text).toString() }
    return /^\d{4}-\d{2}-\d{2}T.+Z$/.test(text) ? { at: Temporal.Instant.from(text).epochMilliseconds } : null
  } catch (error) {
    // There is no such day or hour.
    if (error instanceof RangeError) return null
    throw error
  }
}

/** A day if it begins one. Instants are in UTC, so that they mean the same wherever the address is opened. */
export const startOf = (at: number, zone: string): Start =>
  startOfDay(at, zone) === at ? { day: zonedAt(at, zone).toPlainDate().toString() } : { at }

export const startText = (start: Start): string | null => {
  if (start === null) return null
  return 'day' in start ? start.day : `${new Date(start.at).toISOString().slice(0, 16)}Z`
}

/** More of the past than this share is a waste: there is nothing in it. */
const PAST_MAX = 0.25
const PAST_LEFT = 0.1
const HOUR_MS = 3_600_000

interface Shown {
  now: number
  zone: string
  /** How much time is in view. */
  length: number
}

export function instantOf(start: Start, { now, zone, length }: Shown): number {
  if (start === null) {
    const day = startOfDay(now, zone)
    if (now - day <= PAST_MAX * length) return day
    return Math.floor((now - PAST_LEFT * length) / HOUR_MS) * HOUR_MS
  }
  if ('at' in start) return start.at
  return Temporal.PlainDate.from(start.day).toZonedDateTime(zone).epochMilliseconds
}

/** `15 – 28 November`, `28 Nov – 4 Dec`, `Mon 16 November`. */
export function rangeShown({ from, to, zone }: { from: number; to: number; zone: string }, now: number): string {
  const [first, last] = [zonedAt(from, zone), zonedAt(to - 1, zone)]
  const thisYear = zonedAt(now, zone).year
  const year = (wall: Temporal.ZonedDateTime) => (wall.year === thisYear ? '' : ` ${wall.year}`)
  const date = (wall: Temporal.ZonedDateTime) => `${wall.day} ${words.time.fullMonths[wall.month - 1]}`
  const short = (wall: Temporal.ZonedDateTime) => `${wall.day} ${words.time.months[wall.month - 1]}`
  if (first.toPlainDate().equals(last.toPlainDate()))
    return `${words.time.weekdays[first.dayOfWeek - 1]} ${date(first)}${year(first)}`
  if (first.year !== last.year) return `${short(first)} ${first.year} – ${short(last)} ${last.year}`
  if (first.month !== last.month) return `${short(first)} – ${short(last)}${year(last)}`
  return `${first.day} – ${date(last)}${year(last)}`
}

export interface Window {
  from: number
  to: number
}

/** Spans can be asked for of at most so long. */
const WINDOW_MS_MAX = 399 * 24 * HOUR_MS

/** What is to be loaded for a view: what is loaded already as long as it is enough, else with room on both sides. */
export function windowFor(shown: Window, loaded: Window | null): Window {
  if (loaded && loaded.from <= shown.from && shown.to <= loaded.to) return loaded
  const length = shown.to - shown.from
  const room = Math.min(length, Math.max(0, (WINDOW_MS_MAX - length) / 2))
  return { from: shown.from - room, to: shown.to + room }
}
