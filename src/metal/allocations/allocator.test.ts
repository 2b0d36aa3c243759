import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { supplyOf } from '../../../test/support/supply.ts'
import { StoreUnavailable } from '../../store/failure.ts'
import type { Store } from '../../store/store.ts'
import { Allocator } from './allocator.ts'
import type { AllocationRow } from './rows.ts'

void test('nobody is refused while what others gave back can not be heard of', async () => {
  const row = { id: 1, uuid: 'a', resource_class: 'gpu', traits: '[]', candidate_nodes: '[]', wait_until: null }
  const store = {
    read: () => Promise.resolve({ own: [row as unknown as AllocationRow], others: [] }),
    write: () => {
      written++
      return Promise.resolve([])
    },
  } as unknown as Store
  let written = 0
  const tells: string[] = []
  const allocator = new Allocator({
    store,
    clock: { now: () => 1, newSeed: () => 1, newUuid: () => 'u' } as never,
    log: pino({ level: 'silent' }),
    supply: supplyOf([{ claimed: true }]),
    drivers: null as never,
    catchUp: () => Promise.reject(new StoreUnavailable('away')),
    affinity: () => 'c1',
    rules: { kind: 'fifo' } as never,
    witness: (() => ({})) as never,
    observe: outcome => tells.push(outcome),
  })
  await assert.rejects(allocator.run(), /away/)
  // The sweep of expired holds, and no verdict.
  assert.equal(written, 1)
  assert.deepEqual(tells, [])
})
