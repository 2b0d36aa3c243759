import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { pino } from 'pino'
import { Duty } from './duty.ts'

const silent = pino({ level: 'silent' })
const LONG_MS = 1_000_000

test('wakes by itself when its next work is due, and at least every pollMs', async () => {
  for (const [pollMs, nextMs] of [
    [LONG_MS, 1],
    [1, LONG_MS],
    [1, null],
  ] as const) {
    const { promise: again, resolve } = Promise.withResolvers<void>()
    let begun = 0
    const run = async () => {
      if (++begun === 2) resolve()
      return nextMs
    }
    const duty = new Duty({ name: 'test', pollMs, run, log: silent })
    await duty.wake()
    // Its timers don't hold the process.
    const alive = setInterval(() => {}, LONG_MS)
    await again
    clearInterval(alive)
    await duty.stop()
  }
})

test('a nudge during a run is answered by a run that began after it', async () => {
  const runs: PromiseWithResolvers<null>[] = []
  const run = () => {
    const begun = Promise.withResolvers<null>()
    runs.push(begun)
    return begun.promise
  }
  const duty = new Duty({ name: 'test', pollMs: LONG_MS, run, log: silent })
  const first = duty.wake()
  await turn()
  let isOver = false
  const second = duty.wake().then(() => (isOver = true))
  runs[0]!.resolve(null)
  await first
  await turn()
  assert.equal(isOver, false)
  runs[1]!.resolve(null)
  await second
  await duty.stop()
  assert.equal(runs.length, 2)
})

test('a run that fails is logged and tried again; after the end there is none', async () => {
  const logged: unknown[] = []
  const log = pino({}, { write: line => void logged.push((JSON.parse(line) as { duty: string }).duty) })
  const { promise: again, resolve } = Promise.withResolvers<void>()
  let begun = 0
  const run = async () => {
    if (++begun === 1) throw new Error('not now')
    resolve()
    return LONG_MS
  }
  const duty = new Duty({ name: 'test', pollMs: 1, run, log })
  duty.wakeLater()
  assert.equal(begun, 0)
  const alive = setInterval(() => {}, LONG_MS)
  await again
  clearInterval(alive)
  await duty.stop()
  const before = begun
  await duty.wake()
  assert.deepEqual([begun, logged], [before, ['test']])
})
