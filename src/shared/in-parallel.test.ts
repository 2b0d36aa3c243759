import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inParallel } from './in-parallel.ts'

test('works on as many at a time as it may', async () => {
  let [now, most] = [0, 0]
  const done: number[] = []
  await inParallel([1, 2, 3, 4, 5], 2, async item => {
    most = Math.max(most, ++now)
    await Promise.resolve()
    now--
    done.push(item)
  })
  assert.deepEqual([done, most], [[1, 2, 3, 4, 5], 2])
})

test('a failure is thrown when all that was begun is over, and nothing is begun after it', async () => {
  const slow = Promise.withResolvers<void>()
  const seen: string[] = []
  const working = inParallel(['fails', 'is slow', 'is left out'], 2, async item => {
    seen.push(item)
    if (item === 'fails') throw new Error('away')
    await slow.promise
    seen.push('is over')
  }).catch((error: Error) => void seen.push(error.message))
  setImmediate(slow.resolve)
  await working
  assert.deepEqual(seen, ['fails', 'is slow', 'is over', 'away'])
})
