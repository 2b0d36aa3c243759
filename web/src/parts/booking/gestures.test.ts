import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Grip, meant, nudged, partOf } from './gestures.ts'

const HOUR = 3_600_000
const now = 10 * HOUR + 1_000
/** A grid of hours. */
const grid = {
  now,
  snap: (at: number) => Math.round(at / HOUR) * HOUR,
  step: (at: number, steps: number) =>
    steps > 0 ? (Math.floor(at / HOUR) + steps) * HOUR : (Math.ceil(at / HOUR) + steps) * HOUR,
}
const was = { start: 20 * HOUR, end: 24 * HOUR }
const hours = ({ start, end }: { start: number; end: number }) => [start / HOUR, end / HOUR]
const at = (hour: number, grip: Grip) => hours(meant(grip, { ...grid, at: hour * HOUR }))

test('dragging over an empty stretch books it, in either direction', () => {
  assert.deepEqual(at(23.3, { kind: 'new', at: 20.2 * HOUR }), [20, 23])
  assert.deepEqual(at(17.8, { kind: 'new', at: 20.2 * HOUR }), [18, 20])
})

test('a stretch is never shorter than a step', () => {
  assert.deepEqual(at(20.3, { kind: 'new', at: 20.2 * HOUR }), [20, 21])
  assert.deepEqual(at(5, { kind: 'end', was }), [20, 21])
  assert.deepEqual(at(30, { kind: 'start', was }), [23, 24])
})

test('a move keeps the length and where it is held', () => {
  assert.deepEqual(at(28.2, { kind: 'whole', held: 2 * HOUR, was }), [26, 30])
})

test('nothing begins in the past', () => {
  const [start, end] = at(2, { kind: 'whole', held: 0, was })
  assert.equal(start, 10 + 1 / 60)
  assert.equal(end! - start, 4)
  assert.equal(at(2, { kind: 'new', at: 12 * HOUR })[0], 10 + 1 / 60)
})

test('what runs can be given back early, but not in the past', () => {
  const running = { start: 5 * HOUR, end: 24 * HOUR }
  assert.deepEqual(at(3, { kind: 'end', was: running }), [5, 11])
})

test('arrows move it or stretch its end', () => {
  assert.deepEqual(hours(nudged(was, 'whole', 1, grid)), [21, 25])
  assert.deepEqual(hours(nudged(was, 'end', 2, grid)), [20, 26])
  assert.deepEqual(hours(nudged(was, 'end', -10, grid)), [20, 21])
})

test('the edges of a stretch are held, and the middle of a short one still is its middle', () => {
  const parts = [19.9, 20.1, 22, 23.9].map(hour => partOf(was, hour * HOUR, 0.25 * HOUR))
  assert.deepEqual(parts, [null, 'start', 'whole', 'end'])
  assert.equal(partOf({ start: 0, end: HOUR }, HOUR / 2, HOUR), 'whole')
})
