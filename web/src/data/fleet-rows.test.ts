import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from './fleet-rows.ts'

test('machines that exchange their names are found by the new ones', () => {
  const names = new Map([
    ['left', '1'],
    ['right', '2'],
  ])
  call(names, '1', 'left', 'right')
  call(names, '2', 'right', 'left')
  assert.deepEqual(Object.fromEntries(names), { left: '2', right: '1' })
  call(names, '2', 'left', null)
  assert.deepEqual([...names], [['right', '1']])
})
