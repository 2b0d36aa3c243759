// The axis of a calendar in a terminal: which instants have a label, and in which column. Columns are equally long in
// real time, so a day on which the clocks change is 23 or 25 hours wide.

export interface TimeWindow {
  from: number
  to: number
  /** An IANA name, such as Europe/Berlin. */
  zone: string
  columns: number
}

interface Axis {
  /** Two lines of the window's width: days over hours, or months over days. */
  lines: readonly [string, string]
  /** The columns in which a label begins. */
  ticks: ReadonlySet<number>
}

type Zoned = Temporal.ZonedDateTime
type Above = 'day' | 'month' | 'year'

interface Step {
  /** How many of the unit are between two labels. */
  every: number
  unit: 'minutes' | 'days' | 'weeks' | 'months'
  /** The widest label. */
  room: number
  label: (at: Zoned) => string
  above: Above
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const dayOf = (at: Zoned) => DAYS[at.dayOfWeek - 1]!
const monthOf = (at: Zoned) => MONTHS[at.month - 1]!
const clockOf = (at: Zoned) => at.toPlainTime().toString({ smallestUnit: 'minute' })

const minutes = (every: number): Step => ({ every, unit: 'minutes', room: 5, label: clockOf, above: 'day' })

/** From fine to coarse: the first that fits is taken. */
const STEPS: readonly Step[] = [
  ...[5, 15, 30, 60, 120, 180, 360, 720].map(minutes),
  { every: 1, unit: 'days', room: 6, label: at => `${dayOf(at)} ${at.day}`, above: 'month' },
  { every: 1, unit: 'days', room: 2, label: at => String(at.day), above: 'month' },
  { every: 1, unit: 'weeks', room: 6, label: at => `${dayOf(at)} ${at.day}`, above: 'month' },
  { every: 1, unit: 'months', room: 3, label: monthOf, above: 'year' },
  { every: 3, unit: 'months', room: 3, label: monthOf, above: 'year' },
  { every: 12, unit: 'months', room: 4, label: at => String(at.year), above: 'year' },
]

/** Words for what stands above, from long to short. */
const ABOVE: Record<Above, (at: Zoned) => readonly string[]> = {
  day: at => [`${dayOf(at)} ${at.day} ${monthOf(at)}`, `${dayOf(at)} ${at.day}`, dayOf(at)],
  month: at => [`${monthOf(at)} ${at.year}`, monthOf(at)],
  year: at => [String(at.year)],
}

const UNIT_MS = { minutes: 60_000, days: 86_400_000, weeks: 604_800_000, months: 28 * 86_400_000 }

/** The column of an instant; outside of the window below 0, or from `columns` on. */
export const columnOf = (at: number, { from, to, columns }: TimeWindow) =>
  Math.floor(((at - from) / (to - from)) * columns)

export function axisOf(window: TimeWindow): Axis {
  for (const step of STEPS) {
    const labels = labelsBy(step, window)
    if (labels === null) continue
    const above = step.unit === 'months' && step.every === 12 ? [] : labelsAbove(step.above, window)
    return {
      lines: [lineOf(above, window.columns), lineOf(labels, window.columns)],
      ticks: new Set(labels.map(({ column }) => column)),
    }
  }
  return { lines: [' '.repeat(window.columns), ' '.repeat(window.columns)], ticks: new Set() }
}

interface Label {
  column: number
  text: string
}

/** null if they would touch each other. */
function labelsBy(step: Step, window: TimeWindow): Label[] | null {
  const { from, to, columns } = window
  const most = (to - from) / (UNIT_MS[step.unit] * step.every)
  // Asked first: a year has many minutes. One label may be out of sight on either side.
  if ((most - 2) * (step.room + 1) > columns) return null
  const labels: Label[] = []
  for (const at of ticksBy(step, window)) {
    const column = columnOf(at.epochMilliseconds, window)
    const before = labels.at(-1)
    if (before && column < before.column + step.room + 1) return null
    labels.push({ column, text: step.label(at) })
  }
  return labels
}

function* ticksBy({ every, unit }: Step, { from, to, zone }: TimeWindow): Generator<Zoned> {
  const first = zonedAt(from, zone)
  const isIn = (at: Zoned) => at.epochMilliseconds >= from && at.epochMilliseconds < to
  if (unit === 'minutes') {
    for (let day = first.startOfDay(); day.epochMilliseconds < to; day = day.add({ days: 1 }).startOfDay()) {
      yield* timesOf(day, every).filter(isIn)
    }
    return
  }
  for (let at = beginning(first, every, unit); at.epochMilliseconds < to; at = at.add({ [unit]: every }).startOfDay()) {
    if (isIn(at)) yield at
  }
}

/** By the clock on the wall: an hour that the clocks skip is left out, one that they repeat is there once. */
function timesOf(day: Zoned, everyMinutes: number): Zoned[] {
  const times: Zoned[] = []
  for (let minute = 0; minute < 24 * 60; minute += everyMinutes) {
    const plainTime = new Temporal.PlainTime(Math.floor(minute / 60), minute % 60)
    const at = day.toPlainDate().toZonedDateTime({ timeZone: day.timeZoneId, plainTime })
    if (at.toPlainTime().equals(plainTime)) times.push(at)
  }
  return times
}

function beginning(at: Zoned, every: number, unit: 'days' | 'weeks' | 'months'): Zoned {
  const day = at.startOfDay()
  if (unit === 'days') return day
  if (unit === 'weeks') return day.subtract({ days: day.dayOfWeek - 1 }).startOfDay()
  return day.with({ day: 1, month: day.month - ((day.month - 1) % every) }).startOfDay()
}

/** One label for each day, month or year of which enough is seen. */
function labelsAbove(above: Above, window: TimeWindow): Label[] {
  const { from, to, zone, columns } = window
  const starts = [zonedAt(from, zone)]
  for (;;) {
    const next = nextOf(starts.at(-1)!, above)
    if (next.epochMilliseconds >= to) break
    starts.push(next)
  }
  return starts.flatMap((at, place) => {
    const column = columnOf(at.epochMilliseconds, window)
    const end = place + 1 < starts.length ? columnOf(starts[place + 1]!.epochMilliseconds, window) : columns + 1
    const text = ABOVE[above](at).find(words => words.length < end - column)
    return text === undefined ? [] : [{ column, text }]
  })
}

function nextOf(at: Zoned, above: Above): Zoned {
  const day = at.startOfDay()
  if (above === 'day') return day.add({ days: 1 }).startOfDay()
  if (above === 'month') return day.with({ day: 1 }).add({ months: 1 }).startOfDay()
  return day.with({ day: 1, month: 1 }).add({ years: 1 }).startOfDay()
}

const zonedAt = (ms: number, zone: string): Zoned => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)

/** A label that would reach beyond the end is left out. */
function lineOf(labels: readonly Label[], columns: number): string {
  const line = labels.reduce(
    (text, label) => (label.column + label.text.length > columns ? text : text.padEnd(label.column) + label.text),
    '',
  )
  return line.padEnd(columns)
}
