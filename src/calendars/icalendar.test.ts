import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import ICAL from 'ical.js'
import { type Appointment, icalendarOf } from './icalendar.ts'

const appointment = (more: Partial<Appointment> = {}): Appointment => ({
  uid: 'lease-1@holdfast',
  sequence: 0,
  createdAt: 0,
  changedAt: 0,
  startAt: 0,
  endAt: 3_600_000,
  status: 'CONFIRMED',
  summary: 'a lease',
  description: '',
  location: null,
  ...more,
})

const written = (one: Appointment, name = 'x') => icalendarOf({ name, description: null, appointments: [one] }, 0)

const textIn = (text: string) =>
  text
    .toWellFormed()
    .replaceAll(/\r\n|[\r\n\u0085\u2028\u2029]/g, '\n')
    .replaceAll(/(?!\n)\p{Cc}/gu, ' ')

test('whatever text is in a calendar, it is one calendar with that text', () => {
  const any = fc
    .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 300 })
    .map(codes => String.fromCodePoint(...codes))
  const hostile = fc
    .array(
      fc.constantFrom('\r\n', '\n', '\r', '\\', ';', ',', ':', '"', 'END:VEVENT', 'BEGIN:VALARM', '\ud800', 'é', ' '),
    )
    .map(parts => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(any, hostile), fc.oneof(any, hostile), (summary, description) => {
      const text = written(appointment({ summary, description, location: summary }), description)
      for (const line of text.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75)
      assert.doesNotMatch(text.replaceAll('\r\n', ''), /[\r\n]/)
      const [event, ...others] = new ICAL.Component(ICAL.parse(text) as never).getAllSubcomponents('vevent')
      assert.equal(others.length, 0)
      assert.equal(event!.getAllSubcomponents('valarm').length, 1)
      for (const [property, expected] of Object.entries({ summary, description, location: summary })) {
        assert.equal(event!.getFirstPropertyValue(property), textIn(expected))
      }
    }),
  )
})

test('an end that is no later than the start is left out', () => {
  assert.match(written(appointment()), /^DTEND:19700101T010000Z\r$/m)
  assert.doesNotMatch(written(appointment({ endAt: 500 })), /DTEND/)
})

test('the alarm goes off before the end, and not for what is over or withdrawn', () => {
  assert.match(written(appointment()), /^TRIGGER;RELATED=END:-PT15M\r$/m)
  assert.doesNotMatch(written(appointment({ status: 'CANCELLED' })), /VALARM/)
  assert.doesNotMatch(icalendarOf({ name: 'x', description: null, appointments: [appointment()] }, 3_600_000), /VALARM/)
})
