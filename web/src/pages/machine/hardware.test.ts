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
    ['gpu model', 'A100'],
  ])
})
