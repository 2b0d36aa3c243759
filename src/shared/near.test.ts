// The word that was probably meant.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from './near.ts'

const WORDS = ['affinity', 'amount', 'min', 'max', 'vcpus', 'memory_mb']

void test('a letter more, less, other or swapped is a typo', () => {
  for (const [given, meant] of [
    ['afinity', 'affinity'],
    ['affinitty', 'affinity'],
    ['Affinity', 'affinity'],
    ['affintiy', 'affinity'],
    ['ammont', 'amount'],
    ['vcpu', 'vcpus'],
    ['memory_bm', 'memory_mb'],
    ['mim', 'min'],
  ]) {
    assert.equal(nearest(given!, WORDS), meant)
  }
})

void test('another word is not', () => {
  for (const given of ['', 'id', 'mem', 'hypervisor', 'infinity_or_so', 'count', 'x'.repeat(10_000)]) {
    assert.equal(nearest(given, WORDS), null)
  }
})
