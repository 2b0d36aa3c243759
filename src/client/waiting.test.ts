import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Look, waitFor } from './waiting.ts'

/** Looks at each of these in turn, two seconds apart by the clock of the wait, and returns what was shown. */
async function shownOf(looks: readonly Look<string>[]): Promise<string[]> {
  const shown: string[] = []
  let at = 0
  const progress = { show: (text: string) => void shown.push(`${at / 1_000} s: ${text}`), clear: () => {} }
  const look = async () => {
    at += 2_000
    return looks[at / 2_000 - 1]!
  }
  assert.equal(await waitFor(look, { timeoutMs: null, now: () => at, progress }), 'a node')
  return shown
}

const taken = { waitingFor: '1 allocated' }
const free = { waitingFor: '1 free', isBrief: true }
const done = { done: 'a node' }

void test('a wait that is over in a moment is not spoken of', async () => {
  assert.deepEqual(await shownOf([free, free, done]), [])
})

void test('a wait that seemed to be brief is spoken of when it lasts', async () => {
  assert.deepEqual(await shownOf([free, free, free, free, done]), ['8 s: 1 free'])
})

void test('how long it is brief counts from when it became so', async () => {
  assert.deepEqual(await shownOf([taken, taken, taken, free, free, done]), [
    '2 s: 1 allocated',
    '4 s: 1 allocated',
    '6 s: 1 allocated',
  ])
})
