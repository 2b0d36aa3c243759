// What counts as a RAID configuration.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raidConfigIn } from './raid.ts'

const DISK = { raid_level: '1', size_gb: 100 }

void test('logical disks with a level and a size are taken, and so is none', () => {
  for (const config of [{}, { logical_disks: [DISK, { ...DISK, size_gb: 'MAX', is_root_volume: true }] }]) {
    assert.deepEqual(raidConfigIn(config), config)
  }
})

void test('what is no logical disk is refused', () => {
  for (const disks of [
    7,
    [],
    [7],
    [null],
    [{}],
    [{ raid_level: '1' }],
    [{ ...DISK, size_gb: 0 }],
    [{ ...DISK, size_gb: 'max' }],
    [{ ...DISK, raid_level: '7' }],
    [{ ...DISK, more: 1 }],
    [{ ...DISK, physical_disks: [] }],
    [
      { ...DISK, is_root_volume: true },
      { ...DISK, is_root_volume: true },
    ],
    Array.from({ length: 300 }, () => DISK),
  ]) {
    assert.throws(() => raidConfigIn({ logical_disks: disks }))
  }
  assert.throws(() => raidConfigIn({ more: 1 }), /no member more/)
})
