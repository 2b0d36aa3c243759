// What one has, by when it ends: in the next hours, today, tonight, tomorrow, later, never.
import type { Machine } from '../../../../src/client/status.ts'

export type GroupName = 'soon' | 'today' | 'tonight' | 'tomorrow' | 'later' | 'endless'

export interface Group {
  name: GroupName
  machines: Machine[]
}

interface Moment {
  now: number
  zone: string
}

const HOUR_MS = 3_600_000
const SOON_MS = 4 * HOUR_MS
const MORNING = 6
const EVENING = 18

/** Until when each group goes, in order. Before the morning it is still last night. */
function endsAt({ now, zone }: Moment): [GroupName, number][] {
  const wall = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone)
  const at = (days: number, hour: number) => wall.startOfDay().add({ days }).withPlainTime({ hour }).epochMilliseconds
  const soon: [GroupName, number] = ['soon', now + SOON_MS]
  if (wall.hour < MORNING) return [soon, ['tonight', at(0, MORNING)], ['today', at(1, 0)], ['tomorrow', at(2, 0)]]
  return [soon, ['today', at(0, EVENING)], ['tonight', at(1, MORNING)], ['tomorrow', at(2, 0)]]
}

/** Those that end next come first; those without an end last. */
export function groupsOf(machines: readonly Machine[], moment: Moment): Group[] {
  const ends = endsAt(moment)
  const nameOf = ({ until }: Machine): GroupName => {
    if (until === null) return 'endless'
    const end = Date.parse(until)
    return ends.find(([, last]) => end <= last)?.[0] ?? 'later'
  }
  const byName = Map.groupBy(byEnd(machines), nameOf)
  const order = [...ends.map(([name]) => name), 'later', 'endless'] as const
  return order.flatMap(name => (byName.has(name) ? [{ name, machines: byName.get(name)! }] : []))
}

export const byEnd = (machines: readonly Machine[]): Machine[] =>
  machines.toSorted((a, b) => endOf(a) - endOf(b) || (a.name ?? a.uuid).localeCompare(b.name ?? b.uuid))

const endOf = ({ until }: Machine) => (until === null ? Infinity : Date.parse(until))

/** How many end before which full hour, at least four hours from now. */
export function endingSoon(machines: readonly Machine[], { now, zone }: Moment): { count: number; before: number } {
  const wall = Temporal.Instant.fromEpochMilliseconds(now + SOON_MS).toZonedDateTimeISO(zone)
  const before = wall.round({ smallestUnit: 'hour', roundingMode: 'ceil' }).epochMilliseconds
  return { count: machines.filter(machine => endOf(machine) < before).length, before }
}

interface Axis {
  from: number
  to: number
  /** Midnights, with the day that begins. */
  days: { at: number; day: string }[]
}

const AXIS_DAYS = 3

/** The axis that all bars are drawn on: from now, a few days. */
export function axisOf({ now, zone }: Moment): Axis {
  const wall = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone)
  const days = Array.from({ length: AXIS_DAYS }, (_, place) => {
    const at = wall.startOfDay().add({ days: place + 1 })
    return { at: at.epochMilliseconds, day: at.toLocaleString('en-GB', { weekday: 'short' }) }
  })
  return { from: now, to: wall.add({ days: AXIS_DAYS }).epochMilliseconds, days }
}

/** In percent of the axis. */
export const placeOn = ({ from, to }: Axis, at: number): number =>
  Math.max(0, Math.min(100, ((at - from) / (to - from)) * 100))
