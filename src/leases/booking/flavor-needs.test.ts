import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SourceFlavor } from '../../store/schema/leases.ts'
import { needsOf } from './flavor-needs.ts'

const flavor = (extra_specs: Record<string, string> = {}, more: Partial<SourceFlavor> = {}): SourceFlavor => ({
  id: 'f1',
  name: 'm1',
  vcpus: 4,
  ram_mb: 2048,
  disk_gb: 20,
  ephemeral_gb: 0,
  swap_mb: 0,
  rxtx_factor: 1,
  is_public: true,
  extra_specs,
  ...more,
})
const size = { vcpus: 4, memory_mb: 2048, disk_gb: 20 }
const none = { required: [], forbidden: [] }

describe('what a flavor needs of its host', () => {
  it('is its size, with the ephemeral disk and the swap, as servers claim it', () => {
    assert.deepEqual(needsOf(flavor(), 'own'), { size, ...none })
    assert.equal(needsOf(flavor({}, { ephemeral_gb: 5, swap_mb: 1025 }), 'nova').size.disk_gb, 27)
  })

  it('is refused where a Nova says sizes that are none, or words that no Nova keeps', () => {
    for (const wrong of [-4, 1.5, 1e300, Number.NaN]) {
      assert.throws(() => needsOf(flavor({}, { vcpus: wrong }), 'nova'), /its vcpus is no size/)
      assert.throws(() => needsOf(flavor({}, { swap_mb: wrong }), 'nova'), /its swap_mb is no size/)
    }
    const long = 'x'.repeat(256)
    for (const [specs, more] of [
      [{}, { name: long }],
      [{ [long]: 'x' }, {}],
      [{ x: long }, {}],
      [{ x: 'a\0b' }, {}],
      [{ x: '\ud800' }, {}],
    ] as const) {
      assert.throws(() => needsOf(flavor(specs, more), 'nova'), /can not be booked: its name or an extra spec/)
    }
  })

  it('is what its extra specs say: other classes, other sizes, zero, and traits', () => {
    const specs = {
      'resources:CUSTOM_GPU': '2',
      'resources:VGPU': '0',
      'resources:DISK_GB': '0',
      'trait:HW_CPU_X86_AVX2': 'required',
      'trait:CUSTOM_NOISY': 'forbidden',
      'hw:mem_page_size': 'large',
    }
    assert.deepEqual(needsOf(flavor(specs), 'nova'), {
      size: { ...size, disk_gb: 0, extras: { CUSTOM_GPU: 2 } },
      required: ['HW_CPU_X86_AVX2'],
      forbidden: ['CUSTOM_NOISY'],
    })
  })

  it('is dedicated CPUs where Nova gives them, unless the flavor says which class', () => {
    const dedicated = { 'hw:cpu_policy': 'dedicated' }
    assert.deepEqual(needsOf(flavor(dedicated), 'nova').size, { ...size, vcpus: 0, extras: { PCPU: 4 } })
    assert.deepEqual(needsOf(flavor(dedicated), 'own').size, size)
    assert.deepEqual(needsOf(flavor({ ...dedicated, 'resources:VCPU': '2' }), 'nova').size, { ...size, vcpus: 2 })
  })

  it('is refused where it is not known, or can not be booked', () => {
    const refused = (specs: Record<string, string>, pattern: RegExp, compute: 'own' | 'nova' = 'nova') =>
      assert.throws(() => needsOf(flavor(specs), compute), pattern)
    refused({ 'resources1:VGPU': '1' }, /Flavor f1 can not be booked: .*group 1/)
    refused({ 'trait2:CUSTOM_A': 'required' }, /group 2/)
    refused({ 'resources:CUSTOM_RESERVATION_X': '1' }, /flavor of a reservation/)
    refused({ 'resources:NO-NAME': '1' }, /no name of a resource class/)
    refused({ 'resources:VGPU': 'many' }, /expected a whole number/)
    refused({ 'trait:CUSTOM_A': 'perhaps' }, /expected required or forbidden/)
    refused({ 'hw:cpu_policy': 'mixed' }, /not known before the server starts/)
    refused({ 'accel:device_profile': 'gpu' }, /not known before the server starts/)
    refused(
      { 'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0' },
      /nothing of their host/,
      'own',
    )
    const many = Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`x${i}`, 'y']))
    refused(many, /more than 128 extra specs/)
  })
})
