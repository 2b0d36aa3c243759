import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Forecast, Reasons } from '../../../src/client/allocations.ts'
import { namesOf, outlookOf, relaxationsOf, relaxed, requestOf, type Wanted } from './get-rules.ts'

const HOUR = 3_600_000
const now = Date.parse('2026-11-15T17:00:00Z')
const wanted: Wanted = {
  class: 'gpu',
  traits: ['CUSTOM_NVLINK', 'CUSTOM_IB'],
  count: 1,
  lengthMs: 2 * HOUR,
  waitMs: 24 * HOUR,
  name: '',
  note: '',
  machines: [],
}
const reasons: Reasons = {
  at: '',
  resource_class: 'gpu',
  considered: 3,
  available: 0,
  causes: [{ cause: 'allocated', count: 3, sample: [] }],
  relaxations: [{ without: { traits: ['CUSTOM_IB'] }, nodes: 4 }],
}
const forecast = (more: Partial<Forecast> = {}): Forecast => ({
  fits: false,
  count: 0,
  nodes: [],
  promised: 0,
  reasons,
  ...more,
})

test('it is had from now on, or from when it likely begins', () => {
  assert.equal(requestOf(wanted, now).expires_at, '2026-11-15T19:00:00.000Z')
  assert.equal(requestOf(wanted, now, now + 3 * HOUR).expires_at, '2026-11-15T22:00:00.000Z')
  assert.equal(requestOf(wanted, now, now - HOUR).expires_at, '2026-11-15T19:00:00.000Z')
  assert.equal(requestOf({ ...wanted, lengthMs: null, waitMs: null }, now).expires_at, undefined)
})

test('several get names of their own', () => {
  assert.deepEqual(namesOf({ name: ' train ', count: 2 }), ['train-1', 'train-2'])
  assert.deepEqual(namesOf({ name: 'train', count: 1 }), ['train'])
  assert.deepEqual(namesOf({ name: '', count: 2 }), [undefined, undefined])
})

test('there is one now, it would wait, or nothing will do', () => {
  assert.equal(outlookOf(forecast({ fits: true, count: 2 }), wanted).when, 'now')
  assert.equal(outlookOf(forecast({ fits: true, count: 1 }), { ...wanted, count: 2 }).when, 'later')
  assert.equal(outlookOf(forecast(), wanted).when, 'later')
  assert.equal(outlookOf(forecast(), { ...wanted, waitMs: null }).when, 'never')
  const others = { ...reasons, causes: [{ cause: 'missing traits', count: 3, sample: [] }] }
  assert.equal(outlookOf(forecast({ reasons: others }), wanted).when, 'never')
  assert.equal(outlookOf(forecast({ reasons: { ...reasons, considered: 0, causes: [] } }), wanted).when, 'never')
})

test('what would help is left out of the wish', () => {
  const [first] = relaxationsOf(reasons)
  assert.deepEqual(relaxed(wanted, first!).traits, ['CUSTOM_NVLINK'])
})
