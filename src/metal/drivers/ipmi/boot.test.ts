import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine } from '../port.ts'
import { wordsFor } from './boot.ts'

const words = (boot_device: string, persistent: boolean, more: Partial<Machine> = {}) =>
  wordsFor({ properties: {}, instanceInfo: {}, ...more } as Machine, { boot_device, persistent }).join(' ')

test('UEFI gets the boot flags, once or for good; a BIOS gets the words of ipmitool', () => {
  const bios = { properties: { capabilities: 'boot_mode:bios' } }
  assert.equal(words('pxe', true), 'raw 0x00 0x08 0x05 0xe0 0x04 0x00 0x00 0x00')
  assert.equal(words('cdrom', false), 'raw 0x00 0x08 0x05 0xa0 0x14 0x00 0x00 0x00')
  assert.equal(words('bios', false), 'chassis bootdev bios')
  assert.equal(words('disk', true, bios), 'chassis bootdev disk options=persistent')
  assert.equal(
    words('pxe', false, { ...bios, instanceInfo: { capabilities: { boot_mode: 'uefi' } } }).slice(0, 3),
    'raw',
  )
})

test('the disk of a Supermicro has a number of its own', () => {
  assert.match(words('disk', true, { properties: { vendor: 'Supermicro' } }), /0xe0 0x24/)
  assert.match(words('disk', true), /0xe0 0x08/)
})
