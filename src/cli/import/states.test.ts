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

test('a machine that nobody has inspected is, before it is provided', () => {
  const fresh = { inspection_finished_at: null, inspect_interface: 'redfish' }
  assert.equal(nextStep(node('manageable', fresh), 'available', true), 'inspect')
  assert.equal(nextStep(node('enroll', fresh), 'available', true), 'manage')
  assert.equal(nextStep(node('inspecting', fresh), 'available', true), 'wait')
  assert.equal(nextStep(node('inspect failed', fresh), 'available', true), 'manage')
  assert.equal(nextStep(node('manageable', fresh), 'manageable', true), 'there')
  assert.equal(nextStep(node('manageable', fresh), 'available', false), 'provide')
  const seen = { ...fresh, inspection_finished_at: '2026-01-01T00:00:00+00:00' }
  assert.equal(nextStep(node('manageable', seen), 'available', true), 'provide')
  const unable = { ...fresh, inspect_interface: 'no-inspect' }
  assert.equal(nextStep(node('manageable', unable), 'available', true), 'provide')
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
