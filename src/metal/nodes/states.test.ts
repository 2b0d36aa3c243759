// The table of states: complete, free of dead ends, and the same as what clients know.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUsable, STATES, STEPS, TRANSITIONS, transitionFor, verbOf } from './states.ts'

const stepStates = Object.values(STEPS).flatMap(({ during, waiting }) => [during, ...(waiting ? [waiting] : [])])

void test('a verb leads from a state to one place', () => {
  for (const { verb, from } of TRANSITIONS) {
    for (const state of from) {
      const ways = TRANSITIONS.filter(other => other.verb === verb && other.from.includes(state))
      assert.equal(ways.length, 1, `${verb} from ${state}`)
    }
  }
})

void test('every state that a node can rest in can be left, and every state can be reached', () => {
  const resting = [...STATES].filter(state => !(stepStates as string[]).includes(state))
  for (const state of resting)
    assert.ok(
      TRANSITIONS.some(({ from }) => from.includes(state)),
      state,
    )
  const reached = new Set<string>(['enroll'])
  for (let before = -1; before !== reached.size;) {
    before = reached.size
    for (const { from, steps, to } of TRANSITIONS) {
      if (!from.some(state => reached.has(state))) continue
      reached.add(to)
      for (const step of steps) {
        const { during, waiting, failed } = STEPS[step]
        for (const state of [during, waiting, failed]) if (state) reached.add(state)
      }
    }
  }
  assert.deepEqual([...STATES].sort(), [...reached].sort())
})

void test('verbs in the spellings of clients', () => {
  assert.equal(verbOf('deploy'), 'active')
  assert.equal(verbOf('undeploy'), 'deleted')
  assert.equal(verbOf('manage'), 'manage')
  for (const wrong of ['', 'noop', 'constructor', '__proto__']) assert.equal(verbOf(wrong), null)
  assert.equal(transitionFor('provide', 'enroll'), null)
  assert.equal(transitionFor('abort', 'clean wait')!.to, 'clean failed')
})

void test('a node can be had only when available and not in maintenance', () => {
  for (const state of STATES) {
    assert.equal(isUsable({ provision_state: state, maintenance: 0, retired: 0 }), state === 'available')
    assert.equal(isUsable({ provision_state: state, maintenance: 1, retired: 0 }), false)
    assert.equal(isUsable({ provision_state: state, maintenance: 0, retired: 1 }), false)
  }
})
