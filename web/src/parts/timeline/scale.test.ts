import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  gridAfter,
  later,
  type Scale,
  scaleOf,
  snapped,
  startOfDay,
  stepOnGrid,
  timeAt,
  xOf,
  zoomedAt,
} from './scale.ts'

const BERLIN = 'Europe/Berlin'
const HOUR = 3_600_000
const at = (text: string) => Date.parse(text)
const wide = { zone: BERLIN, width: 1_400, leastWidth: 1_000 }

test('a scale turns times into pixels and back', () => {
  const scale = scaleOf({ from: at('2026-11-15T23:00Z'), zoom: '2w' }, wide)
  assert.equal(scale.to, at('2026-11-29T23:00Z'))
  assert.equal(xOf(scale, at('2026-11-16T23:00Z')), 100)
  assert.equal(timeAt(scale, 100), at('2026-11-16T23:00Z'))
})

test('days on which clocks are set are 23 and 25 hours long', () => {
  assert.equal(later(at('2026-03-28T23:00Z'), 'day', BERLIN) - at('2026-03-28T23:00Z'), 23 * HOUR)
  assert.equal(later(at('2026-10-24T22:00Z'), 'day', BERLIN) - at('2026-10-24T22:00Z'), 25 * HOUR)
  assert.equal(startOfDay(at('2026-10-25T12:00Z'), BERLIN), at('2026-10-24T22:00Z'))
})

test('a week in which clocks are set ends at midnight', () => {
  assert.equal(later(at('2026-10-18T22:00Z'), 'week', BERLIN), at('2026-10-25T23:00Z'))
  assert.equal(later(at('2026-10-25T23:00Z'), 'week', BERLIN, -1), at('2026-10-18T22:00Z'))
})

test('on a narrow page a part of the time is across', () => {
  const scale = scaleOf({ from: at('2026-11-15T23:00Z'), zoom: '2w' }, { ...wide, width: 500 })
  assert.equal(scale.to, at('2026-11-22T23:00Z'))
})

test('times between milliseconds are times too', () => {
  const scale = scaleOf({ from: at('2026-11-15T23:00Z'), zoom: '2w' }, { ...wide, width: 333 })
  assert.ok(Number.isInteger(scale.to))
  assert.equal(snapped(at('2026-11-17T10:00Z') + 0.3, scale), at('2026-11-17T10:00Z'))
})

test('an hour that comes twice has two places on the grid', () => {
  const week: Pick<Scale, 'zoom' | 'zone'> = { zoom: 'week', zone: BERLIN }
  const first = at('2026-10-25T00:00Z')
  assert.deepEqual(
    [1, 2, 3].map(steps => stepOnGrid(first, steps, week)),
    [at('2026-10-25T01:00Z'), at('2026-10-25T02:00Z'), at('2026-10-25T03:00Z')],
  )
  assert.equal(stepOnGrid(at('2026-10-25T02:00Z'), -2, week), first)
})

test('six hours are those of the wall clock, also where clocks are set', () => {
  const month: Pick<Scale, 'zoom' | 'zone'> = { zoom: 'month', zone: BERLIN }
  assert.deepEqual(
    [1, 2, 3, 4].map(steps => stepOnGrid(at('2026-10-24T22:00Z'), steps, month)),
    [at('2026-10-25T05:00Z'), at('2026-10-25T11:00Z'), at('2026-10-25T17:00Z'), at('2026-10-25T23:00Z')],
  )
  assert.equal(stepOnGrid(at('2026-10-25T05:00Z'), -1, month), at('2026-10-24T22:00Z'))
  assert.equal(gridAfter(at('2026-10-24T22:00Z'), 'quarter', BERLIN), at('2026-10-25T23:00Z'))
})

test('the grid follows a zone of half hours', () => {
  const scale = scaleOf({ from: at('2026-11-15T18:30Z'), zoom: 'week' }, { ...wide, zone: 'Asia/Kolkata' })
  assert.equal(snapped(at('2026-11-16T05:50Z'), scale), at('2026-11-16T05:30Z'))
})

test('a time snaps to the grid, and to a neighbour that is near', () => {
  const scale = scaleOf({ from: at('2026-11-15T23:00Z'), zoom: '2w' }, wide)
  assert.equal(snapped(at('2026-11-17T09:40Z'), scale), at('2026-11-17T10:00Z'))
  assert.equal(snapped(at('2026-11-17T09:40Z'), scale, [at('2026-11-17T09:07Z')]), at('2026-11-17T09:07Z'))
  assert.equal(snapped(at('2026-11-17T12:40Z'), scale, [at('2026-11-17T09:07Z')]), at('2026-11-17T13:00Z'))
})

test('zooming keeps the instant under the pointer', () => {
  const scale = scaleOf({ from: at('2026-11-15T23:00Z'), zoom: '2w' }, wide)
  const view = zoomedAt(scale, 'week', 350, wide)
  assert.equal(Math.round(timeAt(scaleOf(view, wide), 350)), timeAt(scale, 350))
})
