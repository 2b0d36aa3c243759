import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOf, lostIn, pairsOf, queryOf, questionIn, textOf, withGroup, withNewGroup } from './question.ts'

test('a query is read and written as the same text', () => {
  for (const text of [
    'resources=VCPU:8,VGPU:4&required=CUSTOM_NVLINK',
    'resources=VCPU:8&required=CUSTOM_A,!CUSTOM_B&required=in:CUSTOM_C,CUSTOM_D',
    'resources=VCPU:1&member_of=in:a,b&member_of=!in:c&in_tree=u',
    'resources1=VCPU:1&resources_GPU=VGPU:2&required_GPU=CUSTOM_L40&group_policy=isolate&limit=5',
    'resources=VCPU:1&root_required=A,!B&same_subtree=1,2',
  ]) {
    assert.equal(textOf(questionIn(text)), text)
  }
})

test('what makes no sense is kept, for Placement to say so', () => {
  assert.equal(
    textOf(questionIn('resources=VCPU:x&nonsense=1&resources=A:1')),
    'resources=VCPU:x&nonsense=1&resources=A:1',
  )
  assert.equal(textOf(questionIn('resources=VCPU')), 'resources=VCPU')
  assert.equal(textOf(questionIn('')), '')
  assert.equal(textOf(questionIn('?resources=VCPU:1&&')), 'resources=VCPU:1')
})

test('escapes are undone, and only what would break the text is escaped again', () => {
  const question = questionIn('resources=VCPU%3A8%2CVGPU%3A4&x=a%26b%20c')
  assert.equal(textOf(question), 'resources=VCPU:8,VGPU:4&x=a%26b%20c')
  assert.deepEqual(pairsOf(question)[1], ['x', 'a&b c'])
  assert.equal(textOf(questionIn('x=%')), 'x=%25')
})

test('a parameter that comes twice goes to the server twice', () => {
  assert.deepEqual(queryOf('resources=VCPU:1&required=A&required=in:B,C'), {
    resources: 'VCPU:1',
    required: ['A', 'in:B,C'],
  })
})

test('a condition that is left out leaves its group, and a group with nothing goes', () => {
  const question = questionIn('resources=VCPU:8&required=A')
  assert.equal(textOf(withGroup(question, '', { required: [] })), 'resources=VCPU:8')
  assert.equal(textOf(withGroup(questionIn('resources1=VCPU:1'), '1', { resources: [] })), '')
  const added = withGroup(questionIn(''), '', { resources: [{ name: 'VCPU', amount: '1' }] })
  assert.equal(textOf(added), 'resources=VCPU:1')
})

test('a second group of its own needs a policy', () => {
  const one = withNewGroup(questionIn('resources=VCPU:8'), 'VGPU')
  assert.equal(textOf(one), 'resources=VCPU:8&resources1=VGPU:1')
  assert.equal(
    textOf(withNewGroup(one, 'VGPU')),
    'resources=VCPU:8&resources1=VGPU:1&resources2=VGPU:1&group_policy=none',
  )
})

test('what a smaller question asks less of is known', () => {
  const asked = questionIn('resources=VCPU:8,VGPU:4&required=CUSTOM_NVLINK,!CUSTOM_OLD')
  assert.deepEqual(
    [...lostIn(asked, questionIn('resources=VCPU:8,VGPU:4&required=!CUSTOM_OLD'))],
    [keyOf('', 'required', 'CUSTOM_NVLINK')],
  )
  assert.deepEqual(
    [...lostIn(asked, questionIn('resources=VCPU:4,VGPU:4&required=CUSTOM_NVLINK,!CUSTOM_OLD'))],
    [keyOf('', 'resources', 'VCPU')],
  )
})
