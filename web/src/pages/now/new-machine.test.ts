import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_DRAFT, macsIn, nodeOf, wrongIn } from './new-machine.ts'

const GOOD = { ...EMPTY_DRAFT, name: 'rack-a01-21', driver: 'ipmi' }
const wrong = (changes: Partial<typeof GOOD>) =>
  Object.keys(wrongIn({ ...GOOD, ...changes }, name => name === 'rack-a01-01'))

test('a name and a driver are enough', () => {
  assert.deepEqual(wrong({}), [])
  assert.deepEqual(nodeOf(GOOD), { name: 'rack-a01-21', driver: 'ipmi' })
})

test('what is wrong is said of its field', () => {
  assert.deepEqual(wrong({ name: ' ' }), ['name'])
  assert.deepEqual(wrong({ name: 'two words' }), ['name'])
  assert.deepEqual(wrong({ name: 'rack-a01-01' }), ['name'])
  assert.deepEqual(wrong({ driver: '' }), ['driver'])
  assert.deepEqual(wrong({ slot: '3' }), ['rack'])
  assert.deepEqual(wrong({ macs: '52:54:00:aa:bb:01, 52:54' }), ['macs'])
})

test('MACs are read as people write them, each once', () => {
  assert.deepEqual(macsIn('52-54-00-AA-BB-01\n52:54:00:aa:bb:01, 52:54:00:aa:bb:02'), [
    '52:54:00:aa:bb:01',
    '52:54:00:aa:bb:02',
  ])
})

test('the rack and the slot go where the status looks for them', () => {
  const draft = { ...GOOD, class: 'gpu-a100', rack: ' rack-a01 ', slot: '21' }
  assert.deepEqual(nodeOf(draft), {
    name: 'rack-a01-21',
    driver: 'ipmi',
    resource_class: 'gpu-a100',
    extra: { rack: 'rack-a01', slot: '21' },
  })
})
