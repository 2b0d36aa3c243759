import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine } from '../../../../src/client/status.ts'
import { endOf, hadOf, instantIn, withTimes } from './promises.ts'

const machine = (uuid: string, more: Partial<Machine>): Machine =>
  ({ uuid, name: uuid, kind: 'allocation', id: uuid, what: null, until: null, may: ['extend'], ...more }) as Machine

test('a lease with two machines is one thing, and what the viewer may not do is left out', () => {
  const lease = { kind: 'lease', id: 'l', what: 'sprint' } as const
  const had = hadOf(
    [machine('a', lease), machine('b', {}), machine('c', lease), machine('d', { may: [] }), machine('e', { id: null })],
    'extend',
  )
  assert.deepEqual(
    had.map(({ name, machines }) => [name, machines.map(({ uuid }) => uuid)]),
    [
      ['sprint', ['a', 'c']],
      ['b', ['b']],
    ],
  )
})

test('more time counts from the end, and from now if it is over; leases end at whole minutes', () => {
  const now = Date.parse('2026-11-16T12:00:00Z')
  const until = '2026-11-16T14:00:30.000Z'
  const hour = { byMs: 3_600_000 }
  assert.equal(endOf({ kind: 'allocation', until }, hour, now), Date.parse('2026-11-16T15:00:30Z'))
  assert.equal(endOf({ kind: 'lease', until }, hour, now), Date.parse('2026-11-16T15:01:00Z'))
  assert.equal(endOf({ kind: 'hold', until: '2026-11-16T11:59:00Z' }, hour, now), Date.parse('2026-11-16T13:00:00Z'))
  assert.equal(endOf({ kind: 'hold', until }, { until: now }, now), now)
})

test('the longest that fits is the instant in the refusal, which is shown as people read it', () => {
  const refusal = 'Node n1 is enrolled for leasing and booked from 2026-11-20T18:00:00.000Z; it can be had until then.'
  assert.equal(instantIn(refusal), Date.parse('2026-11-20T18:00:00Z'))
  assert.equal(instantIn('Node n1 is locked.'), null)
  assert.match(
    withTimes(refusal, () => 'Fri 19:00'),
    /booked from Fri 19:00; it can/,
  )
})
