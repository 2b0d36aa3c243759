import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from './timers.ts'

void test('a pause of months is no pause of nothing', async () => {
  const stop = new AbortController()
  const months = sleep(100 * 24 * 3_600_000, stop.signal).then(
    () => 'over',
    () => 'stopped',
  )
  await sleep(20)
  stop.abort()
  assert.equal(await months, 'stopped')
})
