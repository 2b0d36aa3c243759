import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Batches } from './batches.ts'

void test('what comes together is one batch, and what comes meanwhile is in the next', async () => {
  const seen: (readonly number[])[] = []
  const batches = new Batches<number, number>(async items => {
    seen.push(items)
    if (items.includes(1)) later.push(batches.submit(3))
    return items.map(item => item * 10)
  })
  const later: Promise<number>[] = []
  assert.deepEqual(await Promise.all([batches.submit(1), batches.submit(2)]), [10, 20])
  assert.deepEqual(await Promise.all(later), [30])
  assert.deepEqual(seen, [[1, 2], [3]])
})

void test('a batch that fails, fails for all in it, and the next one goes on', async () => {
  let runs = 0
  const batches = new Batches<number, number>(async items => {
    if (runs++ === 0) throw new Error('away')
    return items
  })
  const failed = await Promise.allSettled([batches.submit(1), batches.submit(2)])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await batches.submit(3), 3)
})
