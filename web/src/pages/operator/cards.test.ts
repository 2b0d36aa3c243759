import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Health } from '../../../../src/client/health.ts'
import { cardsOf } from './cards.ts'

const well: Health = {
  now: '2026-11-16T12:00:00Z',
  version: '1',
  conductors: [{ hostname: 'vm', group: '', alive: true, silent_seconds: 1, at_work: 2 }],
  taken_over: { conductors: 0, nodes: 0, allocations: 0 },
  database: { kind: 'sqlite', version: '3.50', commits: 10, writes: 20, retries: 0, pool: null },
  feed: null,
  duties: [{ name: 'leases', failing: false, next_seconds: 5, running_seconds: null }],
  late_events: 0,
  audit: { on: true, unsealed: 0 },
  fsck: null,
  streams: 1,
  quotas: [],
}
const bad = (more: Partial<Health>, fsck: Parameters<typeof cardsOf>[1] = null) =>
  cardsOf({ ...well, ...more }, fsck, at => at)
    .filter(({ isBad }) => isBad)
    .map(({ name }) => name)

test('a service that is well has six cards and none that needs a person', () => {
  assert.equal(cardsOf(well, null, at => at).length, 6)
  assert.deepEqual(bad({}), [])
})

test('a dead conductor among others is no trouble, but none alive is', () => {
  const dead = { ...well.conductors[0]!, alive: false }
  assert.deepEqual(bad({ conductors: [...well.conductors, dead] }), [])
  assert.deepEqual(bad({ conductors: [dead] }), ['conductors'])
})

test('a feed far behind, a failing duty, late events and violations need a person', () => {
  assert.deepEqual(bad({ feed: { backlog: 9, behind_seconds: 31 } }), ['feed'])
  assert.deepEqual(bad({ duties: [{ ...well.duties[0]!, failing: true }] }), ['duties'])
  assert.deepEqual(bad({ late_events: 1 }), ['duties'])
  assert.deepEqual(bad({ fsck: { at: well.now, violations: 1 } }), ['fsck'])
})
