import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine, Span } from '../../../../src/client/status.ts'
import { scaleOf } from '../../parts/timeline/scale.ts'
import { openCurve, numbersOf, pathsOf, stepsIn } from './curve.ts'

const machine = (uuid: string, more: Partial<Machine> = {}) =>
  ({ uuid, state: 'free', maintenance: false, kind: null, next: null, ...more }) as Machine
const span = (machineId: string, start: number | null, end: number | null) =>
  ({
    machine: machineId,
    start: start === null ? null : new Date(start).toISOString(),
    end: end === null ? null : new Date(end).toISOString(),
  }) as Span
const curve = (machines: Machine[], spans: Span[]) =>
  openCurve({ machines, spansOf: uuid => spans.filter(one => one.machine === uuid), from: 1_000 })

test('open is what nobody has or has booked then', () => {
  const machines = [machine('a'), machine('b'), machine('c')]
  assert.deepEqual(curve(machines, [span('a', 0, 3_000), span('b', 4_000, 5_000), span('c', 2_000, null)]), [
    { at: 1_000, open: 2 },
    { at: 2_000, open: 1 },
    { at: 3_000, open: 2 },
    { at: 4_000, open: 1 },
    { at: 5_000, open: 2 },
  ])
})

test('one booking right after another leaves no gap', () => {
  assert.deepEqual(curve([machine('a')], [span('a', 0, 3_000), span('a', 3_000, 5_000)]), [
    { at: 1_000, open: 0 },
    { at: 5_000, open: 1 },
  ])
})

test('two promises at once take one machine once', () => {
  assert.deepEqual(curve([machine('a')], [span('a', 0, 6_000), span('a', 2_000, 3_000)]), [
    { at: 1_000, open: 0 },
    { at: 6_000, open: 1 },
  ])
})

test('machines out of use are never open, also when what has them ends', () => {
  const machines = [machine('a', { state: 'broken' }), machine('b', { state: 'taken', maintenance: true })]
  assert.deepEqual(curve(machines, [span('b', 0, 3_000)]), [{ at: 1_000, open: 0 }])
})

test('what a conductor works on is not open now, but later', () => {
  assert.deepEqual(curve([machine('a', { state: 'working' }), machine('b')], []), [
    { at: 1_000, open: 1 },
    { at: 1_001, open: 2 },
  ])
})

test('the curve is a line of steps and an area, with numbers where there is room', () => {
  const scale = scaleOf({ from: 0, zoom: 'day' }, { zone: 'UTC', width: 864, leastWidth: 0 })
  const hour = 3_600_000
  const steps = [
    { at: 0, open: 5 },
    { at: hour, open: 6 },
    { at: 4 * hour, open: 10 },
  ]
  assert.equal(pathsOf(steps, 10, scale).line, 'M0 54H36V44.8H144V8H864')
  assert.deepEqual(numbersOf(steps, scale), [
    { x: 0, open: 5 },
    { x: 144, open: 10 },
  ])
})

test('what is in view begins with what was true before', () => {
  const steps = [
    { at: 1_000, open: 5 },
    { at: 2_000, open: 6 },
    { at: 4_000, open: 7 },
  ]
  assert.deepEqual(stepsIn(steps, { from: 3_000, to: 9_000 }), [
    { at: 3_000, open: 6 },
    { at: 4_000, open: 7 },
  ])
  assert.deepEqual(stepsIn(steps, { from: 0, to: 1_500 }), [{ at: 1_000, open: 5 }])
  assert.deepEqual(stepsIn(steps, { from: 8_000, to: 9_000 }), [{ at: 8_000, open: 7 }])
  assert.deepEqual(stepsIn(steps, { from: 0, to: 500 }), [])
})
