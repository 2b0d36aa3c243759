import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { type Nova, NovaAway, type NovaFlavor, NovaRefusal } from '../../nova/port.ts'
import { Problem } from '../../problems/problem.ts'
import type { AskedLease } from '../types.ts'
import { withFlavors } from './source-flavors.ts'

const small: NovaFlavor = {
  id: '3',
  name: 'm1.small',
  vcpus: 1,
  ram_mb: 512,
  disk_gb: 1,
  is_public: false,
  extra_specs: { 'resources:VGPU': '1' },
}
const lease = (...flavors: string[]): AskedLease => ({
  id: null,
  name: 'x',
  start_at: 0,
  end_at: 1,
  reservations: flavors.map(flavor_id => ({ resource_type: 'flavor:instance', flavor_id, amount: 2, affinity: null })),
})

/** A Nova that knows one private flavor, and counts questions. */
function novaWith(flavor: () => Promise<NovaFlavor | null>, access: string[] = []) {
  const asked: string[] = []
  const nova = {
    flavor: (id: string) => {
      asked.push(id)
      return flavor()
    },
    flavorAccess: () => Promise.resolve(access),
  } as unknown as Nova
  const store = { read: () => assert.fail('our own flavors are none of Nova’s') }
  return { asked, looking: { nova, store, log: pino({ level: 'silent' }) } }
}

const isProblem = (kind: string, words: RegExp) => (error: unknown) =>
  error instanceof Problem && error.kind === kind && words.test(error.message)

describe('flavors of a Nova', () => {
  it('are copied into the terms, each looked up once', async () => {
    const { looking, asked } = novaWith(() => Promise.resolve(small), ['p1'])
    const { reservations } = await withFlavors(looking, lease('3', '3'), 'p1')
    assert.deepEqual(asked, ['3'])
    assert.equal(reservations.length, 2)
    assert.deepEqual(reservations[1], {
      resource_type: 'flavor:instance',
      flavor_id: '3',
      amount: 2,
      affinity: null,
      flavor: { ...small, ephemeral_gb: 0, swap_mb: 0, rxtx_factor: 1 },
      needs: { size: { vcpus: 1, memory_mb: 512, disk_gb: 1, extras: { VGPU: 1 } }, required: [], forbidden: [] },
    })
  })

  it('are found by those who may use them, and by those who see all', async () => {
    const { looking } = novaWith(() => Promise.resolve(small), ['p1'])
    await withFlavors(looking, lease('3'), null)
    await assert.rejects(withFlavors(looking, lease('3'), 'p2'), isProblem('lease_invalid', /could not be found/))
    const open = novaWith(() => Promise.resolve({ ...small, is_public: true }))
    await withFlavors(open.looking, lease('3'), 'p2')
  })

  it('that Nova has not, or can not have, are not found', async () => {
    const { looking, asked } = novaWith(() => Promise.resolve(null))
    for (const id of ['9', '..', '../servers', 'a?b', 'x/y', 'x'.repeat(256)]) {
      await assert.rejects(withFlavors(looking, lease(id), null), isProblem('lease_invalid', /could not be found/))
    }
    assert.deepEqual(asked, ['9'])
  })

  it('are asked for again later when Nova is away, or refuses us', async () => {
    for (const error of [new NovaAway('away'), new NovaRefusal(403, 'Policy does not allow it')]) {
      const { looking } = novaWith(() => Promise.reject(error))
      await assert.rejects(withFlavors(looking, lease('3'), null), isProblem('unavailable', /flavor 3 now/))
    }
  })
})
