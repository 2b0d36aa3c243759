import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANY, chosen } from './choice.ts'
import { MIXES as FAULTS } from './faults.ts'
import { MIXES } from './mixes.ts'

void test('as many seeds as there are pairs meet each mix with all faults', () => {
  const pairs = Object.keys(MIXES).length * Object.keys(FAULTS).length
  const met = Array.from({ length: pairs }, (_, seed) => chosen(1_000 + seed, { mix: ANY, faults: ANY }))
  assert.equal(new Set(met.map(({ mix, faults }) => `${mix} ${faults}`)).size, pairs)
})

void test('every seed after as many as there are mixes, and one more, has another mix and other faults', () => {
  const mixes = Object.keys(MIXES).length
  const met = Array.from({ length: mixes }, (_, place) =>
    chosen(1_000 + place * (mixes + 1), { mix: ANY, faults: ANY }),
  )
  assert.equal(new Set(met.map(({ mix }) => mix)).size, mixes)
  assert.equal(new Set(met.map(({ faults }) => faults)).size, Object.keys(FAULTS).length)
})

void test('what is named is what runs', () => {
  assert.deepEqual(chosen(5, { mix: 'queue', faults: 'none' }), { mix: 'queue', faults: 'none' })
})
