import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstPages } from '../support/first-page.ts'
import { build } from './build.ts'

const BYTES_MAX = 150_000

void test('whichever page comes first, it needs at most 150 kB of JavaScript, gzipped', () => {
  build()
  const pages = firstPages()
  assert.ok(pages.has('now') && pages.has('calendar'))
  const large = [...pages].filter(([, bytes]) => bytes > BYTES_MAX)
  assert.deepEqual(large, [])
})
