import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextStep, type Seen, standingOf, type Wanted } from './states.ts'

const node = (provision_state: string, more: Partial<Seen> = {}): Seen => ({
  provision_state,
  target_provision_state: null,
  instance_uuid: null,
  ...more,
})

test('each state has one next step towards the wanted state', () => {
  const table: [string, Wanted, ReturnType<typeof nextStep>][] = [
    ['enroll', 'enroll', 'there'],
    ['enroll', 'manageable', 'manage'],
    ['enroll', 'available', 'manage'],
    ['verifying', 'available', 'wait'],
    ['manageable', 'available', 'provide'],
    ['manageable', 'manageable', 'there'],
    ['manageable', 'enroll', null],
    ['cleaning', 'available', 'wait'],
    ['clean wait', 'available', 'wait'],
    ['clean failed', 'available', 'manage'],
    ['inspect failed', 'manageable', 'manage'],
    ['available', 'available', 'there'],
    ['available', 'manageable', 'manage'],
    ['available', 'enroll', null],
    ['wait call-back', 'available', 'wait'],
  ]
  for (const [state, wanted, next] of table) assert.equal(nextStep(node(state), wanted), next, `${state} → ${wanted}`)
})

test('a node in use keeps its state, whatever the file wants', () => {
  for (const wanted of ['enroll', 'manageable', 'available'] as const) {
    for (const state of ['active', 'rescue', 'deploy failed', 'error']) {
      assert.equal(nextStep(node(state), wanted), 'there', state)
    }
    assert.equal(nextStep(node('available', { instance_uuid: 'i' }), wanted), 'there')
  }
})

test('an export has the operator’s part of a node’s state, not its user’s', () => {
  for (const [state, target, standing] of [
    ['enroll', null, 'enroll'],
    ['verifying', 'manageable', 'manageable'],
    ['clean failed', null, 'manageable'],
    ['cleaning', 'available', 'available'],
    ['cleaning', 'manageable', 'manageable'],
    ['active', null, 'available'],
    ['deploying', 'active', 'available'],
  ] as const) {
    assert.equal(standingOf(node(state, { target_provision_state: target })), standing, state)
  }
})
