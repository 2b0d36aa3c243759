import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine } from '../../../../src/client/status.ts'
import { axisOf, endingSoon, groupsOf, placeOn } from './groups.ts'

const zone = 'Europe/Berlin'
const at = (text: string) => Date.parse(`${text}+01:00`)
const machine = (name: string, until: string | null): Machine =>
  ({ uuid: name, name, until: until === null ? null : new Date(at(until)).toISOString() }) as Machine

const grouped = (now: string, machines: Machine[]) =>
  groupsOf(machines, { now: at(now), zone }).map(group => [
    group.name,
    group.machines.map(({ name }) => name).join(' '),
  ])

test('what one has is grouped by when it ends, in the zone that is shown', () => {
  const machines = [
    machine('f', null),
    machine('e', '2026-11-18T00:01:00'),
    machine('d', '2026-11-17T23:59:00'),
    machine('c', '2026-11-17T05:00:00'),
    machine('b', '2026-11-16T17:00:00'),
    machine('a', '2026-11-16T13:00:00'),
  ]
  assert.deepEqual(grouped('2026-11-16T10:00:00', machines), [
    ['soon', 'a'],
    ['today', 'b'],
    ['tonight', 'c'],
    ['tomorrow', 'd'],
    ['later', 'e'],
    ['endless', 'f'],
  ])
})

test('before the morning it is still tonight, and the day that begins is today', () => {
  const machines = [machine('a', '2026-11-16T05:30:00'), machine('b', '2026-11-16T20:00:00')]
  assert.deepEqual(grouped('2026-11-16T01:00:00', machines), [
    ['tonight', 'a'],
    ['today', 'b'],
  ])
})

test('the sentence counts what ends before the full hour after four hours', () => {
  const now = { now: at('2026-11-16T18:12:00'), zone }
  const machines = [machine('a', '2026-11-16T22:50:00'), machine('b', '2026-11-16T23:00:00'), machine('c', null)]
  assert.deepEqual(endingSoon(machines, now), { count: 1, before: at('2026-11-16T23:00:00') })
})

test('the axis begins now and has midnights; what is out of it is at its edge', () => {
  const axis = axisOf({ now: at('2026-11-16T12:00:00'), zone })
  assert.deepEqual(
    axis.days.map(({ day }) => day),
    ['Tue', 'Wed', 'Thu'],
  )
  assert.equal(placeOn(axis, at('2026-11-18T00:00:00')), 50)
  assert.equal(placeOn(axis, at('2026-12-01T00:00:00')), 100)
})
