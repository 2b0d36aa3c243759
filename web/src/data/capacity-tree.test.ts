import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CapacityProvider } from '../../../src/client/capacity.ts'
import { amountShown, filteredTrees, rowsOf, treesOf } from './capacity-tree.ts'

const provider = (
  uuid: string,
  parent: string | null,
  inventories: CapacityProvider['inventories'] = {},
  traits: string[] = [],
): CapacityProvider => ({ uuid, name: uuid, parent, traits, inventories, lease: null })

const FLEET = [
  provider('host-10', null),
  provider('host-2', null, { DISK_GB: [1, 10] }),
  provider('host-2_numa0', 'host-2', { VCPU: [4, 8] }),
  provider('host-2_numa1', 'host-2', { VCPU: [1, 8] }),
  provider('host-2_numa1_gpu', 'host-2_numa1', { VGPU: [0, 4] }, ['CUSTOM_L40']),
]

test('a host has and uses what is below it', () => {
  const [host] = treesOf(FLEET)
  assert.deepEqual(Object.fromEntries(host!.sums), { DISK_GB: [1, 10], VCPU: [5, 16], VGPU: [0, 4] })
  assert.ok(host!.traits.has('CUSTOM_L40'))
})

test('hosts are in the order of their numbers, and children are called by what is their own', () => {
  const rows = rowsOf(treesOf(FLEET), () => true)
  assert.deepEqual(
    rows.map(({ name, depth }) => `${depth} ${name}`),
    ['0 host-2', '1 numa0', '1 numa1', '2 gpu', '0 host-10'],
  )
  assert.equal(rowsOf(treesOf(FLEET), () => false).length, 2)
})

test('a filter leaves what matches, what is above it, and what is below it', () => {
  const names = (text: string) => rowsOf(filteredTrees(treesOf(FLEET), text), () => true).map(({ name }) => name)
  assert.deepEqual(names('l40'), ['host-2', 'numa1', 'gpu'])
  assert.deepEqual(names('host-10'), ['host-10'])
  assert.deepEqual(names('nobody'), [])
})

test('one whose parent is not told stands by itself', () => {
  assert.equal(treesOf([provider('a', 'unknown')]).length, 1)
})

test('memory and disk are told in units that people use', () => {
  assert.equal(amountShown('MEMORY_MB', 65_536), '64 GiB')
  assert.equal(amountShown('MEMORY_MB', 512), '512 MiB')
  assert.equal(amountShown('MEMORY_MB', 7_372_800), '7 TiB')
  assert.equal(amountShown('MEMORY_MB', 0), '0')
  assert.equal(amountShown('DISK_GB', 3_800), '3.8 TB')
  assert.equal(amountShown('VCPU', 8), '8')
})
