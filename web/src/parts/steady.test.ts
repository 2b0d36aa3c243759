import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steadyOf } from './steady.ts'

const rows = (...names: string[]) => new Map(names.map(name => [name, name]))

test('without a hand inside the rows are as they come, and an order that is the same is the same list', () => {
  const first = steadyOf(null, rows('a', 'b'), false)
  const second = steadyOf(first, rows('a', 'b'), false)
  assert.equal(second.keys, first.keys)
  assert.deepEqual(steadyOf(second, rows('b', 'a'), false).keys, ['b', 'a'])
})

test('under a hand the order stays, those that are gone stay, and new ones wait', () => {
  const first = steadyOf(null, rows('a', 'b', 'c'), false)
  const held = steadyOf(first, rows('c', 'a', 'd'), true)
  assert.deepEqual(held.keys, ['a', 'b', 'c'])
  assert.deepEqual([...held.gone], ['b'])
  assert.equal(held.pending, 4)
  assert.deepEqual(steadyOf(held, rows('c', 'a', 'd'), false).keys, ['c', 'a', 'd'])
})

test('a row that only changed is shown at once', () => {
  const first = steadyOf(null, new Map([['a', 1]]), false)
  const held = steadyOf(first, new Map([['a', 2]]), true)
  assert.equal(held.rows.get('a'), 2)
  assert.equal(held.pending, 0)
})
