import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { workFor } from './line.ts'
import { limits } from './limits.ts'
import { nextTurnOfLoop, turnOfLoop } from './loop.ts'

const work = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('while there is time in a turn of the loop, work begins at once; after that it waits for a later one', async () => {
  await turn()
  assert.equal(turnOfLoop(), null)
  assert.equal(turnOfLoop(), null)
  work(limits.loopTurnMs)
  const waiting = turnOfLoop()
  assert.ok(waiting)
  assert.ok(turnOfLoop(), 'who comes later does not overtake')
  await waiting
})

test('who asks for little is heard after one of those who ask for much', async () => {
  const done: string[] = []
  const ask = (who: string) =>
    workFor(who, async () => {
      await nextTurnOfLoop()
      work(limits.loopTurnMs)
      done.push(who)
    })
  const greedy = Array.from({ length: 20 }, () => ask('greedy'))
  await ask('quiet')
  assert.ok(done.length <= 2 && done.at(-1) === 'quiet', done.join())
  await Promise.all(greedy)
  assert.equal(done.length, 21)
})

test('between two that use up a turn, sockets are read', async () => {
  const order: string[] = []
  const busy = Array.from({ length: 3 }, async (_, i) => {
    await nextTurnOfLoop()
    work(limits.loopTurnMs)
    order.push(`work ${i}`)
  })
  setTimeout(() => order.push('socket'), 0)
  await Promise.all(busy)
  assert.ok(order.indexOf('socket') > 0 && order.indexOf('socket') < 3, order.join())
})
