import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, type Sample, slopeOf, type Tolerance } from './flat.ts'

const TOLERANCE = { share: 0.1, least: 1 }
const samples = (valueAt: (at: number) => number): Sample[] =>
  Array.from({ length: 120 }, (_, i) => ({ at: i * 5, value: valueAt(i) }))
const isFlat = (valueAt: (at: number) => number, tolerance: Tolerance = TOLERANCE) =>
  judge('a thing', samples(valueAt), tolerance).isFlat

test('a line rises by its slope', () => {
  assert.equal(slopeOf(samples(i => 7 + i * 10)), 2)
  assert.equal(slopeOf([{ at: 1, value: 5 }]), 0)
})

test('what stays, falls, or only grows at the beginning is flat', () => {
  assert.ok(isFlat(() => 100))
  assert.ok(isFlat(i => 500 - i))
  assert.ok(isFlat(i => Math.min(i * 10, 400)))
})

test('what grows all the time is not, however noisy it is', () => {
  assert.ok(!isFlat(i => 100 + i))
  assert.ok(!isFlat(i => 100 + i + 80 * (i % 7)))
})

test('teeth of a saw are flat, as long as they begin at the same height', () => {
  assert.ok(isFlat(i => 100 + 30 * (i % 9)))
  assert.ok(!isFlat(i => 100 + 30 * (i % 9) + i))
})

test('what stays below what it may have is flat, and so is what hardly grows', () => {
  assert.ok(isFlat(i => i, { ...TOLERANCE, free: 200 }))
  assert.ok(!isFlat(i => i, { ...TOLERANCE, free: 50 }))
  assert.ok(isFlat(i => i / 200))
})
