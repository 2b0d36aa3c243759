import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Flavor } from './flavors.ts'
import { asksForReservation, candidateRequestOf, wishOf, wrongSpec } from './wishes.ts'

const flavor = (extra_specs: Record<string, string> = {}, size: Partial<Flavor> = {}): Flavor => ({
  id: 'f',
  name: 'f',
  vcpus: 2,
  ram_mb: 1024,
  disk_gb: 5,
  ephemeral_gb: 0,
  swap_mb: 0,
  rxtx_factor: 1,
  is_public: 1,
  disabled: 0,
  managed_by: null,
  created_at: 0,
  ...size,
  extra_specs,
})
const resources = (wanted: Flavor) => wishOf(wanted).groups['']!.resources

test('a flavor asks for its size', () => {
  assert.deepEqual(resources(flavor()), { VCPU: 2, MEMORY_MB: 1024, DISK_GB: 5 })
})

test('disk is root, ephemeral and swap together, swap in whole GB', () => {
  assert.equal(resources(flavor({}, { ephemeral_gb: 3, swap_mb: 1025 }))['DISK_GB'], 10)
})

test('what is zero is not asked for', () => {
  assert.deepEqual(resources(flavor({ 'resources:VCPU': '0' }, { disk_gb: 0 })), { MEMORY_MB: 1024 })
})

test('extra specs override, add, and group', () => {
  const wish = wishOf(
    flavor({
      'resources:VCPU': '1',
      'resources:CUSTOM_GPU': '2',
      'trait:HW_CPU_X86_VMX': 'required',
      'trait:CUSTOM_OLD': 'forbidden',
      'resources_a:VGPU': '1',
      'trait_a:CUSTOM_NEAR': 'required',
      group_policy: 'isolate',
      'hw:cpu_policy': 'dedicated',
    }),
  )
  assert.deepEqual(wish, {
    groups: {
      '': {
        resources: { VCPU: 1, MEMORY_MB: 1024, DISK_GB: 5, CUSTOM_GPU: 2 },
        required: ['HW_CPU_X86_VMX'],
        forbidden: ['CUSTOM_OLD'],
      },
      _a: { resources: { VGPU: 1 }, required: ['CUSTOM_NEAR'], forbidden: [] },
    },
    groupPolicy: 'isolate',
  })
})

test('names from Object.prototype are suffixes like any other', () => {
  const { groups } = wishOf(flavor({ 'resourcesconstructor:VGPU': '1', 'resources__proto__:VGPU': '2' }))
  assert.deepEqual(Object.keys(groups), ['', 'constructor', '__proto__'])
})

test('a wish for nothing gives no candidate request', () => {
  const none = { 'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0' }
  assert.equal(candidateRequestOf(wishOf(flavor(none)), 1), null)
})

test('traits of a group without resources are asked of the host', () => {
  const specs = {
    'resources:VCPU': '0',
    'resources:MEMORY_MB': '0',
    'resources:DISK_GB': '0',
    'trait:CUSTOM_A': 'required',
  }
  const request = candidateRequestOf(wishOf(flavor({ ...specs, 'resources1:CUSTOM_B': '1' })), 1)!
  assert.deepEqual(request.rootRequired, ['CUSTOM_A'])
  assert.deepEqual(
    request.groups.map(({ suffix }) => suffix),
    ['1'],
  )
})

test('a reservation is known by its class', () => {
  assert.equal(asksForReservation(wishOf(flavor())), false)
  assert.equal(asksForReservation(wishOf(flavor({ 'resources:CUSTOM_RESERVATION_A_B': '1' }))), true)
})

test('only specs that mean something here can be wrong', () => {
  assert.equal(wrongSpec('hw:mem_page_size', 'anything'), null)
  assert.equal(wrongSpec('resources:CUSTOM_A', '3'), null)
  assert.notEqual(wrongSpec('resources:CUSTOM_A', '3.5'), null)
  assert.notEqual(wrongSpec('resources:CUSTOM_A', '4294967296'), null)
  assert.notEqual(wrongSpec('resources:custom', '1'), null)
  assert.notEqual(wrongSpec('trait:CUSTOM_A', 'yes'), null)
})
