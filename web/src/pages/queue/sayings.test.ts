import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine, Waiting } from '../../../../src/client/status.ts'
import { aheadOf, commonTraits, movedPlaces, placesOf, splitWhen, standOf, suitOf } from './sayings.ts'

const waiting = (uuid: string, place: number, suits: string[], more: object = {}) =>
  ({ uuid, place, of: 3, suits, class: 'gpu', ...more }) as Waiting

test('who is before it waits for some of the same machines, and the rest are others', () => {
  const rows = [waiting('a', 1, ['m1']), waiting('b', 2, ['m2']), waiting('c', 3, ['m1', 'm3'])]
  const { seen, others } = aheadOf(rows[2]!, rows)
  assert.deepEqual([seen.map(({ uuid }) => uuid), others], [['a'], 1])
  assert.deepEqual(aheadOf(rows[0]!, rows), { seen: [], others: 0 })
})

test('only a machine that someone has or holds comes free at its end', () => {
  const machine = (state: string) => ({ uuid: 'm', state, until: '2026-11-16T12:00:00Z', next: null }) as Machine
  assert.equal(suitOf(machine('taken'), 0).end, Date.UTC(2026, 10, 16, 12))
  assert.equal(suitOf(machine('broken'), 0).end, null)
  assert.equal(suitOf(machine('free'), 7).end, 7)
  assert.equal(suitOf(machine('booked'), 7).end, null)
})

test('states are counted, most first', () => {
  assert.deepEqual(standOf(['held', 'taken', 'taken']), [
    [2, 'taken'],
    [1, 'held'],
  ])
})

test('what all have is common', () => {
  assert.deepEqual([...commonTraits([['A', 'B'], ['B', 'C'], ['B']])], ['B'])
  assert.equal(commonTraits([]).size, 0)
})

test('a time of today has no day', () => {
  assert.deepEqual(splitWhen('today 20:07'), { time: '20:07', day: null })
  assert.deepEqual(splitWhen('Fri 20 Nov 19:00'), { time: '19:00', day: 'Fri 20 Nov' })
  assert.deepEqual(splitWhen('tomorrow 02:30 CET'), { time: '02:30 CET', day: 'tomorrow' })
})

test('a place that is new is told, one that is first heard of is not', () => {
  const before = placesOf([waiting('a', 2, []), waiting('b', 1, [])])
  const moved = movedPlaces(before, [waiting('a', 1, []), waiting('b', 1, []), waiting('c', 2, [])])
  assert.deepEqual(
    moved.map(({ uuid }) => uuid),
    ['a'],
  )
})
