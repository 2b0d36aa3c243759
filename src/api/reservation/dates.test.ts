import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseDate, shownDate, shownTime } from './dates.ts'

const NOW = Date.UTC(2030, 0, 1, 10, 20, 45, 678)
const parse = (text: unknown) => new Date(parseDate(text, 'start_date', NOW)).toISOString()

void describe('dates', () => {
  void test('now is the start of the current minute', () => {
    assert.equal(parse('now'), '2030-01-01T10:20:00.000Z')
  })

  for (const [text, expected] of [
    ['2030-01-02 10:30', '2030-01-02T10:30:00.000Z'],
    ['2030-1-2 9:05', '2030-01-02T09:05:00.000Z'],
    ['2030-01-02T10:30', '2030-01-02T10:30:00.000Z'],
    ['2030-01-02 10:30:15', '2030-01-02T10:30:15.000Z'],
    ['2030-01-02T10:30:15.250000', '2030-01-02T10:30:15.250Z'],
    ['2030-01-02T10:30:15Z', '2030-01-02T10:30:15.000Z'],
    ['2030-01-02T10:30:15+02:00', '2030-01-02T08:30:15.000Z'],
    ['2030-01-02T10:30-0130', '2030-01-02T12:00:00.000Z'],
    ['2032-02-29 00:00', '2032-02-29T00:00:00.000Z'],
  ] as const) {
    void test(`${text} is read in UTC`, () => assert.equal(parse(text), expected))
  }

  for (const text of [
    '',
    'NOW',
    'tomorrow',
    '2030-01-02',
    '10:30',
    '2030-02-30 10:00',
    '2030-13-01 10:00',
    '2030-00-01 10:00',
    '2030-01-01 24:00',
    '2030-01-01 10:60',
    '2030-01-01 10:00:60',
    '1969-12-31 23:59',
    '0000-01-01 00:00',
    '02030-01-01 10:00',
    '2030-01-01 10:00 x',
    ' 2030-01-01 10:00',
    null,
    0,
    {},
    undefined,
  ]) {
    void test(`${JSON.stringify(text)} is refused, with the name of the member and the format`, () => {
      assert.throws(() => parse(text), /^Error: start_date: .* Required format: YYYY-MM-DD HH:MM/)
    })
  }

  void test('a date in an answer has six digits and no zone, and can be sent back', () => {
    assert.equal(shownDate(NOW), '2030-01-01T10:20:45.678000')
    assert.equal(parseDate(shownDate(NOW), 'start_date', 0), NOW)
    assert.equal(shownTime(NOW), '2030-01-01 10:20:45')
  })
})
