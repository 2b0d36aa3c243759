import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { atOnce } from './at-once.ts'

test('each item runs once, in order, at most `width` at a time, and onDone gets the count', async () => {
  let [atWork, most] = [0, 0]
  const begun: string[] = []
  const told: number[] = []
  const items = Array.from('abcdefghij')
  const act = async (item: string, at: number) => {
    begun.push(`${item}${at}`)
    most = Math.max(most, ++atWork)
    await turn()
    atWork--
  }
  await atOnce(items, act, { width: 3, onDone: done => told.push(done) })
  assert.equal(most, 3)
  assert.deepEqual(
    begun,
    items.map((item, at) => `${item}${at}`),
  )
  assert.deepEqual(
    told,
    items.map((_, at) => at + 1),
  )
  await atOnce([], act)
})

test('after a failure nothing new is started, and the caller gets the error', async () => {
  const begun: number[] = []
  const act = async (item: number) => {
    begun.push(item)
    await turn()
    if (item === 2) throw new Error('two')
  }
  await assert.rejects(atOnce([1, 2, 3, 4, 5, 6], act, { width: 2 }), /two/)
  await turn()
  await turn()
  assert.deepEqual(begun, [1, 2, 3])
})
