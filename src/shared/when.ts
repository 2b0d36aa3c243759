// Points in time and spans of time as people say them and read them, by the clock on a wall. Strict: what could mean two
// things is not understood. What is shown is read back as the same, to the minute.

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Longer than anything that makes sense here. */
const TEXT_MAX = 80
/** Spans of more than a thousand years are slips, and what is reckoned with them may be no date. */
export const SPAN_MS_MAX = 1_000 * 366 * DAY_MS
/** From here on a date has its year. */
const NEAR_DAYS = 183

export interface Around {
  now: number
  /** Of the wall clock, such as Europe/Berlin. */
  zone: string
  /** Where `fri`, `14:00` and `2h` are looked for; ahead if it isn't said. */
  toward?: 'future' | 'past'
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const WEEKDAY = '(mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)'
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const placeIn = (names: readonly string[], word: string) =>
  names.findIndex(name => word.slice(0, 3) === name.toLowerCase()) + 1

const UNITS: readonly (readonly [word: string, letter: string, ms: number])[] = [
  ['w(?:eeks?)?', 'W', 7 * DAY_MS],
  ['d(?:ays?)?', 'D', DAY_MS],
  ['h(?:ours?)?', 'H', HOUR_MS],
  ['m(?:in(?:utes?)?)?', 'M', MINUTE_MS],
  ['s(?:ec(?:onds?)?)?', 'S', 1_000],
]
const AMOUNT = String.raw`(\d{1,9}(?:\.\d{1,3})?)`
const SAID = new RegExp(`^${UNITS.map(([word]) => `(?:${AMOUNT} ?${word})?`).join(' ?')}$`)
const [WEEKS, DAYS, ...CLOCK] = UNITS.map(([, letter]) => `(?:${AMOUNT}${letter})?`)
const ISO_SPAN = new RegExp(`^P(?=.*\\d[A-Z]$)${WEEKS}${DAYS}(?:T${CLOCK.join('')})?$`)

/** `2d`, `90m`, `1d12h`, `1 h 56 min`, `PT10M`, or a number of seconds, in milliseconds; else null. A day has 24 hours. */
export function durationIn(text: string): number | null {
  const words = plain(text)
  if (/^\d{1,9}$/.test(words)) return Number(words) * 1_000
  const parts = words === '' ? null : (SAID.exec(words) ?? ISO_SPAN.exec(words))
  if (!parts) return null
  const span = Math.round(UNITS.reduce((sum, [, , ms], at) => sum + Number(parts[at + 1] ?? 0) * ms, 0))
  return span <= SPAN_MS_MAX ? span : null
}

/**
 * The instant that is meant, in milliseconds; null if that isn't clear. A day alone means its first moment. Where clocks
 * are set forward, a time that doesn't exist means as much later; where they are set back, the first of the two.
 */
export function instantIn(text: string, around: Around): number | null {
  const words = plain(text)
  if (words.toLowerCase() === 'now') return around.now
  const span = spanIn(words, around)
  if (span !== null) return around.now + span
  try {
    return wallTimeIn(words, around)
  } catch (error) {
    // A zone, a day or an hour that there isn't.
    if (error instanceof RangeError) return null
    throw error
  }
}

const plain = (text: string) => (text.length > TEXT_MAX ? '' : text.trim().replaceAll(/\s+/g, ' '))

function spanIn(words: string, { toward }: Around): number | null {
  const [, ahead, said = '', ago] = /^(in |\+ ?)?(.+?)( ago)?$/i.exec(words) ?? []
  // A number alone may be an hour, a day or a year.
  const span = /^\d*$/.test(said) || (ahead && ago) ? null : durationIn(said)
  if (span === null) return null
  const isBack = ago !== undefined || (ahead === undefined && toward === 'past')
  return isBack ? -span : span
}

const TIME = String.raw`(\d{1,2})(?::(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(?: ?([ap]m))?`
const DAY_THEN_TIME = new RegExp(`^(?:(.+?)(?:(?<=\\d-\\d{2})t|,? at |,? ))?${TIME}$`)
const TIME_THEN_DAY = new RegExp(`^${TIME},? (.+)$`)

function wallTimeIn(words: string, around: Around): number | null {
  const { rest, place, offset } = zoneIn(words)
  const zone = offset ?? place ?? around.zone
  const at = instantOf(rest.toLowerCase(), { ...around, zone }, 'compatible')
  if (at === null) return place === null && offset === null ? abbreviatedIn(words, around) : null
  // With both, the offset has to be that of the place.
  const isTrue = offset === null || place === null || offsetAt(at, place) === offsetAt(at, offset)
  return isTrue ? at : null
}

/** Abbreviations mean many zones, unless it is what our own is called then. */
function abbreviatedIn(words: string, around: Around): number | null {
  const [, rest, abbreviation] = /^(.+) ([A-Z]{3,5})$/.exec(words) ?? []
  if (rest === undefined) return null
  const tries = (['compatible', 'later'] as const).map(which => instantOf(rest.toLowerCase(), around, which))
  return tries.find(at => at !== null && zoneShown(at, around.zone) === abbreviation) ?? null
}

export const offsetAt = (at: number, zone: string) => zonedOf(at, zone).offsetNanoseconds

function instantOf(
  words: string,
  { now, zone, toward = 'future' }: Around,
  disambiguation: 'compatible' | 'later',
): number | null {
  const today = zonedOf(now, zone).toPlainDate()
  const { day, time } = partsIn(words)
  const instantOn = (date: Temporal.PlainDate, on: Temporal.PlainTime) =>
    date.toPlainDateTime(on).toZonedDateTime(zone, { disambiguation }).epochMilliseconds
  if (day === null) {
    if (time === null) return null
    const at = instantOn(today, time)
    if (toward === 'past') return at <= now ? at : instantOn(today.subtract({ days: 1 }), time)
    return at > now ? at : instantOn(today.add({ days: 1 }), time)
  }
  const date = dateIn(day, today, toward)
  if (date === null) return null
  return time === null ? date.toZonedDateTime(zone).epochMilliseconds : instantOn(date, time)
}

function partsIn(words: string): { day: string | null; time: Temporal.PlainTime | null } {
  const [, day = null, ...after] = DAY_THEN_TIME.exec(words) ?? []
  const dayFirst = timeIn(after)
  if (dayFirst !== null) return { day, time: dayFirst }
  const before = TIME_THEN_DAY.exec(words)
  const timeFirst = before && timeIn(before.slice(1, 6))
  return timeFirst ? { day: before[6]!, time: timeFirst } : { day: words, time: null }
}

/** `9:00`, `09:00:30`, `9am`, `9:30 pm`. Throws if there is no such time. */
function timeIn([hour, minute, second = '0', fraction = '0', half]: readonly (string | undefined)[]) {
  if (hour === undefined || (minute === undefined && half === undefined)) return null
  const isHalf = half !== undefined
  if (isHalf && (Number(hour) < 1 || Number(hour) > 12)) throw new RangeError('no such hour')
  const hours = isHalf ? (Number(hour) % 12) + (half === 'pm' ? 12 : 0) : Number(hour)
  const parts = { hour: hours, minute: Number(minute ?? 0), second: Number(second) }
  const millisecond = Math.trunc(Number(`0.${fraction}`) * 1_000)
  return Temporal.PlainTime.from({ ...parts, millisecond }, { overflow: 'reject' })
}

const NAMED_DAY = new RegExp(`^(?:(next|last) )?${WEEKDAY}$`)
const DAY_MONTH = new RegExp(String.raw`^(?:${WEEKDAY},? )?(\d{1,2}) ${MONTH}(?:,? (\d{4}))?$`)
const MONTH_DAY = new RegExp(String.raw`^(?:${WEEKDAY},? )?${MONTH} (\d{1,2})(?:,? (\d{4}))?$`)
const RELATIVE: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 }

/** Throws if there is no such day. */
function dateIn(words: string, today: Temporal.PlainDate, toward: 'future' | 'past'): Temporal.PlainDate | null {
  const days = RELATIVE[words]
  if (days !== undefined) return today.add({ days })
  if (/^\d{4}-\d{2}-\d{2}$/.test(words)) return Temporal.PlainDate.from(words, { overflow: 'reject' })
  const [, which, named] = NAMED_DAY.exec(words) ?? []
  if (named !== undefined) return weekdayNear(today, placeIn(WEEKDAYS, named), which ?? toward)
  const [, weekday, day, month, year] = DAY_MONTH.exec(words) ?? []
  if (day !== undefined) return dateOf({ weekday, day, month: month!, year }, today, toward)
  const [, weekday2, month2, day2, year2] = MONTH_DAY.exec(words) ?? []
  if (day2 !== undefined) return dateOf({ weekday: weekday2, day: day2, month: month2!, year: year2 }, today, toward)
  return null
}

/** `tue` may be today. `next tue` is that of the week that begins with the next Monday, `last tue` the latest before today. */
function weekdayNear(today: Temporal.PlainDate, weekday: number, which: string): Temporal.PlainDate {
  const ahead = (weekday - today.dayOfWeek + 7) % 7
  if (which === 'next') return today.add({ days: weekday - today.dayOfWeek + 7 })
  if (which === 'last') return today.add({ days: ahead - 7 })
  return today.add({ days: which === 'past' && ahead > 0 ? ahead - 7 : ahead })
}

interface Written {
  weekday: string | undefined
  day: string
  month: string
  year: string | undefined
}

/** Without a year, the next such date. With a weekday, it may also be half a year over, as it is shown. */
function dateOf({ weekday, day, month, year }: Written, today: Temporal.PlainDate, toward: 'future' | 'past') {
  const falls = (date: Temporal.PlainDate) =>
    weekday === undefined || date.dayOfWeek === placeIn(WEEKDAYS, weekday) ? date : null
  const on = (inYear: number) => {
    const date = Temporal.PlainDate.from({ year: inYear, month: placeIn(MONTHS, month), day: Number(day) })
    return date.day === Number(day) ? [date] : []
  }
  if (year !== undefined) return on(Number(year)).map(falls)[0] ?? null
  // 29 Feb is up to eight years away.
  const inOrder = Array.from({ length: 17 }, (_, at) => on(today.year + at - 8)).flat()
  const isAhead = (date: Temporal.PlainDate) => Temporal.PlainDate.compare(date, today) >= 0
  const [next, previous] =
    toward === 'future'
      ? [inOrder.find(isAhead), inOrder.findLast(date => !isAhead(date))]
      : [inOrder.findLast(date => !isAhead(date) || date.equals(today)), inOrder.find(isAhead)]
  if (next && falls(next)) return next
  const isNear = previous && Math.abs(today.until(previous).days) <= NEAR_DAYS
  return weekday !== undefined && isNear ? falls(previous) : null
}

const OFFSET = /(?<=^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}\S*?) ?([+-]\d{2})(?::?(\d{2}))?$/
const FROM_UTC = /(?: |(?<=\d))(?:UTC|GMT)(?:([+-])(\d{1,2})(?::(\d{2}))?)?$/i
const PLACE = / ?\[([^[\]]+)\]$| ([A-Za-z]+(?:\/[A-Za-z0-9_+-]+)+)$/

interface Zoned {
  /** What is left when the zone is taken away. */
  rest: string
  place: string | null
  offset: string | null
}

function zoneIn(words: string): Zoned {
  const found = PLACE.exec(words)
  const place = found ? (found[1] ?? found[2]!) : null
  const rest = found ? words.slice(0, found.index) : words
  const offset = OFFSET.exec(rest)
  if (offset) return { rest: rest.slice(0, offset.index), place, offset: `${offset[1]}:${offset[2] ?? '00'}` }
  if (found) return { rest, place, offset: null }
  if (/\dZ$/i.test(rest)) return { rest: rest.slice(0, -1), place: 'UTC', offset: null }
  const fromUtc = FROM_UTC.exec(rest)
  if (!fromUtc) return { rest, place: null, offset: null }
  const [, sign = '+', hours = '0', minutes = '00'] = fromUtc
  return { rest: rest.slice(0, fromUtc.index), place: `${sign}${hours.padStart(2, '0')}:${minutes}`, offset: null }
}

/** Which word would make it clear; null for a text that is far from any time. */
export function unclearIn(text: string): string | null {
  const words = plain(text)
  if (/\d[/.]\d/.test(words)) return 'a month needs its name (4 Mar), or the whole date the form 2030-03-04'
  if (/^\d+$/.test(words)) return 'a number needs its unit (90s, 10m, 2h), or an hour its minutes (14:00)'
  if (/\d ?[A-Z]{3,5}$/.test(words)) return 'say the zone by its place (Europe/Berlin), or as UTC+1'
  return null
}

type Unit = 'minute' | 'second'

/** `today 20:07`, `tomorrow 02:07`, `Fri 19:00` in the next six days, else `Fri 20 Nov 19:00`; with the year if that is far. */
export function shownWhen(ms: number, around: Around, unit: Unit = 'minute'): string {
  const wall = zonedOf(ms, around.zone)
  const days = daysUntil(wall, around)
  const near = days === 0 ? 'today' : days === 1 ? 'tomorrow' : days === -1 ? 'yesterday' : null
  const isSoon = days > 0 && days < 7
  const day = near ?? (isSoon ? WEEKDAYS[wall.dayOfWeek - 1] : dateShown(wall, days))
  return `${day} ${timeOn(wall, unit)}${isTwice(wall) ? ` ${zoneShown(ms, around.zone)}` : ''}`
}

/** The same with the date and the zone, for whoever wants to be sure: `Tue 17 Nov 14:00 CET`. */
export function shownFully(ms: number, around: Around, unit: Unit = 'minute'): string {
  const wall = zonedOf(ms, around.zone)
  return `${dateShown(wall, daysUntil(wall, around))} ${timeOn(wall, unit)} ${zoneShown(ms, around.zone)}`
}

const zonedOf = (ms: number, zone: string) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)

const daysUntil = (wall: Temporal.ZonedDateTime, { now, zone }: Around) =>
  zonedOf(now, zone).toPlainDate().until(wall.toPlainDate()).days

function dateShown({ dayOfWeek, day, month, year }: Temporal.ZonedDateTime, days: number): string {
  const isFar = Math.abs(days) > NEAR_DAYS
  return `${WEEKDAYS[dayOfWeek - 1]} ${day} ${MONTHS[month - 1]}${isFar ? ` ${year}` : ''}`
}

const timeOn = (wall: Temporal.ZonedDateTime, smallestUnit: Unit) => wall.toPlainTime().toString({ smallestUnit })

/** Whether it is of an hour that comes twice, because clocks are set back: then the zone's name says which. */
function isTwice(wall: Temporal.ZonedDateTime): boolean {
  const [first, second] = (['earlier', 'later'] as const).map(
    disambiguation => wall.toPlainDateTime().toZonedDateTime(wall.timeZoneId, { disambiguation }).epochMilliseconds,
  )
  return first !== second
}

/** English has an abbreviation for a zone only where people use it. */
const ENGLISH = ['en-GB', 'en-US', 'en-AU', 'en-IN', 'en-ZA']

/** What a zone is called at that time: CET, EDT, UTC+9. */
export function zoneShown(ms: number, zone: string): string {
  const names = ENGLISH.values().map(locale => {
    const parts = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: 'short' }).formatToParts(ms)
    return parts.find(({ type }) => type === 'timeZoneName')!.value
  })
  return names.find(name => !/^GMT[+-]/.test(name)) ?? utcOffset(ms, zone)
}

function utcOffset(ms: number, zone: string): string {
  const minutes = Math.round(offsetAt(ms, zone) / (MINUTE_MS * 1_000_000))
  const rest = Math.abs(minutes) % 60
  const hours = `${minutes < 0 ? '-' : '+'}${Math.trunc(Math.abs(minutes) / 60)}`
  return rest === 0 ? `UTC${hours}` : `UTC${hours}:${String(rest).padStart(2, '0')}`
}

const SHOWN: readonly (readonly [number, string])[] = [
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [1_000, 's'],
]

/** `1 h 56 min`, `2 d`, `45 s`: the two largest units, and what is less is left out. */
export function shownSpan(ms: number): string {
  const from = SHOWN.findIndex(([unit]) => ms >= unit)
  if (from < 0) return '0 s'
  const [[large, largeName], small] = [SHOWN[from]!, SHOWN[from + 1]]
  const rest = small ? Math.trunc((ms % large) / small[0]) : 0
  return [`${Math.trunc(ms / large)} ${largeName}`, ...(rest > 0 ? [`${rest} ${small![1]}`] : [])].join(' ')
}
