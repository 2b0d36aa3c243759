// The lines and labels of a scale: days by the zone that is shown, hours within a day, weeks where days are too narrow.
import { words } from '../../words.ts'
import { later, type Scale, startOfDay, zonedAt } from './scale.ts'

export interface Tick {
  at: number
  /** Where the next begins. */
  end: number
  /** `Mon`, and `16`: the first is said more quietly. Both empty where there is no room. */
  weak: string
  strong: string
  isWeekend: boolean
  /** Begins something larger: a day among hours, a week among days, a month among weeks. */
  isMajor: boolean
}

const HOUR_MS = 3_600_000
/** Pixels that a label needs. */
const HOUR_PX = 40
const DAY_PX = 50
const NUMBER_PX = 20
const HOUR_STEPS = [1, 2, 3, 6, 12, 24]

const pixels = ({ from, to, width }: Scale, ms: number) => (ms / (to - from)) * width
const two = (number: number) => String(number).padStart(2, '0')

export function ticksOf(scale: Scale): Tick[] {
  if (scale.zoom === 'day') return hoursOf(scale)
  return scale.zoom === 'quarter' ? weeksOf(scale) : daysOf(scale)
}

/** Quiet lines between the ticks. */
export function linesOf(scale: Scale): number[] {
  if (scale.zoom !== 'week') return []
  const hours = hoursOf(scale, 6)
  return hours.filter(({ isMajor }) => !isMajor).map(({ at }) => at)
}

/** From when to when it is the end of a week. */
export const weekendsOf = (scale: Scale): { from: number; to: number }[] =>
  daysIn(scale)
    .filter(({ wall }) => wall.dayOfWeek > 5)
    .map(({ at, end }) => ({ from: at, to: end }))

interface Day {
  at: number
  end: number
  wall: Temporal.ZonedDateTime
}

/** The days that were reckoned last. Whoever pans asks for the same ones again and again. */
let known: { zone: string; from: number; to: number; days: readonly Day[] } | null = null
const MARGIN_MS = 10 * 24 * HOUR_MS

function daysIn({ from, to, zone }: Scale): Day[] {
  if (known?.zone !== zone || known.from > from || known.to < to) {
    const wide = { from: from - MARGIN_MS, to: to + MARGIN_MS }
    known = { zone, ...wide, days: daysBetween(wide.from, wide.to, zone) }
  }
  return known.days.filter(({ at, end }) => end > from && at < to)
}

function daysBetween(from: number, to: number, zone: string): Day[] {
  const days: Day[] = []
  for (let at = startOfDay(from, zone); at < to;) {
    const end = startOfDay(later(at, 'day', zone), zone)
    days.push({ at, end, wall: zonedAt(at, zone) })
    at = end
  }
  return days
}

function daysOf(scale: Scale): Tick[] {
  const each = pixels(scale, 24 * HOUR_MS)
  return daysIn(scale).map(({ at, end, wall }) => {
    const isMonday = wall.dayOfWeek === 1
    const isLabelled = each >= NUMBER_PX || isMonday
    const isNamed = each >= DAY_PX
    const day = String(wall.day)
    const month = words.time.months[wall.month - 1]!
    const strong = wall.day > 1 ? day : isNamed ? dateOf(wall) : month
    return {
      at,
      end,
      weak: isNamed ? words.time.weekdays[wall.dayOfWeek - 1]! : '',
      strong: isLabelled ? strong : '',
      isWeekend: wall.dayOfWeek > 5,
      isMajor: isMonday,
    }
  })
}

const dateOf = ({ day, month }: Temporal.ZonedDateTime) => `${day} ${words.time.months[month - 1]}`

function hoursOf(scale: Scale, least?: number): Tick[] {
  const step = least ?? HOUR_STEPS.find(hours => pixels(scale, hours * HOUR_MS) >= HOUR_PX) ?? 24
  const ticks = daysIn(scale).flatMap(({ at: day, end, wall }) => {
    const hours: Tick[] = []
    for (let at = day; at < end; at += HOUR_MS) {
      const { hour, dayOfWeek } = zonedAt(at, scale.zone)
      if (hour % step !== 0) continue
      const isMajor = at === day
      hours.push({
        at,
        end,
        weak: isMajor ? words.time.weekdays[dayOfWeek - 1]! : '',
        strong: isMajor ? String(wall.day) : `${two(hour)}:00`,
        isWeekend: false,
        isMajor,
      })
    }
    return hours
  })
  return ticks
    .map((tick, place) => ({ ...tick, end: ticks[place + 1]?.at ?? tick.end }))
    .filter(({ at, end }) => end > scale.from && at < scale.to)
}

function weeksOf(scale: Scale): Tick[] {
  const mondays = daysIn(scale).filter(({ wall }, place) => place === 0 || wall.dayOfWeek === 1)
  let month = 0
  return mondays.map(({ at, wall }, place) => {
    const isMajor = wall.month !== month
    month = wall.month
    return {
      at,
      end: mondays[place + 1]?.at ?? scale.to,
      weak: '',
      strong: dateOf(wall),
      isWeekend: false,
      isMajor: isMajor && place > 0,
    }
  })
}
