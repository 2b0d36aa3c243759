// Turns: one piece at a time, and each caller in turn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns } from './turns.ts'

test('one piece a turn of the event loop, of each caller in turn, however many works one has', async () => {
  const turns = new Turns()
  const done: string[] = []
  let ticks = 0
  const tick = () => {
    ticks++
    if (done.length < 12) setImmediate(tick)
  }
  const at: number[] = []
  const work = async (caller: string, pieces: number) => {
    for (let i = 0; i < pieces; i++) {
      await turns.next(caller)
      done.push(caller)
      at.push(ticks)
    }
  }
  const all = [...Array.from({ length: 5 }, () => work('greedy', 2)), work('quiet', 2)]
  setImmediate(tick)
  await Promise.all(all)
  assert.deepEqual(done.slice(0, 4), ['greedy', 'quiet', 'greedy', 'quiet'])
  assert.equal(new Set(at).size, at.length, 'two pieces in one turn')
})
