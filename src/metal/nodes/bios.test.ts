// What is kept of the settings of a firmware.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keptSettings } from './bios.ts'

void test('a setting keeps its times until its value changes, and goes when it is no longer there', () => {
  const first = keptSettings(
    [],
    [
      { name: 'b', value: 'on' },
      { name: 'a', value: '1' },
      { name: 'c', value: null },
    ],
    1,
  )
  assert.deepEqual(
    first.map(({ name, created_at, updated_at }) => [name, created_at, updated_at]),
    [
      ['a', 1, null],
      ['b', 1, null],
      ['c', 1, null],
    ],
  )
  const then = keptSettings(
    first,
    [
      { name: 'a', value: '1' },
      { name: 'b', value: 'off' },
      { name: 'd', value: 'x' },
    ],
    2,
  )
  assert.deepEqual(
    then.map(({ name, created_at, updated_at }) => [name, created_at, updated_at]),
    [
      ['a', 1, null],
      ['b', 1, 2],
      ['d', 2, null],
    ],
  )
})

void test('of two settings with one name the last counts', () => {
  const kept = keptSettings(
    [],
    [
      { name: 'a', value: '1' },
      { name: 'a', value: '2' },
    ],
    1,
  )
  assert.deepEqual(
    kept.map(({ value }) => value),
    ['2'],
  )
})
