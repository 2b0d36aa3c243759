import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterIn, verdictOn } from './verdict.ts'

const HOUR_MS = 3_600_000
const reply = (status: number | null, retryAfterMs: number | null = null) => ({
  status,
  ms: 1,
  text: '',
  error: status === 204 ? null : 'it failed',
  retryAfterMs,
})

test('pauses grow, and after a day of failures the webhook is paused', () => {
  const waits: number[] = []
  let now = 0
  for (let failures = 0; ; failures++) {
    const verdict = verdictOn(reply(500), { failures, firstAt: 0 }, now)
    if (verdict.kind === 'pause') break
    assert.ok(verdict.kind === 'retry' && !verdict.isForAll)
    waits.push((verdict.at - now) / 1_000)
    now = verdict.at
  }
  assert.deepEqual(waits.slice(0, 6), [5, 300, 1_800, 7_200, 18_000, 36_000])
  assert.equal(now, 24 * HOUR_MS, 'the last try is a day after the first')
})

test('2xx is delivered, 410 switches off, and Retry-After of 429 and 503 is kept within an hour', () => {
  const at = { failures: 0, firstAt: 0 }
  assert.equal(verdictOn(reply(204), at, 1).kind, 'delivered')
  assert.equal(verdictOn(reply(410), at, 1).kind, 'disable')
  assert.deepEqual(verdictOn(reply(429, 7_000), at, 1), { kind: 'retry', at: 7_001, isForAll: true })
  assert.deepEqual(verdictOn(reply(503, 90 * HOUR_MS), at, 1), { kind: 'retry', at: HOUR_MS + 1, isForAll: true })
  assert.deepEqual(verdictOn(reply(429, 0), at, 1), { kind: 'retry', at: 5_001, isForAll: true })
  assert.deepEqual(verdictOn(reply(500, 7_000), at, 1), { kind: 'retry', at: 5_001, isForAll: false })
})

test('Retry-After is seconds or a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  assert.equal(retryAfterIn('120', now), 120_000)
  assert.equal(retryAfterIn('Thu, 01 Jan 2026 00:01:00 GMT', now), 60_000)
  assert.equal(retryAfterIn('Thu, 01 Jan 2020 00:01:00 GMT', now), 0)
  for (const none of [undefined, 'soon', '-1x']) assert.equal(retryAfterIn(none, now), null)
})
