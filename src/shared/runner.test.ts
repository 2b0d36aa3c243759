import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Runner } from './runner.ts'

/** A runner whose runs end when the test says so, and what has happened to it. */
function watched() {
  const open: PromiseWithResolvers<void>[] = []
  const failures: unknown[] = []
  let [begun, atOnce, mostAtOnce] = [0, 0, 0]
  const runner = new Runner(
    async () => {
      begun++
      mostAtOnce = Math.max(mostAtOnce, ++atOnce)
      const run = Promise.withResolvers<void>()
      open.push(run)
      await run.promise.finally(() => atOnce--)
    },
    error => failures.push(error),
  )
  /** Which of these are over by now. */
  const overOf = (...asked: Promise<void>[]) => {
    const over = asked.map(() => false)
    asked.forEach((one, i) => void one.then(() => (over[i] = true)))
    return async () => {
      await turn()
      return over
    }
  }
  return { runner, open, failures, overOf, counts: () => ({ begun, mostAtOnce }) }
}

test('runs when asked, and again when asked later', async () => {
  const { runner, open, counts } = watched()
  for (const begun of [1, 2]) {
    const asked = runner.run()
    await turn()
    open.shift()!.resolve()
    await asked
    assert.deepEqual(counts(), { begun, mostAtOnce: 1 })
  }
})

test('however often it is asked during a run, it runs exactly once more, and all wait for that run', async () => {
  const { runner, open, overOf, counts } = watched()
  const first = runner.run()
  await turn()
  const over = overOf(first, runner.run(), runner.run(), runner.run())
  open.shift()!.resolve()
  assert.deepEqual(await over(), [true, false, false, false])
  assert.equal(counts().begun, 2)
  open.shift()!.resolve()
  assert.deepEqual(await over(), [true, true, true, true])
  assert.deepEqual(counts(), { begun: 2, mostAtOnce: 1 })
})

test('a request at the very moment when a run ends is not lost', async () => {
  for (let steps = 0; steps < 10; steps++) {
    let begun = 0
    const runner = new Runner(async () => void begun++, assert.ifError)
    void runner.run()
    for (let step = 0; step < steps; step++) await Promise.resolve()
    const before = begun
    await runner.run()
    assert.ok(begun > before, `asked after ${steps} steps`)
  }
})

test('asked by its own run, it runs once more', async () => {
  let begun = 0
  const runner: Runner = new Runner(async () => {
    if (++begun === 1) void runner.run()
  }, assert.ifError)
  await runner.run()
  await turn()
  assert.equal(begun, 2)
})

test('a run that fails is reported, rejects nobody, and does not stop the next one', async () => {
  const { runner, open, failures, counts } = watched()
  const [first] = [runner.run(), await turn()]
  const second = runner.run()
  open.shift()!.reject(new Error('no luck'))
  await first
  await turn()
  open.shift()!.resolve()
  await second
  assert.deepEqual(failures, [new Error('no luck')])
  assert.equal(counts().begun, 2)
})

test('work that throws instead of rejecting counts as failed too', async () => {
  const failures: unknown[] = []
  const work = () => {
    throw new Error('at once')
  }
  const runner = new Runner(work, error => failures.push(error))
  await runner.run()
  await runner.run()
  assert.equal(failures.length, 2)
})

test('stopping waits for the present run; what was asked meanwhile ends without one', async () => {
  const { runner, open, overOf, counts } = watched()
  const present = runner.run()
  await turn()
  const over = overOf(runner.run(), runner.stop())
  assert.deepEqual(await over(), [false, false])
  open.shift()!.resolve()
  await present
  assert.deepEqual(await over(), [true, true])
  await runner.run()
  assert.equal(counts().begun, 1)
})

test('a runner that never ran can be stopped', async () => {
  const { runner, counts } = watched()
  await runner.stop()
  assert.equal(counts().begun, 0)
})
