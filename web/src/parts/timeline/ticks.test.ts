import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaleOf, type Zoom } from './scale.ts'
import { linesOf, ticksOf, weekendsOf } from './ticks.ts'

const at = (text: string) => Date.parse(text)
const scale = (from: string, zoom: Zoom, width = 1_400) =>
  scaleOf({ from: at(from), zoom }, { zone: 'Europe/Berlin', width, leastWidth: 0 })

test('two weeks have fourteen days with their names', () => {
  const ticks = ticksOf(scale('2026-11-14T23:00Z', '2w'))
  assert.equal(ticks.length, 14)
  assert.deepEqual([ticks[0]!.weak, ticks[0]!.strong, ticks[0]!.isWeekend], ['Sun', '15', true])
  assert.equal(ticks[1]!.isMajor, true)
})

test('days are as long as they are where clocks are set', () => {
  const ticks = ticksOf(scale('2026-10-23T22:00Z', 'week'))
  assert.deepEqual(
    ticks.slice(0, 3).map(({ at: start, end }) => (end - start) / 3_600_000),
    [24, 25, 24],
  )
})

test('a day on which clocks are set back has an hour twice, and one on which they are set forward leaves one out', () => {
  const labels = (from: string) => ticksOf(scale(from, 'day')).map(({ strong }) => strong)
  assert.deepEqual(labels('2026-10-24T22:00Z').slice(0, 5), ['25', '01:00', '02:00', '02:00', '03:00'])
  assert.deepEqual(labels('2026-03-28T23:00Z').slice(0, 4), ['29', '01:00', '03:00', '04:00'])
})

test('hours are fewer where there is little room', () => {
  const labels = ticksOf(scale('2026-11-15T23:00Z', 'day', 320)).map(({ strong }) => strong)
  assert.deepEqual(labels, ['16', '03:00', '06:00', '09:00', '12:00', '15:00', '18:00', '21:00'])
})

test('a month of narrow days shows numbers, and the month where one begins', () => {
  const ticks = ticksOf(scale('2026-11-14T23:00Z', 'month', 1_100))
  assert.deepEqual(
    ticks.slice(14, 18).map(({ weak, strong }) => weak + strong),
    ['29', '30', 'Dec', '2'],
  )
})

test('a quarter has weeks, and marks where months begin', () => {
  const ticks = ticksOf(scale('2026-11-14T23:00Z', 'quarter'))
  assert.deepEqual(
    ticks.slice(0, 5).map(({ strong, isMajor }) => [strong, isMajor]),
    [
      ['15 Nov', false],
      ['16 Nov', false],
      ['23 Nov', false],
      ['30 Nov', false],
      ['7 Dec', true],
    ],
  )
})

test('weekends are Saturdays and Sundays of the zone', () => {
  const ends = weekendsOf(scale('2026-11-15T23:00Z', 'week'))
  assert.deepEqual(ends, [
    { from: at('2026-11-20T23:00Z'), to: at('2026-11-21T23:00Z') },
    { from: at('2026-11-21T23:00Z'), to: at('2026-11-22T23:00Z') },
  ])
})

test('a week has quiet lines every six hours', () => {
  assert.equal(linesOf(scale('2026-11-15T23:00Z', 'week')).length, 21)
  assert.equal(linesOf(scale('2026-11-15T23:00Z', '2w')).length, 0)
})
