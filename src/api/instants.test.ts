import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantOf } from '../clock/instants.ts'
import { futureInstant } from './instants.ts'

const NOW = Date.UTC(2030, 0, 1, 10)

test('a duration is counted from now', () => {
  for (const ninetySeconds of [90, '90', '90s', 'PT90S', 'PT1M30S'])
    assert.equal(instantOf(ninetySeconds, NOW), NOW + 90_000)
  assert.equal(instantOf('2h', NOW), NOW + 7_200_000)
  assert.equal(instantOf('P1DT1H', NOW), NOW + 90_000_000)
})

test('an instant is taken as it is, in UTC unless it says otherwise', () => {
  assert.equal(instantOf('2030-01-01T11:00:00Z', NOW), NOW + 3_600_000)
  assert.equal(instantOf('2030-01-01 11:00', NOW), NOW + 3_600_000)
  assert.equal(instantOf('2030-01-01T11:00:00+02:00', NOW), NOW - 3_600_000)
})

test('anything else is no time', () => {
  for (const nothing of ['', 'soon', 'P', 'PT', '-5m', '2030-13-01T00:00:00Z', null, true, {}, NaN]) {
    assert.equal(instantOf(nothing, NOW), null, JSON.stringify(nothing))
  }
})

test('a future time must lie in the future, but not too far', () => {
  for (const value of [0, -1, '2029-01-01T00:00:00Z', '999999999d', 'soon']) {
    assert.throws(() => futureInstant('expires_at', value, NOW), /expires_at/)
  }
})
