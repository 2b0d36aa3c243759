// Lists of any length: the same JSON, whether it is written at once or in pieces.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pieces } from '../http/pieces.ts'
import { limits } from '../shared/limits.ts'
import { longList, longObject } from './long-list.ts'

test('a list is the same in one piece and in many', async () => {
  for (const length of [0, 1, limits.listItemsPerTurn, limits.listItemsPerTurn + 1, limits.listItemsPerTurn * 3]) {
    const items = Array.from({ length }, (_, i) => i)
    const body = await longList('things', items, i => ({ name: `Größe "${i}"` }))
    const text = body instanceof Pieces ? Buffer.concat(body.buffers).toString() : JSON.stringify(body)
    assert.deepEqual(JSON.parse(text), { things: items.map(i => ({ name: `Größe "${i}"` })) })
    assert.equal(body instanceof Pieces, length > limits.listItemsPerTurn)
    if (body instanceof Pieces) assert.equal(body.bytes, Buffer.byteLength(text))
  }
})

test('an object of many members is the same in one piece and in many, with and without further members', async () => {
  for (const length of [0, 1, limits.listItemsPerTurn, limits.listItemsPerTurn + 1, limits.listItemsPerTurn * 3]) {
    for (const rest of [{}, { generation: 7 }]) {
      const items = Array.from({ length }, (_, i) => i)
      const body = await longObject('things', items, i => [`"Größe" ${i}`, { i }], rest)
      const text = body instanceof Pieces ? Buffer.concat(body.buffers).toString() : JSON.stringify(body)
      const things = Object.fromEntries(items.map(i => [`"Größe" ${i}`, { i }]))
      assert.deepEqual(JSON.parse(text), { things, ...rest })
      assert.equal(body instanceof Pieces, length > limits.listItemsPerTurn)
    }
  }
})
