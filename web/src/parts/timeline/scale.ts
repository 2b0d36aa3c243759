// Time across the page. A scale is even in real time: a day on which clocks are set is 23 or 25 hours wide. What people
// count with, days and months and full hours, is reckoned in the zone that is shown.

export const ZOOMS = ['day', 'week', '2w', 'month', 'quarter'] as const
/** How much time is across. */
export type Zoom = (typeof ZOOMS)[number]

export interface Scale {
  from: number
  to: number
  /** In pixels. */
  width: number
  zoom: Zoom
  zone: string
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const LENGTHS: Readonly<Record<Zoom, { days: number } | { months: number }>> = {
  day: { days: 1 },
  week: { days: 7 },
  '2w': { days: 14 },
  month: { months: 1 },
  quarter: { months: 3 },
}
const SNAPS: Readonly<Record<Zoom, { ms: number } | { hours: number } | 'day'>> = {
  day: { ms: 15 * MINUTE_MS },
  week: { ms: HOUR_MS },
  '2w': { ms: HOUR_MS },
  month: { hours: 6 },
  quarter: 'day',
}
/** So near does a neighbour's end draw. */
const DRAW_PX = 6

export const zonedAt = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone)

export const xOf = ({ from, to, width }: Scale, at: number): number => ((at - from) / (to - from)) * width
export const timeAt = ({ from, to, width }: Scale, x: number): number => from + (x / width) * (to - from)

export const startOfDay = (at: number, zone: string): number => zonedAt(at, zone).startOfDay().epochMilliseconds

/** The same time of the day, so many lengths of a zoom later. */
export const later = (at: number, zoom: Zoom, zone: string, times = 1): number => {
  const length = LENGTHS[zoom]
  const step = 'days' in length ? { days: length.days * times } : { months: length.months * times }
  return zonedAt(at, zone).add(step).epochMilliseconds
}

/** The grid of a zoom: on it or before, and after. */
export function gridBefore(at: number, zoom: Zoom, zone: string): number {
  const snap = SNAPS[zoom]
  const wall = zonedAt(at, zone)
  if (snap === 'day') return wall.startOfDay().epochMilliseconds
  if ('ms' in snap) {
    const offset = wall.offsetNanoseconds / 1e6
    return Math.floor((at + offset) / snap.ms) * snap.ms - offset
  }
  const hour = wall.hour - (wall.hour % snap.hours)
  return wall.startOfDay().withPlainTime({ hour }).epochMilliseconds
}

export function gridAfter(at: number, zoom: Zoom, zone: string): number {
  const snap = SNAPS[zoom]
  const before = gridBefore(at, zoom, zone)
  if (snap === 'day') return zonedAt(before, zone).add({ days: 1 }).epochMilliseconds
  if ('ms' in snap) return before + snap.ms
  const wall = zonedAt(before, zone)
  const next = wall.hour + snap.hours
  const day = wall.startOfDay()
  return (next < 24 ? day.withPlainTime({ hour: next }) : day.add({ days: 1 })).epochMilliseconds
}

/** The next place of the grid in a direction: where a cursor goes. */
export const stepOnGrid = (at: number, steps: number, { zoom, zone }: Pick<Scale, 'zoom' | 'zone'>): number => {
  let found = at
  for (let left = Math.abs(steps); left > 0; left--)
    found = steps > 0 ? gridAfter(found, zoom, zone) : gridBefore(found - 1, zoom, zone)
  return found
}

/** The nearest place of the grid, or of a neighbour's end that is near. */
export function snapped(at: number, scale: Scale, neighbours: readonly number[] = []): number {
  const perPixel = (scale.to - scale.from) / scale.width
  const near = nearest(at, neighbours)
  if (near !== null && Math.abs(near - at) <= DRAW_PX * perPixel) return near
  const before = gridBefore(at, scale.zoom, scale.zone)
  const after = gridAfter(at, scale.zoom, scale.zone)
  return at - before <= after - at ? before : after
}

function nearest(at: number, times: readonly number[]): number | null {
  let found: number | null = null
  for (const time of times) if (found === null || Math.abs(time - at) < Math.abs(found - at)) found = time
  return found
}

interface View {
  from: number
  zoom: Zoom
}

interface Room {
  zone: string
  /** Pixels across. */
  width: number
  /** So many pixels a zoom needs at least: a narrow page shows a part of it. */
  leastWidth: number
}

/** What is across, from here on. */
export function scaleOf({ from, zoom }: View, { zone, width, leastWidth }: Room): Scale {
  const end = later(from, zoom, zone)
  const to = width >= leastWidth ? end : Math.round(from + (end - from) * (width / leastWidth))
  return { from, to, width, zoom, zone }
}

/** Where another zoom has to begin, for this instant to stay under the pointer. */
export function zoomedAt(scale: Scale, zoom: Zoom, x: number, room: Room): View {
  const at = timeAt(scale, x)
  const share = x / scale.width
  const { from, to } = scaleOf({ from: at, zoom }, room)
  return { from: Math.round(at - (to - from) * share), zoom }
}

export const nextZoom = (zoom: Zoom, step: 1 | -1): Zoom => ZOOMS[ZOOMS.indexOf(zoom) + step] ?? zoom
