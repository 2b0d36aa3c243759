import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Waiting } from '../../../../src/client/status.ts'
import { machine } from '../../data/fixture.ts'
import { footOf, fullness, leftShort, makeOf, sentenceOf, thenOf, tileLine } from './said.ts'

const HOUR = 3_600_000
const day = (at: string) => at.slice(0, 10)

test('time left in a few letters: to the nearest, and never nothing', () => {
  assert.deepEqual([0, 40 * 60_000, 1.93 * HOUR, 23.7 * HOUR, 30 * HOUR, 71 * HOUR].map(leftShort), [
    '1m',
    '40m',
    '2h',
    '1d',
    '1d',
    '3d',
  ])
})

test('the line at the foot is what is left of a day', () => {
  assert.equal(footOf(6 * HOUR), 25)
  assert.equal(footOf(1), 2)
  assert.equal(footOf(25 * HOUR), null)
})

test('the second line of a tile: who, a verb, why not, or until when', () => {
  const line = (changes: Parameters<typeof machine>[0], isWall = false) => tileLine(machine(changes), isWall, day)
  assert.equal(line({ state: 'taken', kind: 'allocation', who: 'bob' }), 'bob')
  assert.equal(line({ state: 'taken', kind: 'allocation', who: 'bob', mine: true }), 'you')
  assert.equal(line({ state: 'taken', kind: 'allocation', who: 'bob', mine: true }, true), 'bob')
  assert.equal(line({ state: 'taken', kind: 'lease' }), 'someone')
  assert.equal(line({ state: 'working', verb: 'cleaning' }), 'cleaning')
  assert.equal(line({ state: 'broken', provision: 'deploy failed' }), 'deploy')
  assert.equal(line({ state: 'maintenance', reason: 'fan 4' }), 'fan 4')
  const next = {
    id: null,
    name: null,
    who: null,
    project: null,
    start: '2026-11-20T18:00:00Z',
    end: '2026-11-21T18:00:00Z',
  }
  assert.equal(line({ state: 'booked', next }), 'till 2026-11-20')
  assert.equal(line({}), '')
})

test('a sentence for those who hear it', () => {
  const taken = {
    state: 'taken',
    kind: 'allocation',
    who: 'bob',
    what: 'embed-7',
    until: '2026-11-15T19:07',
    maintenance: true,
  } as const
  assert.equal(sentenceOf(machine(taken), day), 'rack-a01-01, taken, bob, for embed-7, until 2026-11-15, maintenance')
  assert.equal(sentenceOf(machine({ name: null, uuid: 'u' }), day), 'u, free')
})

test('what it is leaves out the trait that only says its rack', () => {
  assert.equal(makeOf(machine(), ['CUSTOM_RACK_A01', 'HW_X', 'CUSTOM_NVLINK']), 'gpu-a100 · NVLINK · HW_X')
  assert.equal(makeOf(machine({ class: null }), []), 'no class')
})

test('then: the next booking, or who waits for this very machine', () => {
  const waiting = { name: 'llama', place: 1, of: 2, who: 'bob', state: 'waiting', because: { machine: 'm' } } as Waiting
  assert.equal(thenOf(machine({ uuid: 'm' }), [waiting], day), 'llama, 1st of 2 in line (bob)')
  assert.equal(thenOf(machine({ uuid: 'other' }), [waiting], day), null)
})

test('a host is as full as what it has least left of', () => {
  assert.equal(fullness({ VCPU: 16, DISK: 1 }, { VCPU: 64, DISK: 100, NONE: 0 }), 25)
  assert.equal(fullness({}, {}), 0)
})
