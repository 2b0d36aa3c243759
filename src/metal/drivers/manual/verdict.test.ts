// What the end of a hook means.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../../shared/limits.ts'
import { type End, lastLine, pauseMs, verdictOn } from './verdict.ts'

const verdict = (end: End, said = '') => verdictOn({ end, output: '', said })
const answer = (status: number, retryAfterMs: number | null = null): End => ({ kind: 'answer', status, retryAfterMs })

void test('0 and 2xx are done, 75, 202 and 503 with a time ask for more, all else failed', () => {
  assert.deepEqual(verdict({ kind: 'exit', code: 0 }, 'ready'), { kind: 'done', said: 'ready' })
  assert.equal(verdict({ kind: 'exit', code: 75 }).kind, 'later')
  for (const code of [1, 2, 74, 76, 127, 255]) assert.equal(verdict({ kind: 'exit', code }).kind, 'failed', `${code}`)
  for (const status of [200, 201, 204]) assert.equal(verdict(answer(status)).kind, 'done')
  for (const end of [answer(202), answer(202, 9), answer(503, 9)]) assert.equal(verdict(end).kind, 'later')
  for (const status of [301, 400, 401, 404, 500, 503]) assert.equal(verdict(answer(status)).kind, 'failed', `${status}`)
})

void test('a failure says what happened, and the last line', () => {
  const why = (end: End) => (verdict(end, 'no disk') as { why: string }).why
  assert.equal(why({ kind: 'exit', code: 3 }), 'failed with exit code 3: no disk')
  assert.equal(why({ kind: 'signal', signal: 'SIGSEGV' }), 'was ended by SIGSEGV: no disk')
  assert.equal(why({ kind: 'late', ms: 2_000 }), 'took longer than 2 seconds and was ended: no disk')
  assert.equal(why(answer(500)), 'was answered with 500: no disk')
})

void test('the last line is the last that says something, without control characters, and short', () => {
  assert.equal(lastLine('one\ntwo\u0007 \r\n\n \n'), 'two')
  assert.equal(lastLine(''), '')
  assert.equal(lastLine('x'.repeat(10_000)).length, limits.hookReasonCharsMax)
})

void test('the pauses grow, are bounded, and end', () => {
  const pauses = Array.from({ length: limits.hookAsksMax }, (_, i) => pauseMs(i + 1, null))
  assert.deepEqual(pauses.slice(0, 3), [5_000, 10_000, 20_000])
  assert.equal(pauses.at(-2), limits.hookPauseMsMax)
  assert.equal(pauses.at(-1), null)
  assert.deepEqual([pauseMs(1, 1), pauseMs(1, 60_000), pauseMs(1, 1e9)], [5_000, 60_000, limits.hookPauseMsMax])
})
