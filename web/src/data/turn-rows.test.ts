import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_TURNS, turnsOf } from './turn-rows.ts'

const row = (uuid: string, mine = true, state: 'waiting' | 'gave up' = 'waiting') => ({
  uuid,
  name: `n-${uuid}`,
  mine,
  state,
})

test('it is the turn of one’s own request that waited and has a machine', () => {
  const before = turnsOf(NO_TURNS, [row('a'), row('b'), row('other', false)], [])
  assert.deepEqual(before.waits, { a: 'n-a', b: 'n-b' })
  const after = turnsOf(before, [row('b')], [{ uuid: 'm1', id: 'a' }])
  assert.deepEqual(after.served, [{ uuid: 'a', name: 'n-a', machine: 'm1' }])
  assert.deepEqual(after.waits, { b: 'n-b' })
})

test('it stays until it is seen', () => {
  const served = [{ uuid: 'a', name: 'n-a', machine: 'm1' }]
  assert.deepEqual(turnsOf({ waits: {}, served }, [], []).served, served)
})

test('one that was cancelled, or that gave up, has no turn', () => {
  const before = turnsOf(NO_TURNS, [row('a'), row('b')], [])
  assert.deepEqual(turnsOf(before, [row('b', true, 'gave up')], []).served, [])
})
