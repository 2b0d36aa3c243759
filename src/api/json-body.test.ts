import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { limits } from '../shared/limits.ts'
import { requireModest } from './json-body.ts'

const isRefused = (text: string) => {
  try {
    requireModest(Buffer.from(text))
    return false
  } catch {
    return true
  }
}
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
const nested = (depth: number, inside: string) => '['.repeat(depth) + inside + ']'.repeat(depth)

test('exactly the bodies that are nested too deep are refused', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 55, max: 70 }), (value, around) => {
      const text = nested(around, JSON.stringify(value))
      assert.equal(isRefused(text), depthOf(value) + around > limits.jsonDepthMax)
    }),
  )
})

test('brackets, commas and quotes inside of strings don’t count', () => {
  const text = JSON.stringify({ '[[[': ['[{'.repeat(1_000), '\\"['.repeat(1_000), '\\', ','.repeat(300_000)] })
  assert.equal(isRefused(text), false)
})

test('a body of too many values is refused', () => {
  const list = (length: number) => JSON.stringify(Array.from({ length }, () => 0))
  assert.equal(isRefused(list(limits.jsonElementsMax)), false)
  assert.equal(isRefused(list(limits.jsonElementsMax + 1)), true)
  assert.equal(isRefused(`[${'[],'.repeat(limits.jsonElementsMax / 2)}0]`), true)
})

test('what isn’t JSON is left to the parser', () => {
  for (const text of ['', '"', '"\\', ']]]]', '{"a', '[[[', 'é']) assert.equal(isRefused(text), false, text)
})
