import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATES } from '../metal/nodes/states.ts'
import { type Facts, stateOf, WORDS, workIn } from './state.ts'

const FREE: Facts = {
  provision_state: 'available',
  maintenance: 0,
  retired: 0,
  fault: null,
  isClaimed: false,
  isHeld: false,
  isBooked: false,
}

/** What differs from a free machine, and its word. */
const TABLE: readonly (readonly [Partial<Facts>, string])[] = [
  [{}, 'free'],
  [{ isBooked: true }, 'booked'],
  [{ provision_state: 'enroll' }, 'setup'],
  [{ provision_state: 'manageable', isBooked: true }, 'setup'],
  [{ provision_state: 'cleaning', isBooked: true }, 'working'],
  [{ provision_state: 'clean wait' }, 'working'],
  [{ provision_state: 'verifying' }, 'working'],
  [{ isHeld: true, isBooked: true }, 'held'],
  [{ maintenance: 1 }, 'maintenance'],
  [{ maintenance: 1, isHeld: true }, 'maintenance'],
  [{ maintenance: 1, provision_state: 'manageable' }, 'maintenance'],
  [{ isClaimed: true }, 'taken'],
  [{ isClaimed: true, maintenance: 1 }, 'taken'],
  [{ isClaimed: true, provision_state: 'deploying' }, 'taken'],
  [{ provision_state: 'active' }, 'taken'],
  [{ provision_state: 'rescue' }, 'taken'],
  [{ provision_state: 'error' }, 'broken'],
  [{ provision_state: 'clean failed', maintenance: 1 }, 'broken'],
  [{ provision_state: 'deploy failed', isClaimed: true }, 'broken'],
  [{ fault: 'power failure', isClaimed: true }, 'broken'],
  [{ retired: 1 }, 'retired'],
  [{ retired: 1, provision_state: 'error', isClaimed: true }, 'retired'],
]

for (const [facts, word] of TABLE) {
  test(`${JSON.stringify(facts)} is ${word}`, () => assert.equal(stateOf({ ...FREE, ...facts }), word))
}

test('every state of a node has a word, and only an available node is free or booked', () => {
  for (const provision_state of STATES) {
    const word = stateOf({ ...FREE, provision_state })
    assert.ok(WORDS.includes(word))
    assert.equal(word === 'free', provision_state === 'available', provision_state)
    assert.equal(word === 'working', workIn(provision_state) !== null, provision_state)
  }
})
