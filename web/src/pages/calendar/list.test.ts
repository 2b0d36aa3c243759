import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine, Span } from '../../../../src/client/status.ts'
import { isPromise, itemsOf, sorted, whatOf } from './list.ts'

const machine = (uuid: string, more: Partial<Machine> = {}) =>
  ({ uuid, name: uuid, state: 'free', maintenance: false, kind: null, next: null, ...more }) as Machine
const at = (hour: number) => new Date(hour * 3_600_000).toISOString()
const span = (on: string, start: number, end: number, who: string | null): Span => ({
  machine: on,
  kind: 'lease',
  id: null,
  name: `job of ${who}`,
  who,
  project: null,
  start: at(start),
  end: at(end),
  mine: false,
  may: [],
})
const spans = [span('a', 1, 5, 'carol'), span('b', 2, 3, null), span('b', 4, 6, 'alice'), span('b', 40, 60, 'bob')]
const items = itemsOf({
  machines: [
    machine('a'),
    machine('b'),
    machine('c', { state: 'broken', provision: 'clean failed', error: 'no power' }),
  ],
  spansOf: uuid => spans.filter(one => one.machine === uuid),
  window: { from: 0, to: 24 * 3_600_000 },
  now: 0,
})

test('the list has what is promised in the time that is shown, and what is out of use', () => {
  assert.deepEqual(
    items.map(({ machine: on, bar }) => [on, whatOf(bar), isPromise(bar)]),
    [
      ['a', 'job of carol', true],
      ['b', 'job of null', true],
      ['b', 'job of alice', true],
      ['c', 'clean failed: no power', false],
    ],
  )
})

test('it can be sorted; those that nobody is known of come last', () => {
  const order = (by: 'who' | 'to' | 'machine', isDown = false) => sorted(items, { by, isDown }).map(({ bar }) => bar.by)
  assert.deepEqual(order('who'), ['alice', 'carol', null, 'no power'])
  assert.deepEqual(order('to'), [null, 'carol', 'alice', 'no power'])
  assert.deepEqual(order('machine', true), ['no power', 'alice', null, 'carol'])
})
