// What an inspection changes in a node's traits and capabilities.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../shared/limits.ts'
import { capabilitiesAfter, traitsAfter } from './after-inspection.ts'

const after = (given: Partial<Parameters<typeof traitsAfter>[0]>) =>
  traitsAfter({ present: [], before: [], named: [], isBooked: false, ...given })

void test('what no longer holds is taken away; what a person gave stays', () => {
  const first = after({ present: ['CUSTOM_A', 'CUSTOM_MINE'], named: ['CUSTOM_A', 'CUSTOM_GPU_OLD'] })
  assert.deepEqual(first.traits, ['CUSTOM_A', 'CUSTOM_GPU_OLD', 'CUSTOM_MINE'])
  assert.deepEqual(first.given, ['CUSTOM_GPU_OLD'])
  const second = after({ present: first.traits, before: first.given, named: ['CUSTOM_GPU_NEW'] })
  assert.deepEqual(second.traits, ['CUSTOM_A', 'CUSTOM_GPU_NEW', 'CUSTOM_MINE'])
  assert.deepEqual(second.given, ['CUSTOM_GPU_NEW'])
})

void test('a booked node loses no traits, and they are still the rules’', () => {
  const found = after({ present: ['CUSTOM_OLD'], before: ['CUSTOM_OLD'], named: ['CUSTOM_NEW'], isBooked: true })
  assert.deepEqual(
    [found.traits, found.given],
    [
      ['CUSTOM_NEW', 'CUSTOM_OLD'],
      ['CUSTOM_OLD', 'CUSTOM_NEW'],
    ],
  )
})

void test('a node has at most its number of traits; the rest is left out', () => {
  const present = Array.from({ length: limits.nodeTraitsMax - 1 }, (_, at) => `CUSTOM_${at}`)
  const { traits, tooMany } = after({ present, named: ['CUSTOM_X', 'CUSTOM_Y', 'CUSTOM_0'] })
  assert.equal(traits.length, limits.nodeTraitsMax)
  assert.deepEqual(tooMany, ['CUSTOM_Y'])
})

void test('capabilities that were found replace those of the same name', () => {
  assert.equal(capabilitiesAfter('boot_mode:bios, rack:7', 'boot_mode:uefi'), 'boot_mode:uefi,rack:7')
  for (const nothing of [undefined, null, 7, '']) assert.equal(capabilitiesAfter(nothing, 'a:b'), 'a:b')
})
