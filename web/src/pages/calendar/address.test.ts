import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantOf, rangeShown, rowsIn, startOf, startText, viewIn, windowFor } from './address.ts'

const zone = 'Europe/Berlin'
const at = (text: string) => Date.parse(text)
const now = at('2026-11-15T17:12Z')
const DAY = 86_400_000

test('an address says from when, how much and which rows; without, it is two weeks from today', () => {
  assert.deepEqual(viewIn({}), { start: null, zoom: '2w' })
  assert.deepEqual(viewIn({ from: '2026-11-20', span: 'month' }), { start: { day: '2026-11-20' }, zoom: 'month' })
  assert.deepEqual(viewIn({ from: '2026-11-20T06:00Z' }).start, { at: at('2026-11-20T06:00Z') })
  assert.equal(rowsIn({ rows: 'host' }), 'host')
  assert.equal(rowsIn({ rows: 'nonsense' }), 'class,rack')
})

test('what means no time is today', () => {
  for (const from of ['', 'tomorrow', '2026-13-40', '2026-02-31', '2026-11-20Tnoon'])
    assert.equal(viewIn({ from }).start, null)
})

test('a day is a day in whichever zone it is seen, an instant is an instant', () => {
  const start = startOf(at('2026-11-19T23:00Z'), zone)
  assert.equal(startText(start), '2026-11-20')
  assert.equal(instantOf(start, { now, zone: 'UTC', length: 14 * DAY }), at('2026-11-20T00:00Z'))
  assert.equal(startText(startOf(at('2026-11-20T06:00Z'), zone)), '2026-11-20T06:00Z')
})

test('today begins with its first moment, unless that would be mostly past', () => {
  assert.equal(instantOf(null, { now, zone, length: 14 * DAY }), at('2026-11-14T23:00Z'))
  assert.equal(instantOf(null, { now, zone, length: DAY }), at('2026-11-15T14:00Z'))
})

test('the range is said as people say it', () => {
  const shown = (from: string, to: string) => rangeShown({ from: at(from), to: at(to), zone }, now)
  assert.equal(shown('2026-11-14T23:00Z', '2026-11-28T23:00Z'), '15 – 28 November')
  assert.equal(shown('2026-11-27T23:00Z', '2026-12-04T23:00Z'), '28 Nov – 4 Dec')
  assert.equal(shown('2026-11-15T23:00Z', '2026-11-16T23:00Z'), 'Mon 16 November')
  assert.equal(shown('2026-12-14T23:00Z', '2027-01-14T23:00Z'), '15 Dec 2026 – 14 Jan 2027')
  assert.equal(shown('2027-01-31T23:00Z', '2027-02-28T23:00Z'), '1 – 28 February 2027')
})

test('panning within what is loaded loads nothing', () => {
  const loaded = windowFor({ from: 0, to: 14 * DAY }, null)
  assert.deepEqual(loaded, { from: -14 * DAY, to: 28 * DAY })
  assert.equal(windowFor({ from: 10 * DAY, to: 24 * DAY }, loaded), loaded)
  assert.notEqual(windowFor({ from: 20 * DAY, to: 34 * DAY }, loaded), loaded)
  const long = windowFor({ from: 0, to: 380 * DAY }, null)
  assert.ok(long.to - long.from <= 400 * DAY)
})
