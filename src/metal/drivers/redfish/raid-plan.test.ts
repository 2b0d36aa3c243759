import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../port.ts'
import { type Controller, type Drive, logicalDisksIn, planVolumes } from './raid-plan.ts'

const GIB = 1024 ** 3
const drive = (id: string, gib: number, more: Partial<Drive> = {}): Drive => ({
  path: `/drives/${id}`,
  id,
  name: `Bay ${id}`,
  bytes: gib * GIB,
  type: 'ssd',
  protocol: 'sas',
  isFree: true,
  ...more,
})
const controller = (drives: Drive[], raidTypes: string[] = []): Controller => ({
  id: 'R1',
  name: 'RAID 1',
  volumesPath: '/volumes',
  raidTypes,
  drives,
})
const plan = (disks: Json[], ...drives: Drive[]) =>
  planVolumes(disks, [controller(drives)]).map(({ raidType, drives, bytes }) => [
    raidType,
    drives.map(({ id }) => id).join(''),
    bytes === null ? null : bytes / GIB,
  ])

const SIX = ['a', 'b', 'c', 'd', 'e', 'f'].map(id => drive(id, 100))

test('a volume takes no more disks than it needs, unless it takes all', () => {
  assert.deepEqual(plan([{ raid_level: '1', size_gb: 50 }], ...SIX), [['RAID1', 'ab', 50]])
  assert.deepEqual(plan([{ raid_level: '5', size_gb: 250 }], ...SIX), [['RAID5', 'abcd', 250]])
  assert.deepEqual(plan([{ raid_level: '5', size_gb: 'MAX' }], ...SIX), [['RAID5', 'abcdef', null]])
  assert.deepEqual(plan([{ raid_level: '1+0', size_gb: 'MAX' }], ...SIX.slice(0, 5)), [['RAID10', 'abcd', null]])
  const three = { raid_level: '0', size_gb: 'MAX', number_of_physical_disks: 3 }
  assert.deepEqual(plan([three], ...SIX), [['RAID0', 'abc', null]])
})

test('the smallest disks that suffice are taken, and disks are not mixed', () => {
  const disks = [drive('a', 400), drive('b', 400), drive('c', 100), drive('d', 100), drive('e', 200)]
  assert.deepEqual(plan([{ raid_level: '1', size_gb: 50 }], ...disks), [['RAID1', 'cd', 50]])
  assert.deepEqual(plan([{ raid_level: '1', size_gb: 150 }], ...disks), [['RAID1', 'ab', 150]])
})

test('who names disks gets them, and who takes the rest comes last', () => {
  const wanted = [
    { raid_level: '0', size_gb: 'MAX' },
    { raid_level: '1', size_gb: 10 },
    { raid_level: '0', size_gb: 'MAX', physical_disks: ['Bay a'] },
  ]
  assert.deepEqual(plan(wanted, ...SIX), [
    ['RAID0', 'a', null],
    ['RAID1', 'bc', 10],
    ['RAID0', 'def', null],
  ])
})

test('disks of another kind, and those in use, are left alone', () => {
  const disks = [
    drive('a', 100, { type: 'hdd' }),
    drive('b', 100, { isFree: false }),
    drive('c', 100, { protocol: 'sata' }),
    drive('d', 100),
  ]
  const wanted = { raid_level: '0', size_gb: 10, disk_type: 'ssd', interface_type: 'sas' }
  assert.deepEqual(plan([wanted], ...disks), [['RAID0', 'd', 10]])
})

test('what can not be made is said before anything is touched', () => {
  const wrong = (disk: Json, message: RegExp) => assert.throws(() => plan([disk], ...SIX), message)
  wrong({ raid_level: '1', size_gb: 101 }, /no free disks for a volume RAID1 of 101 GiB/)
  wrong({ raid_level: '6+0', size_gb: 'MAX' }, /RAID60 of any size/)
  wrong({ raid_level: '1', size_gb: 1, controller: 'X' }, /at controller X/)
  wrong({ raid_level: '1', size_gb: 1, physical_disks: ['a', 'z'] }, /on the disks a, z/)
  wrong({ raid_level: '2', size_gb: 1 }, /raid_level "2"/)
  wrong({ raid_level: '1' }, /needs size_gb/)
  assert.throws(() => planVolumes([{ raid_level: '5', size_gb: 1 }], [controller(SIX, ['RAID0', 'RAID1'])]), /RAID5/)
})

test('the root volume and the others can be made apart', () => {
  const target = { logical_disks: [{ is_root_volume: true, n: 1 }, { n: 2 }, 'x'] }
  assert.deepEqual(logicalDisksIn(target, { root: true, others: false }), [{ is_root_volume: true, n: 1 }])
  assert.deepEqual(logicalDisksIn(target, { root: false, others: true }), [{ n: 2 }])
  assert.deepEqual(logicalDisksIn({}, { root: true, others: true }), [])
})
