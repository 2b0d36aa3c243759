import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partOf } from './byte-range.ts'

void test('a range is the bytes that are there', () => {
  assert.deepEqual(partOf('bytes=0-99', 1_000), { from: 0, to: 99 })
  assert.deepEqual(partOf('bytes=900-2000', 1_000), { from: 900, to: 999 })
  assert.deepEqual(partOf('bytes=900-', 1_000), { from: 900, to: 999 })
  assert.deepEqual(partOf('bytes=-10', 1_000), { from: 990, to: 999 })
  assert.deepEqual(partOf('bytes=-5000', 1_000), { from: 0, to: 999 })
})

void test('what begins behind the end is outside, and what is no range of bytes is everything', () => {
  for (const header of ['bytes=1000-', 'bytes=-0', 'bytes=5000-6000']) assert.equal(partOf(header, 1_000), 'outside')
  for (const header of [null, '', 'bytes=', 'bytes=-', 'bytes=9-1', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=a-b']) {
    assert.equal(partOf(header, 1_000), null)
  }
})
