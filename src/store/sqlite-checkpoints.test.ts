import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { limits } from '../shared/limits.ts'
import { Checkpoints } from './sqlite-checkpoints.ts'
import type { Checkpointed } from './sqlite-connection.ts'

const COPIED = { isBusy: false, pages: 10, copied: 10 }
// What SQLite says when it could not even look.
const BUSY = { isBusy: true, pages: -1, copied: -1 }
const INTERVALS_UNTIL_QUIET = limits.walIdleCheckpointMs / limits.walCheckpointMs

/** In virtual time: how often the log is copied, and a way to let intervals pass. */
function watched(t: TestContext, found: () => Checkpointed) {
  let now = 0
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => now)
  const seen = { copies: 0 }
  const checkpoints = new Checkpoints(async () => {
    seen.copies++
    return found()
  })
  const pass = async (intervals: number) => {
    for (let i = 0; i < intervals; i++) {
      now += limits.walCheckpointMs
      t.mock.timers.tick(limits.walCheckpointMs)
      await turn()
    }
  }
  return { checkpoints, seen, pass }
}

test('the log is copied until nobody has written for a while', async t => {
  const { checkpoints, seen, pass } = watched(t, () => COPIED)
  checkpoints.wrote()
  await pass(INTERVALS_UNTIL_QUIET * 3)
  assert.equal(seen.copies, INTERVALS_UNTIL_QUIET)
})

test('a log that could not be copied is copied later', async t => {
  for (const fail of [
    () => BUSY,
    () => {
      throw new Error('disk full')
    },
  ]) {
    const { checkpoints, seen, pass } = watched(t, () => (seen.copies < INTERVALS_UNTIL_QUIET * 2 ? fail() : COPIED))
    checkpoints.wrote()
    await pass(INTERVALS_UNTIL_QUIET * 3)
    assert.equal(seen.copies, INTERVALS_UNTIL_QUIET * 2)
    t.mock.reset()
    t.mock.timers.reset()
  }
})

test('after the end nothing is copied, also if a transaction ends late', async t => {
  const { checkpoints, seen, pass } = watched(t, () => COPIED)
  await checkpoints.close()
  checkpoints.wrote()
  await pass(INTERVALS_UNTIL_QUIET)
  assert.equal(seen.copies, 0)
})
