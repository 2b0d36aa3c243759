import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireTerm } from './within.ts'
import { mostAtOnce } from './usage.ts'

const span = (from: number, until: number) => ({ from, until })

void test('a span that ends makes room for one that begins, and a span without end stays', () => {
  assert.equal(mostAtOnce([]), 0)
  assert.equal(mostAtOnce([span(0, 5), span(5, 9)]), 1)
  assert.equal(mostAtOnce([span(0, 5), span(4, 9), span(8, 12)]), 2)
  assert.equal(mostAtOnce([span(0, Infinity), span(0, Infinity), span(100, 101)]), 3)
})

void test('a term is refused only if it is too long, and longer than it was', () => {
  const hour = 3_600_000
  const limits = new Map([['longest_hold_hours', { max: 2, isDefault: false }]])
  const isRefused = (until: number | null, present?: number | null) => {
    const term = { from: 0, until, ...(present !== undefined && { present }) }
    try {
      requireTerm(limits, 'longest_hold_hours', term)
      return false
    } catch {
      return true
    }
  }
  assert.deepEqual([isRefused(2 * hour), isRefused(2 * hour + 1), isRefused(null)], [false, true, true])
  assert.deepEqual([isRefused(4 * hour, 5 * hour), isRefused(5 * hour, 4 * hour)], [false, true])
  assert.deepEqual([isRefused(9 * hour, null), isRefused(null, null), isRefused(null, hour)], [false, false, true])
})
