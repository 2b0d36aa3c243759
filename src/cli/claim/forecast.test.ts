// What a claim would change, and what stands in its way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesOf, type Stock } from './forecast.ts'

const inventory = (total: number, more: object = {}) => ({
  total,
  reserved: 0,
  min_unit: 1,
  max_unit: total,
  step_size: 1,
  allocation_ratio: 1,
  ...more,
})
const stock: Stock = {
  name: 'compute-1',
  inventories: {
    VCPU: inventory(4, { allocation_ratio: 2, max_unit: 4 }),
    MEMORY_MB: inventory(1_024, { reserved: 24, min_unit: 100, step_size: 50 }),
  },
  usages: { VCPU: 6, MEMORY_MB: 200 },
}
const stocks = new Map([['p', stock]])
const obstacle = (before: Record<string, number>, after: Record<string, number>) =>
  changesOf({ p: before }, { p: after }, stocks).find(({ obstacle }) => obstacle !== null)?.obstacle ?? null

test('what the consumer has already makes room for what it asks for', () => {
  assert.deepEqual(changesOf({ p: { VCPU: 2 } }, { p: { VCPU: 4 } }, stocks), [
    { provider: 'compute-1', resource_class: 'VCPU', before: 2, after: 4, used: 8, capacity: 8, obstacle: null },
  ])
  assert.equal(obstacle({}, { VCPU: 3 }), '9 of 8 would be used')
})

test('sizes that a provider doesn’t give are told, and so is a class that it doesn’t have', () => {
  assert.equal(obstacle({}, { MEMORY_MB: 50 }), 'at least 100 at once')
  assert.equal(obstacle({}, { MEMORY_MB: 120 }), 'only in steps of 50')
  assert.equal(obstacle({}, { VCPU: 5 }), 'at most 4 at once')
  assert.equal(obstacle({}, { DISK_GB: 1 }), 'it has none')
})

test('what is given back needs no room, whatever became of the provider', () => {
  const [gone] = changesOf({ p: { DISK_GB: 3, VCPU: 6 } }, {}, stocks)
  assert.deepEqual([gone!.before, gone!.after, gone!.obstacle], [3, 0, null])
})
