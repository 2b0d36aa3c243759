import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANY, areFaults, chosen, isMix } from './choice.ts'
import { AIMED as AIMED_FAULTS, MIXES as FAULTS } from './faults.ts'
import { AIMED, MIXES } from './mixes.ts'

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

void test('what is aimed at certain bugs runs by its name, and no seed chooses it', () => {
  assert.ok(Object.keys(AIMED).every(isMix) && Object.keys(AIMED_FAULTS).every(areFaults))
  assert.deepEqual(
    Object.keys(AIMED).filter(name => name in MIXES),
    [],
  )
  assert.deepEqual(
    Object.keys(AIMED_FAULTS).filter(name => name in FAULTS),
    [],
  )
  assert.deepEqual([isMix('toString'), areFaults('toString')], [false, false])
})
