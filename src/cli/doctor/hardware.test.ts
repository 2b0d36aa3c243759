// How holdfast doctor judges drivers and machines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Conductor, Node } from '../../client/index.ts'
import { judgeDrivers, judgeMachines, judgeTwins, someNames } from './hardware.ts'

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

test('two nodes with one BMC and system are wrong; several systems behind a BMC are not', () => {
  const at = (name: string, driver_info: object) => ({ uuid: name, name, driver_info }) as unknown as Node
  const system = (name: string, id: string) =>
    at(name, { redfish_address: 'https://bmc-1', redfish_system_id: `/redfish/v1/Systems/${id}` })
  assert.equal(judgeTwins([at('fake', {}), at('masked', { redfish_address: null })]).grade, 'ok')
  assert.equal(judgeTwins([system('a', '1'), system('b', '2'), at('c', { ipmi_address: 'bmc-1' })]).grade, 'ok')
  const short = at('b', { redfish_address: 'BMC-1/', redfish_system_id: '1' })
  assert.equal(judgeTwins([system('a', '1'), short]).found, 'these nodes are one machine: a, b at https://bmc-1')
  assert.equal(judgeTwins([system('a', '1'), at('only', { redfish_address: 'bmc-1' })]).grade, 'wrong')
  const port = (name: string, ipmi_port?: number) => at(name, { ipmi_address: '10.0.0.7', ipmi_port })
  assert.equal(judgeTwins([port('a', 624), port('b')]).grade, 'ok')
  assert.equal(judgeTwins([port('a', 623), port('b')]).grade, 'wrong')
})
