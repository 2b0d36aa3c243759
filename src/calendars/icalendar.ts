// Writes appointments as iCalendar (RFC 5545). Our own hundred lines: ical-generator writes the name of a calendar
// unescaped, and folding took it 0.3 ms an appointment, in the thread that commits claims.

export interface Appointment {
  /** The same for the same thing in every calendar, for ever. */
  uid: string
  /** Grows with each change of what is shown. */
  sequence: number
  createdAt: number
  changedAt: number
  startAt: number
  endAt: number
  status: 'CONFIRMED' | 'TENTATIVE' | 'CANCELLED'
  summary: string
  description: string
  location: string | null
}

interface Sheet {
  name: string
  description: string | null
  appointments: readonly Appointment[]
}

/** Programs look again after this. */
const REFRESH = 'PT15M'
const ALARM = '-PT15M'

export function icalendarOf({ name, description, appointments }: Sheet, now: number): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Holdfast//Holdfast//EN',
    'CALSCALE:GREGORIAN',
    // Programs know one or the other of each pair.
    `NAME:${plain(name)}`,
    `X-WR-CALNAME:${plain(name)}`,
    ...(description === null ? [] : [`X-WR-CALDESC:${plain(description)}`]),
    `REFRESH-INTERVAL;VALUE=DURATION:${REFRESH}`,
    `X-PUBLISHED-TTL:${REFRESH}`,
    ...appointments.flatMap(one => eventLines(one, now)),
    'END:VCALENDAR',
  ]
  return lines.map(line => `${folded(line)}\r\n`).join('')
}

function eventLines(one: Appointment, now: number): string[] {
  const hasAlarm = one.status !== 'CANCELLED' && one.endAt > now
  return [
    'BEGIN:VEVENT',
    `UID:${escaped(one.uid)}`,
    `SEQUENCE:${one.sequence}`,
    `DTSTAMP:${utc(one.changedAt)}`,
    `CREATED:${utc(one.createdAt)}`,
    `LAST-MODIFIED:${utc(one.changedAt)}`,
    `DTSTART:${utc(one.startAt)}`,
    // An end must be later than the start; an event without an end ends at once.
    ...(utc(one.endAt) > utc(one.startAt) ? [`DTEND:${utc(one.endAt)}`] : []),
    `STATUS:${one.status}`,
    // A machine is busy, not the person who reads this.
    'TRANSP:TRANSPARENT',
    `SUMMARY:${escaped(one.summary)}`,
    `DESCRIPTION:${escaped(one.description)}`,
    ...(one.location === null ? [] : [`LOCATION:${escaped(one.location)}`]),
    ...(hasAlarm ? alarmLines(one) : []),
    'END:VEVENT',
  ]
}

const alarmLines = ({ summary }: Appointment): string[] => [
  'BEGIN:VALARM',
  'ACTION:DISPLAY',
  `TRIGGER;RELATED=END:${ALARM}`,
  `DESCRIPTION:${escaped(`Ends in 15 minutes: ${summary}`)}`,
  'END:VALARM',
]

/** 20300101T100000Z */
const utc = (time: number) => new Date(time).toISOString().replaceAll(/[-:]|\.\d+/g, '')

/** The text of a property. Names come from clients: a line's end in one must not begin a property. */
const escaped = (text: string) =>
  text
    .toWellFormed()
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll(/\r\n|[\r\n\u0085\u2028\u2029]/g, '\\n')
    .replaceAll(/\p{Cc}/gu, ' ')

/** Some programs take the backslashes out of properties that are not in RFC 5545, and others show them: so there are none. */
const plain = (text: string) => text.toWellFormed().replaceAll(/[\\;,\p{Cc}\u2028\u2029]+/gu, ' ')

const LINE_BYTES_MAX = 75

/** Lines have at most 75 bytes; the next one begins with a space. No character is cut. */
function folded(line: string): string {
  const bytes = Buffer.from(line)
  const parts: string[] = []
  let from = 0
  for (let room = LINE_BYTES_MAX; bytes.length - from > room; room = LINE_BYTES_MAX - 1) {
    let to = from + room
    while (isWithinCharacter(bytes[to]!)) to--
    parts.push(bytes.toString('utf8', from, to))
    from = to
  }
  return parts.length === 0 ? line : [...parts, bytes.toString('utf8', from)].join('\r\n ')
}

/** In UTF-8 every byte of a character but the first begins with the bits 10. */
const isWithinCharacter = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000
