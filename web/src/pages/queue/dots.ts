// Where the dots of a chart stand: every machine that suits at the end of what has it, one above the other where they
// would touch. Sizes are those of a root font of 16 px.

export interface Suit {
  uuid: string
  state: string
  /** When it comes free; null if nobody can tell. */
  end: number | null
}

interface ChartWanted {
  now: number
  /** Of the part with the time axis. */
  width: number
  suits: readonly Suit[]
  start: number | null
  givesUp: number | null
}

interface Chart {
  to: number
  dots: { uuid: string; state: string; x: number; level: number }[]
  /** Columns with more dots than there is room for. */
  more: { x: number; count: number }[]
  noEnd: readonly Suit[]
  later: readonly Suit[]
}

const HOUR_MS = 3_600_000
/** What ends later is told apart: it would press the rest together. */
const HORIZON_MS = 14 * 24 * HOUR_MS
const SHORTEST_MS = 6 * HOUR_MS
const DOT_WIDTH = 13
const LEVELS_MAX = 7

export function chartOf({ now, width, suits, start, givesUp }: ChartWanted): Chart {
  const noEnd = suits.filter(({ end }) => end === null)
  const later = suits.filter(({ end }) => end !== null && end - now > HORIZON_MS)
  const near = suits.filter(({ end }) => end !== null && end - now <= HORIZON_MS) as (Suit & { end: number })[]
  const marks = [start, givesUp].filter(at => at !== null).map(at => Math.min(at, now + HORIZON_MS))
  const last = Math.max(now + SHORTEST_MS, ...near.map(({ end }) => end), ...marks)
  // A little room to the right of the last one.
  const to = now + (last - now) * 1.08
  const columns = new Map<number, number>()
  const dots: Chart['dots'] = []
  const more = new Map<number, number>()
  for (const { uuid, state, end } of near.toSorted((a, b) => a.end - b.end)) {
    const x = (Math.max(0, end - now) / (to - now)) * width
    const column = columnOf(columns, x)
    const level = columns.get(column)!
    columns.set(column, level + 1)
    if (level < LEVELS_MAX) dots.push({ uuid, state, x: column, level })
    else more.set(column, (more.get(column) ?? 0) + 1)
  }
  // Where some have no room, the word that says so takes the place of the highest dot.
  const seen = dots.filter(({ x, level }) => level < LEVELS_MAX - 1 || !more.has(x))
  return { to, dots: seen, more: [...more].map(([x, count]) => ({ x, count: count + 1 })), noEnd, later }
}

/** The column that is near enough, or a new one. */
function columnOf(columns: Map<number, number>, x: number): number {
  const near = [...columns.keys()].findLast(column => x - column < DOT_WIDTH)
  if (near !== undefined) return near
  columns.set(x, 0)
  return x
}

const STEPS_HOURS = [1, 2, 3, 6, 12, 24, 48, 168]
/** A label with the room around it. */
const LABEL_WIDTH = 84

/** Round instants in the zone that times are shown in. */
export function ticksOf({ now, to, width, zone }: { now: number; to: number; width: number; zone: string }): number[] {
  const most = Math.max(1, Math.floor(width / LABEL_WIDTH))
  const step = STEPS_HOURS.find(hours => (to - now) / (hours * HOUR_MS) <= most) ?? STEPS_HOURS.at(-1)!
  const midnight = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay()
  const ticks: number[] = []
  for (let at = 0; ticks.length <= most; at++) {
    // By the wall clock: a day of 23 hours has its midnight too.
    const days = Math.floor((at * step) / 24)
    const instant = midnight
      .add({ days })
      .toPlainDateTime()
      .add({ hours: (at * step) % 24 })
      .toZonedDateTime(zone)
    if (instant.epochMilliseconds >= to) break
    if (instant.epochMilliseconds > now) ticks.push(instant.epochMilliseconds)
  }
  return ticks
}
