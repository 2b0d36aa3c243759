import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countdown } from './countdown.ts'

void test('a countdown runs out by the clock that is further on', t => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const left = countdown(60_000)
  assert.ok(left() <= 60_000 && left() > 0)
  // The machine slept, or its clock was set: the time is over.
  t.mock.timers.setTime(1_000_000 + 61_000)
  assert.ok(left() <= -1_000)
  // Set back, the clock gives nothing back that the other one has counted.
  t.mock.timers.setTime(0)
  assert.ok(left() <= 60_000)
})
