import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { Line, ownWork, whoseWork, workFor } from './line.ts'
import { limits } from './limits.ts'

/** Pushes letters in turn of whom they begin with: `a1` is a's. */
function lineOf(items: readonly string[], now = () => 0): Line<string> {
  const line = new Line<string>(now)
  for (const item of items) line.push(item, item[0])
  return line
}

test('each turn gives one to each who waits, and the first come first within their own', () => {
  const line = lineOf(['a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
  assert.deepEqual([...line], ['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  assert.deepEqual(line.take(4), ['a1', 'b1', 'c1', 'a2'])
  line.push('b2', 'b')
  assert.deepEqual([line.length, line.take(9), line.shift()], [3, ['c2', 'a3', 'b2'], undefined])
})

test('one that gives up is gone, and the others keep their turns', () => {
  const line = new Line<object>(() => 0)
  const [one, two, three] = [{}, {}, {}]
  line.push(one, 'a')
  line.push(two, 'b')
  line.push(three, 'a')
  assert.deepEqual([line.delete(one), line.delete(one), line.length], [true, false, 2])
  assert.deepEqual([line.shift() === three, line.shift() === two], [true, true])
})

test('nobody waits for more than one of each other, and all come out, in the order that was shown', () => {
  const steps = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.constant('take')), { maxLength: 200 })
  fc.assert(
    fc.property(steps, found => {
      const line = new Line<{ who: string; at: number }>(() => 0)
      const waited = new Map<string, Map<string, number>>()
      let count = 0
      for (const [at, step] of found.entries()) {
        if (step !== 'take') {
          line.push({ who: step, at }, step)
          count++
          if (!waited.has(step)) waited.set(step, new Map())
          continue
        }
        const [shown] = line
        const taken = line.shift()
        assert.equal(taken, shown)
        if (!taken) continue
        count--
        const left = [...line]
        waited.delete(taken.who)
        assert.ok(left.every(one => one.who !== taken.who || one.at > taken.at))
        if (left.some(({ who }) => who === taken.who)) waited.set(taken.who, new Map())
        for (const [who, before] of waited) {
          if (who === taken.who) continue
          before.set(taken.who, (before.get(taken.who) ?? 0) + 1)
          assert.ok(before.get(taken.who)! <= 1, `${who} waited for two of ${taken.who}`)
        }
      }
      assert.equal(line.length, count)
    }),
  )
})

test('a round ends early only while several come', () => {
  let now = 0
  const line = lineOf(['a1', 'a2', 'a3'], () => now)
  const slowly = () => {
    const taken: string[] = []
    for (const item of line.round(3, 5)) {
      taken.push(item)
      now += 4
    }
    return taken
  }
  assert.deepEqual([line.isShared, slowly()], [false, ['a1', 'a2', 'a3']])
  for (const item of ['a1', 'a2', 'b1', 'b2']) line.push(item, item[0])
  assert.deepEqual([line.isShared, slowly()], [true, ['a1', 'b1']])
  now += limits.lineSharedMs + 1
  assert.equal(line.isShared, false)
  assert.deepEqual(slowly(), ['a2', 'b2'])
})

test('what nobody asked for makes nobody hurry', () => {
  const line = new Line<object>(() => 0)
  ownWork(() => line.push({}))
  workFor('a', () => line.push({}))
  ownWork(() => line.push({}))
  assert.equal(line.isShared, false)
})

test('for whom work is done goes along with promises and timers', async () => {
  const seen = await workFor('a', async () => {
    await turn()
    const own = await ownWork(async () => {
      await turn()
      return whoseWork()
    })
    return [whoseWork(), own]
  })
  assert.deepEqual([seen, whoseWork()], [['a', ''], ''])
})
