// The forecast of a claim: what it would change, and why it would be refused.
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

test('the consumer’s present claim counts as free room for its new claim', () => {
  assert.deepEqual(changesOf({ p: { VCPU: 2 } }, { p: { VCPU: 4 } }, stocks), [
    { provider: 'compute-1', resource_class: 'VCPU', before: 2, after: 4, used: 8, capacity: 8, obstacle: null },
  ])
  assert.equal(obstacle({}, { VCPU: 3 }), '9 of 8 would be used')
})

test('an amount of the wrong size is an obstacle, and so is a class that the provider doesn’t have', () => {
  assert.equal(obstacle({}, { MEMORY_MB: 50 }), 'at least 100 at once')
  assert.equal(obstacle({}, { MEMORY_MB: 120 }), 'only in steps of 50')
  assert.equal(obstacle({}, { VCPU: 5 }), 'at most 4 at once')
  assert.equal(obstacle({}, { DISK_GB: 1 }), 'it has none')
})

test('giving back needs no room, even if the provider no longer has the class', () => {
  const [gone] = changesOf({ p: { DISK_GB: 3, VCPU: 6 } }, {}, stocks)
  assert.deepEqual([gone!.before, gone!.after, gone!.obstacle], [3, 0, null])
})
