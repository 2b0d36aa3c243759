// Room for large answers: counted by caller, waited for in line, and refused in the end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Room } from './room.ts'

const roomOf = (max: number, waitMsMax = 60_000) => new Room({ max, share: 0.5, waitMsMax })

test('who finds no room waits in line, and gets it when others leave', async () => {
  const room = roomOf(100)
  const [first, second] = [await room.enter('one', 50), await room.enter('two', 40)]
  const order: string[] = []
  const third = room.enter('three', 30).then(held => (order.push('three'), held))
  const fourth = room.enter('four', 5).then(held => (order.push('four'), held))
  await Promise.resolve()
  // Four would fit, but three, who asks for more, would never be next.
  assert.deepEqual([room.held, room.waiting, order.length], [90, 2, 0])
  first.leave()
  for (const held of await Promise.all([third, fourth])) held.leave()
  assert.deepEqual(order, ['three', 'four'])
  second.leave()
  second.leave()
  assert.deepEqual([room.held, room.waiting], [0, 0])
})

test('who has used up the share waits, and others pass', async () => {
  const room = roomOf(100)
  const held = await room.enter('greedy', 50)
  const more = room.enter('greedy', 10)
  const quiet = await room.enter('quiet', 10)
  assert.deepEqual([room.held, room.waiting], [60, 1])
  quiet.leave()
  held.leave()
  const last = await more
  last.leave()
  assert.equal(room.held, 0)
})

test('a wait that is too long is refused, to be tried again', async () => {
  const room = roomOf(100, 1)
  const held = await room.enter('one', 100 / 2)
  const other = await room.enter('two', 100 / 2)
  await assert.rejects(room.enter('three', 1), { kind: 'unavailable' })
  assert.equal(room.waiting, 0)
  held.leave()
  other.leave()
})

test('what an answer takes beyond what it asked for is counted, and refused without room', async () => {
  const room = roomOf(100)
  const held = await room.enter('one', 10)
  held.use(8)
  held.use(8)
  assert.equal(room.held, 16)
  assert.throws(() => held.use(40), { kind: 'too_many_requests' })
  const other = await room.enter('two', 50)
  assert.throws(() => other.use(90), { kind: 'unavailable' })
  other.settle()
  held.leave()
  other.leave()
  assert.equal(room.held, 0)
})

test('what an answer did not need is given back when it is made', async () => {
  const room = roomOf(100)
  const held = await room.enter('one', 50)
  held.use(20)
  held.settle()
  assert.equal(room.held, 20)
  held.leave()
  assert.equal(room.held, 0)
})
