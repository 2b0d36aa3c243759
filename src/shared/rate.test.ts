import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rate } from './rate.ts'

test('so many in a minute, for each, and then again', () => {
  let now = 1_000
  const rate = new Rate(2, () => now)
  assert.deepEqual([rate.take('a'), rate.take('a'), rate.take('b')], [0, 0, 0])
  now += 20_000
  assert.equal(rate.take('a'), 40_000)
  assert.equal(rate.take('b'), 0)
  now += 40_000
  assert.equal(rate.take('a'), 0)
})
