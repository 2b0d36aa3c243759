import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine } from '../../../../src/client/status.ts'
import { failuresIn, helpOf, maintenanceIn } from './failures.ts'

const machine = (more: Partial<Machine>) =>
  ({
    uuid: 'u',
    name: 'a',
    state: 'broken',
    provision: 'clean failed',
    error: 'no power',
    may: ['manage'],
    ...more,
  }) as Machine

test('machines with the same error are one failure, the largest first', () => {
  const fleet = [
    machine({ name: 'a' }),
    machine({ name: 'b', provision: 'deploy failed', error: 'no image', may: [] }),
    machine({ name: 'c' }),
    machine({ name: 'd', state: 'free' }),
  ]
  const [first, second] = failuresIn(fleet)
  assert.deepEqual(
    [first!.step, first!.error, first!.machines.map(({ name }) => name)],
    ['clean', 'no power', ['a', 'c']],
  )
  assert.equal(second!.step, 'deploy')
})

test('the verb that helps is offered only if it may be used on all of them', () => {
  assert.equal(failuresIn([machine({}), machine({ name: 'b', may: [] })])[0]!.verb, null)
  assert.equal(failuresIn([machine({}), machine({ name: 'b' })])[0]!.verb, 'manage')
  assert.equal(helpOf(machine({ provision: 'deploy failed', may: ['deploy'] })), 'deploy')
})

test('a machine that is broken without a failed step gets no verb', () => {
  assert.deepEqual(
    failuresIn([machine({ provision: 'available' })]).map(({ step, verb }) => [step, verb]),
    [[null, null]],
  )
})

test('machines in maintenance are put together by their reason', () => {
  const fleet = [
    machine({ maintenance: true, reason: 'fan' }),
    machine({ maintenance: true, reason: null }),
    machine({ maintenance: true, reason: 'fan' }),
    machine({ maintenance: false, reason: 'retired' }),
  ]
  assert.deepEqual(
    maintenanceIn(fleet).map(({ reason, machines }) => [reason, machines.length]),
    [
      ['fan', 2],
      [null, 1],
    ],
  )
})
