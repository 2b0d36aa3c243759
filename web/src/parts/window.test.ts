import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grown, rowsIn } from './window.ts'

const SEEN = { top: 3_000, bottom: 3_900 }
const WANTED = { top: 2_520, bottom: 4_380 }

void test('rows of one height and of many are found by their places', () => {
  assert.deepEqual(rowsIn({ each: 30, count: 100 }, { top: 60, bottom: 151 }), {
    from: 2,
    to: 6,
    before: 60,
    height: 3_000,
  })
  assert.deepEqual(rowsIn([40, 100, 130], { top: 50, bottom: 110 }), { from: 1, to: 3, before: 40, height: 130 })
  assert.deepEqual(rowsIn([], { top: 0, bottom: 500 }), { from: 0, to: 0, before: 0, height: 0 })
})

void test('what comes into view is drawn first, and what lies around it a little in each frame', () => {
  const first = grown({ top: 2_000, bottom: 3_700 }, SEEN, WANTED)
  assert.deepEqual(first, { top: 2_520, bottom: 3_900 })
  const second = grown(first, SEEN, WANTED)
  assert.deepEqual(second, { top: 2_520, bottom: 4_020 })
})

void test('after a jump the middle comes first, then all that is seen, and in the end all that is wanted', () => {
  let drawn = grown({ top: 0, bottom: 1_200 }, SEEN, WANTED)
  assert.deepEqual(drawn, { top: 3_300, bottom: 3_600 })
  drawn = grown(drawn, SEEN, WANTED)
  assert.deepEqual(drawn, { top: 3_060, bottom: 3_840 })
  drawn = grown(drawn, SEEN, WANTED)
  assert.deepEqual(drawn, { top: 2_940, bottom: 3_960 })
  for (let frame = 0; frame < 4; frame++) drawn = grown(drawn, SEEN, WANTED)
  assert.deepEqual(drawn, WANTED)
  assert.deepEqual(grown(drawn, SEEN, WANTED), WANTED)
})

void test('a page that is all seen draws all of it', () => {
  const seen = { top: -200, bottom: 700 }
  const wanted = { top: -720, bottom: 1_200 }
  let drawn = { top: 0, bottom: 1_200 }
  for (let frame = 0; frame < 10; frame++) drawn = grown(drawn, seen, wanted)
  assert.deepEqual(drawn, wanted)
})
