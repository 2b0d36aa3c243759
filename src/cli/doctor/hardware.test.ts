// How holdfast doctor judges drivers and machines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Conductor, Node } from '../../client/index.ts'
import { judgeDrivers, judgeMachines, someNames } from './hardware.ts'

const conductor = (hostname: string, drivers: string[], more: object = {}) =>
  ({ hostname, drivers, alive: true, conductor_group: '', ...more }) as Conductor
const node = (name: string, driver: string, group = '') =>
  ({ uuid: name, name, driver, conductor_group: group }) as unknown as Node

test('nodes whose driver or group no live conductor has are wrong, by name', () => {
  const two = [conductor('a', ['redfish']), conductor('b', ['ipmi'], { alive: false })]
  assert.equal(judgeDrivers(two, [node('n1', 'redfish')]).grade, 'ok')
  const { grade, found } = judgeDrivers(two, [node('n1', 'redfish'), node('n2', 'ipmi'), node('n3', 'redfish', 'lab')])
  assert.equal(grade, 'wrong')
  assert.match(found, /ipmi: n2; redfish in group lab: n3$/)
})

test('a conductor without drivers is wrong', () => {
  assert.match(judgeDrivers([conductor('a', [])], []).found, /without any driver: a/)
})

test('machines that fail for the same reason stand together, and few of many are named', () => {
  assert.equal(judgeMachines([], 3, false).grade, 'ok')
  const failed = [
    { name: 'n1', reason: 'refused' },
    { name: 'n2', reason: 'no answer' },
    { name: 'n3', reason: 'refused' },
  ]
  const { grade, found } = judgeMachines(failed, 40, false)
  assert.equal(grade, 'warning')
  assert.equal(found, "3 of 40 can't be driven. n1, n3: refused; n2: no answer")
  assert.match(judgeMachines(failed, 200, true).found, /^3 of the first 200/)
  assert.equal(someNames(['a', 'b', 'c', 'd', 'e', 'f', 'g']), 'a, b, c, d, e and 2 more')
})
