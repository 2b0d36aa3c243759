// So many at once, and nobody is forgotten.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lane } from './lane.ts'

test('no more than the limit run at once, all run in their order, and failures free their place', async () => {
  const lane = new Lane(3)
  const order: number[] = []
  let [running, most] = [0, 0]
  const all = Array.from({ length: 20 }, (_, i) =>
    lane.run(async () => {
      order.push(i)
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      if (i % 4 === 0) throw new Error(`${i}`)
    }),
  )
  assert.ok(lane.isFull)
  assert.equal(lane.waiting, 17)
  const settled = await Promise.allSettled(all)
  assert.equal(settled.filter(({ status }) => status === 'rejected').length, 5)
  assert.equal(most, 3)
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, i) => i),
  )
  assert.ok(!lane.isFull)
})
