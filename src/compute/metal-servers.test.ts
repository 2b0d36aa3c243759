import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { State } from '../metal/nodes/states.ts'
import { EMPTY } from '../shared/json.ts'
import { nextStep } from './metal-servers.ts'

const node = (provision_state: State, more: { transition?: typeof EMPTY; last_error?: string } = {}) => ({
  uuid: 'n',
  provision_state,
  transition: null,
  last_error: null,
  ...more,
})
const step = (task: Parameters<typeof nextStep>[0]['task'], found: ReturnType<typeof node> | undefined) =>
  nextStep({ task }, found).kind

test('a server that is being built waits for its node, runs when that is active, and fails with it', () => {
  assert.equal(step('spawning', node('deploying', { transition: EMPTY })), 'wait')
  assert.equal(step('spawning', node('wait call-back', { transition: EMPTY })), 'wait')
  assert.equal(step('spawning', node('active')), 'run')
  assert.deepEqual(nextStep({ task: 'spawning' }, node('deploy failed', { last_error: 'no disk' })), {
    kind: 'fail',
    fault: 'no disk',
  })
})

test('a server that is being deleted has its node torn down as soon as possible', () => {
  assert.equal(step('deleting', node('deploying', { transition: EMPTY })), 'wait')
  assert.equal(step('deleting', node('wait call-back', { transition: EMPTY })), 'tear down')
  assert.equal(step('deleting', node('active')), 'tear down')
  assert.equal(step('deleting', node('deploy failed')), 'tear down')
  assert.equal(step('deleting', node('available')), 'let go')
  assert.equal(step('deleting', undefined), 'gone')
})

test('once the tear-down has begun, only its end counts', () => {
  assert.equal(step('tearing down', node('deleting', { transition: EMPTY })), 'wait')
  assert.equal(step('tearing down', node('error')), 'fail')
  assert.equal(step('tearing down', undefined), 'gone')
})

test('a server without its node has failed, unless it is being deleted', () => {
  assert.equal(step(null, undefined), 'fail')
  assert.equal(step('spawning', undefined), 'fail')
  assert.equal(step(null, node('active')), 'wait')
})
