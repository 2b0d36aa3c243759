import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diskShown, hardwareOf, memoryShown } from './hardware.ts'

test('sizes have the unit that people use', () => {
  assert.equal(memoryShown(1_048_576), '1 TiB')
  assert.equal(memoryShown(393_216), '384 GiB')
  assert.equal(memoryShown(512), '512 MiB')
  assert.equal(diskShown(480), '480 GB')
  assert.equal(diskShown(7_680), '7.7 TB')
})

test('what is known comes first, texts count as numbers, and what is no value is left out', () => {
  assert.deepEqual(hardwareOf({ gpu_model: 'A100', cpus: '8', cpu_arch: 'x86_64', memory_mb: 0, nested: {} }), [
    ['CPU', '8 × x86_64'],
    ['GPU model', 'A100'],
  ])
})

test('what an inspection found in detail takes the place of its summary', () => {
  const inventory = {
    cpu: { model_name: 'Xeon 6338' },
    disks: [{ size: 480e9, media_type: 'SSD' }, { size: 480e9, media_type: 'SSD' }, { size: 7.68e12 }],
    gpus: [{ model: 'A100' }, { model: 'A100' }],
    interfaces: [{ speed_mbps: 25_000 }, { speed_mbps: 25_000 }, {}],
    firmware: [
      { name: 'BIOS', version: '2.1' },
      { name: 'BIOS', version: '2.1' },
    ],
  }
  assert.deepEqual(hardwareOf({ cpus: 64, cpu_arch: 'x86_64', local_gb: 479, gpu: 'A100', serial: 'X1' }, inventory), [
    ['CPU', '64 × Xeon 6338'],
    ['Disk', '2 × 480 GB SSD, 1 × 7.7 TB'],
    ['GPUs', '2 × A100'],
    ['Network', '2 × 25 Gb/s, 1 × NIC'],
    ['Serial', 'X1'],
    ['Firmware', 'BIOS 2.1'],
  ])
})
