import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chartOf, ticksOf } from './dots.ts'

const HOUR = 3_600_000
const NOW = Date.UTC(2026, 10, 16, 12)
const suit = (uuid: string, hours: number | null) => ({
  uuid,
  state: 'taken',
  end: hours === null ? null : NOW + hours * HOUR,
})
const around = { now: NOW, width: 800, start: null, givesUp: null }

test('machines stand at their ends, and above each other where they would touch', () => {
  const { dots } = chartOf({ ...around, suits: [suit('b', 24), suit('a', 2), suit('c', 24)] })
  assert.deepEqual(
    dots.map(({ uuid, level }) => [uuid, level]),
    [
      ['a', 0],
      ['b', 0],
      ['c', 1],
    ],
  )
  assert.ok(dots[0]!.x < dots[1]!.x && dots[1]!.x === dots[2]!.x && dots[2]!.x < 800)
})

test('what has no end, and what ends in many weeks, is told apart', () => {
  const { noEnd, later, dots, to } = chartOf({ ...around, suits: [suit('a', null), suit('b', 24 * 90), suit('c', 3)] })
  assert.deepEqual([noEnd.length, later.length, dots.length], [1, 1, 1])
  assert.ok(to - NOW < 14 * HOUR)
})

test('a column that is full says how many more there are', () => {
  const { dots, more } = chartOf({ ...around, suits: Array.from({ length: 12 }, (_, at) => suit(String(at), 5)) })
  assert.equal(dots.length, 6)
  assert.deepEqual(
    more.map(({ count }) => count),
    [6],
  )
})

test('an end that is over stands at now', () => {
  assert.equal(chartOf({ ...around, suits: [suit('a', -1)] }).dots[0]!.x, 0)
})

test('the time of giving up is on the axis', () => {
  const { to } = chartOf({ ...around, suits: [suit('a', 2)], givesUp: NOW + 48 * HOUR })
  assert.ok(to > NOW + 48 * HOUR)
})

test('ticks are round by the wall clock, also on a day with 23 hours', () => {
  const now = Date.UTC(2026, 2, 28, 12)
  const ticks = ticksOf({ now, to: now + 96 * HOUR, width: 400, zone: 'Europe/Berlin' })
  assert.deepEqual(
    ticks.map(at => new Date(at).toISOString()),
    ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', '2026-03-30T22:00:00.000Z', '2026-03-31T22:00:00.000Z'],
  )
})
