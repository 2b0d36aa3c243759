import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeSaid, togetherSaid, wouldDo } from './sentences.ts'

test('changes that would help are said as things to do', () => {
  assert.equal(changeSaid('without trait CUSTOM_NVLINK: 3 roots'), 'Leave out NVLINK')
  assert.equal(changeSaid('with VCPU <= 96: 1 root'), 'Ask for 96 VCPU')
  assert.equal(
    changeSaid('with VCPU <= 96 in group 1 and MEMORY_MB <= 512: 2 roots'),
    'Ask for 96 VCPU in group 1, ask for 512 MEMORY_MB',
  )
  assert.equal(changeSaid('with group_policy=none: 2 roots'), 'With group_policy=none')
})

test('a host that a change would make fit says so', () => {
  assert.equal(wouldDo('without trait CUSTOM_NVLINK: 3 roots'), 'would do without NVLINK')
})

test('a last step that repeats the one before is left out', () => {
  const steps = [
    { condition: 'the unsuffixed group alone, without trait CUSTOM_NVLINK', roots: 3 },
    { condition: 'the unsuffixed group alone', roots: 0 },
    { condition: 'all groups under one root', roots: 0 },
  ]
  assert.deepEqual(
    togetherSaid(steps, 1).map(({ text }) => text),
    ['NVLINK left out', 'all of it'],
  )
  assert.equal(togetherSaid(steps, 2).length, 3)
})
