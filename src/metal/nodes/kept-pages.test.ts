import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../shared/limits.ts'
import { KeptPages, type NodePage } from './kept-pages.ts'

const pageOf = (...ends: (number | null)[]) =>
  ({ nodes: ends.map(end => ({ reserved_until: end })), marker: null }) as unknown as NodePage

test('a page is kept for as long as no node changes', () => {
  const fleet = { version: 7 }
  const kept = new KeptPages(fleet)
  const page = pageOf(null, null)
  kept.keep('all', page, 7)
  assert.equal(kept.get('all', 100), page)
  assert.equal(kept.get('others', 100), null)
  fleet.version = 8
  assert.equal(kept.get('all', 100), null)
  kept.keep('others', page, 8)
  assert.equal(kept.get('all', 100), null)
  assert.equal(kept.get('others', 100), page)
})

test('a page is kept until the first hold on its nodes ends', () => {
  const kept = new KeptPages({ version: 1 })
  const page = pageOf(null, 300, 200)
  kept.keep('all', page, 1)
  assert.equal(kept.get('all', 199), page)
  assert.equal(kept.get('all', 200), null)
})

test('a page is not kept if a node changed while it was found', () => {
  const kept = new KeptPages({ version: 2 })
  kept.keep('all', pageOf(), 1)
  assert.equal(kept.get('all', 1), null)
})

test('the oldest page goes when there are too many', () => {
  const kept = new KeptPages({ version: 1 })
  for (let i = 0; i <= limits.keptPagesMax; i++) kept.keep(`${i}`, pageOf(), 1)
  assert.equal(kept.get('0', 1), null)
  assert.notEqual(kept.get('1', 1), null)
})
