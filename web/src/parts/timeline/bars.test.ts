import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine, Span } from '../../../../src/client/status.ts'
import { barsOf, edgesOf, placed } from './bars.ts'
import { scaleOf } from './scale.ts'

const now = Date.parse('2026-11-15T17:00Z')
const at = (hours: number) => new Date(now + hours * 3_600_000).toISOString()
const machine = (more: Partial<Machine> = {}) =>
  ({ state: 'free', maintenance: false, kind: null, next: null, ...more }) as Machine
const span = (start: number, end: number | null, more: Partial<Span> = {}): Span => ({
  machine: 'm',
  kind: 'lease',
  id: `l${start}`,
  name: 'job',
  who: 'bob',
  project: 'nlp',
  start: at(start),
  end: end === null ? null : at(end),
  mine: false,
  may: [],
  ...more,
})
// 100 pixels a day.
const scale = scaleOf({ from: now, zoom: '2w' }, { zone: 'UTC', width: 1_400, leastWidth: 0 })

test('a booking ahead is booked, one that runs is taken', () => {
  const bars = barsOf(machine(), [span(24, 48), span(-1, 12)], now)
  assert.deepEqual(
    bars.map(({ look }) => look),
    ['lease', 'booked'],
  )
})

test('a promise that the viewer may not know about is taken, nameless', () => {
  const [bar] = barsOf(machine(), [span(-1, 12, { kind: 'allocation', id: null, name: null, who: null })], now)
  assert.deepEqual([bar!.look, bar!.title, bar!.by], ['taken', 'taken', null])
})

test('until its spans are there, a machine shows what its row knows', () => {
  const next = { id: 'l', name: 'later', who: 'alice', project: null, start: at(30), end: at(40) }
  const row = machine({
    state: 'taken',
    kind: 'allocation',
    what: 'job',
    who: 'bob',
    since: at(-1),
    until: at(5),
    next,
  })
  assert.deepEqual(
    barsOf(row, [], now).map(({ look, title, by }) => [look, title, by]),
    [
      ['taken', 'job', 'bob'],
      ['booked', 'later', 'alice'],
    ],
  )
  assert.equal(barsOf(row, [span(24, 48)], now).length, 1)
})

test('mine says you', () => {
  assert.equal(barsOf(machine(), [span(-1, 12, { mine: true })], now)[0]!.by, 'you')
})

test('maintenance goes on after what runs, and has no end', () => {
  const bars = barsOf(machine({ maintenance: true, reason: 'a fan' }), [span(-1, 12)], now)
  assert.deepEqual(
    bars.map(({ look, from, to }) => [look, from, to]),
    [
      ['maintenance', now + 12 * 3_600_000, null],
      ['lease', now - 3_600_000, now + 12 * 3_600_000],
    ],
  )
  assert.equal(barsOf(machine({ state: 'taken', maintenance: true }), [span(-1, null)], now).length, 1)
})

test('a broken machine says what failed and why', () => {
  const [bar] = barsOf(machine({ state: 'broken', provision: 'deploy failed', error: 'no power' }), [], now)
  assert.deepEqual([bar!.look, bar!.title, bar!.by, bar!.to], ['broken', 'deploy failed', 'no power', null])
})

test('a label is in its bar, after it, or nowhere', () => {
  const labels = (...spans: Span[]) => placed(barsOf(machine(), spans, now), scale).map(({ label }) => label)
  assert.deepEqual(labels(span(0, 24)), ['in'])
  assert.deepEqual(labels(span(0, 4)), ['out'])
  assert.deepEqual(labels(span(0, 4), span(6, 48)), ['none', 'in'])
})

test('bars out of view are left out, and names begin where they are seen', () => {
  const bars = barsOf(machine(), [span(-48, -24), span(-24, 48), span(15 * 24, 16 * 24)], now)
  const shown = placed(bars, scale)
  assert.equal(shown.length, 1)
  assert.equal(shown[0]!.x, -6)
})

test('narrow bars that are near become one', () => {
  const near = [0, 2, 4].map(start => span(start, start + 0.5))
  const shown = placed(barsOf(machine(), [...near, span(24, 24.5)], now), scale)
  assert.deepEqual(
    shown.map(({ bar }) => [bar.look, bar.spans.length]),
    [
      ['many', 3],
      ['booked', 1],
    ],
  )
})

test('the edges of bars are where others snap', () => {
  assert.equal(edgesOf(barsOf(machine(), [span(0, 4), span(6, null)], now)).length, 3)
})
