// A calendar program for tests: it has nothing but a URL, and reads what comes with a parser that such programs use.
import assert from 'node:assert/strict'
import ICAL from 'ical.js'

export interface Reading {
  status: number
  headers: Headers
  text: string
}

export interface SeenEvent {
  uid: string
  sequence: number
  status: string
  summary: string
  description: string
  location: string | null
  start: number
  end: number
  stamp: number
  /** When its alarms go off. */
  alarms: number[]
}

export async function fetched(url: string, init: RequestInit = {}): Promise<Reading> {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The calendar, after a look at its lines as RFC 5545 wants them. */
export function parsed(text: string): ICAL.Component {
  assert.ok(text.endsWith('END:VCALENDAR\r\n'))
  assert.doesNotMatch(text.replaceAll('\r\n', ''), /[\r\n]/, 'every line ends with CRLF')
  for (const line of text.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75, line)
  return new ICAL.Component(ICAL.parse(text) as never)
}

export function eventsIn(text: string): SeenEvent[] {
  return parsed(text)
    .getAllSubcomponents('vevent')
    .map(component => {
      const event = new ICAL.Event(component)
      for (const name of ['dtstart', 'dtend', 'dtstamp']) {
        const time = component.getFirstPropertyValue(name) as ICAL.Time | null
        assert.ok(time === null || time.zone === ICAL.Timezone.utcTimezone, `${name} is in UTC`)
      }
      const end = event.endDate.toJSDate().getTime()
      return {
        uid: event.uid,
        sequence: event.sequence,
        status: String(component.getFirstPropertyValue('status')),
        summary: event.summary,
        description: event.description,
        location: event.location || null,
        start: event.startDate.toJSDate().getTime(),
        end,
        stamp: (component.getFirstPropertyValue('dtstamp') as ICAL.Time).toJSDate().getTime(),
        alarms: component.getAllSubcomponents('valarm').map(alarm => {
          assert.equal(alarm.getFirstProperty('trigger')!.getParameter('related'), 'END')
          return end + (alarm.getFirstPropertyValue('trigger') as ICAL.Duration).toSeconds() * 1_000
        }),
      }
    })
}

/** What the program shows of a calendar that must open. */
export async function shownAt(url: string): Promise<SeenEvent[]> {
  const { status, text, headers } = await fetched(url)
  assert.equal(status, 200, text)
  assert.equal(headers.get('content-type'), 'text/calendar; charset=utf-8')
  return eventsIn(text)
}
