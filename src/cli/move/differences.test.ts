import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumerDifferences, levelsOf, partsToWrite, providerDifferences } from './differences.ts'
import type { ConsumerState, ProviderState } from './placement.ts'

const terms = { total: 8, reserved: 0, min_unit: 1, max_unit: 8, step_size: 1, allocation_ratio: 1.3 }
const provider: ProviderState = {
  uuid: 'p',
  name: 'host',
  parent: null,
  inventories: { VCPU: terms },
  traits: ['B', 'A'],
  aggregates: ['y', 'x'],
  generation: 4,
}
const consumer: ConsumerState = {
  resources: { p: { VCPU: 1, DISK_GB: 2 } },
  project: 'a',
  user: 'b',
  type: 'INSTANCE',
  generation: 1,
}

test('order, generations and the precision of a ratio are no differences', () => {
  const single = { ...terms, allocation_ratio: Math.fround(1.3) }
  const other = {
    ...provider,
    generation: 9,
    traits: ['A', 'B'],
    aggregates: ['x', 'y'],
    inventories: { VCPU: single },
  }
  assert.deepEqual(providerDifferences(provider, other), [])
  const swapped = { ...consumer, generation: 7, resources: { p: { DISK_GB: 2, VCPU: 1 } } }
  assert.deepEqual(consumerDifferences('c', consumer, swapped, true), [])
})

test('each field that differs is named, with both sides', () => {
  const other = { ...provider, name: 'new', parent: 'q', traits: ['A'], inventories: { DISK_GB: terms } }
  assert.deepEqual(
    providerDifferences(provider, other).map(({ field }) => field),
    ['name', 'parent', 'VCPU', 'traits', 'DISK_GB'],
  )
  const moved = { ...consumer, resources: { q: { VCPU: 1, DISK_GB: 2 } } }
  assert.deepEqual(
    consumerDifferences('c', consumer, moved, true).map(({ field }) => field),
    ['of p', 'of q'],
  )
})

test('what one side lacks is one difference, and what both lack is none', () => {
  const of = (differences: readonly { from: unknown; to: unknown }[]) => differences.map(({ from, to }) => [from, to])
  assert.deepEqual(of(providerDifferences(provider, null)), [['there', 'absent']])
  assert.deepEqual(of(consumerDifferences('c', null, consumer, true)), [['absent', 'there']])
  assert.deepEqual(providerDifferences(null, null), [])
  assert.deepEqual(consumerDifferences('c', null, null, true), [])
})

test('types count only where both sides have them', () => {
  const untyped = { ...consumer, type: null }
  assert.deepEqual(consumerDifferences('c', consumer, untyped, false), [])
  assert.equal(consumerDifferences('c', consumer, untyped, true)[0]!.field, 'type')
})

test('only the parts of a provider that differ are written', () => {
  assert.deepEqual(partsToWrite(provider, null), ['inventories', 'traits', 'aggregates'])
  assert.deepEqual(partsToWrite(provider, provider), [])
  assert.deepEqual(partsToWrite(provider, { ...provider, name: 'x', traits: [] }), ['traits'])
  assert.deepEqual(partsToWrite({ ...provider, inventories: {}, traits: [], aggregates: [] }, null), [])
})

test('parents come before their children, however they are listed', () => {
  const row = (uuid: string, parent: string | null) => ({ uuid, name: uuid, parent, generation: 0 })
  const rows = [row('c', 'b'), row('b', 'a'), row('a', null), row('z', 'elsewhere')]
  assert.deepEqual(
    levelsOf(rows).map(level => level.map(({ uuid }) => uuid)),
    [['a', 'z'], ['b'], ['c']],
  )
})
