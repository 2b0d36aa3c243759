// Nodes by the address of their BMC.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, Node } from '../../client/index.ts'
import { bmcPlaceOf, loginFor } from './bmc.ts'
import { readFleet } from './document.ts'
import { mistakeText } from './mistake.ts'
import { planOf } from './plan.ts'
import { NOTHING, type Present } from './present.ts'
import { type FileFormat, sourceOf } from './source.ts'

const PRESENT: Present = {
  ...NOTHING,
  conductors: [
    { hostname: 'c', conductor_group: '', alive: true, drivers: ['redfish', 'ipmi', 'fake-hardware', 'manual'] },
  ],
}

function planned(text: string, { format = 'csv', nodes = [] }: { format?: FileFormat; nodes?: readonly Json[] } = {}) {
  const { source, mistakes } = sourceOf('f', text, format)
  const read = readFleet(source ? [source] : [])
  const present = nodes.map((node, at) => ({
    uuid: `00000000-0000-4000-8000-00000000000${at}`,
    provision_state: 'enroll',
    target_provision_state: null,
    instance_uuid: null,
    traits: [],
    conductor_group: '',
    ...node,
  }))
  const { plan, mistakes: clashes } = planOf({ ...PRESENT, nodes: present as unknown as Node[] }, read.fleet)
  return { steps: plan.nodes, said: [...mistakes, ...read.mistakes, ...clashes].map(mistakeText) }
}

test('an address suffices: the driver, its settings and a name follow from it', () => {
  const { steps, said } = planned(
    'bmc,bmc_username,bmc_password,provision_state\nhttps://10.0.0.5:8443/,root,0123,available\nRack7-BMC.lab,,,\n',
  )
  assert.deepEqual(said, [])
  assert.deepEqual(
    steps.map(({ attributes }) => attributes),
    [
      {
        name: '10.0.0.5-8443',
        driver: 'redfish',
        driver_info: {
          redfish_address: 'https://10.0.0.5:8443/',
          redfish_username: 'root',
          redfish_password: '0123',
        },
      },
      { name: 'rack7-bmc.lab', driver: 'redfish', driver_info: { redfish_address: 'Rack7-BMC.lab' } },
    ],
  )
  assert.deepEqual(
    steps.map(({ name, inspects, provisionState }) => [name, inspects, provisionState]),
    [
      ['10.0.0.5-8443', true, 'available'],
      ['rack7-bmc.lab', true, null],
    ],
  )
})

test('settings of ipmi, or its name, choose ipmi', () => {
  const { steps } = planned('ipmi_address,ipmi_port,driver,bmc\n10.0.0.1,6230,,\n,,ipmi,10.0.0.2\n')
  assert.deepEqual(
    steps.map(({ attributes: { name, driver, driver_info } }) => [name, driver, driver_info]),
    [
      ['10.0.0.1-6230', 'ipmi', { ipmi_address: '10.0.0.1', ipmi_port: 6230 }],
      ['10.0.0.2', 'ipmi', { ipmi_address: '10.0.0.2' }],
    ],
  )
  const both = planned('redfish_address,ipmi_address\n10.0.0.1,10.0.0.1\n').said
  assert.match(both.join(), /has settings of redfish and of ipmi; give it a driver/)
})

test('in YAML they stand beside driver_info, which wins', () => {
  const { steps, said } = planned(
    'nodes: [{ name: n1, bmc: a, redfish_verify_ca: false, driver_info: { redfish_address: b, note: 1 } }]',
    { format: 'yaml' },
  )
  assert.deepEqual(said, [])
  const driver_info = { redfish_address: 'b', redfish_verify_ca: false, note: 1 }
  assert.deepEqual(steps[0]!.attributes, { name: 'n1', driver: 'redfish', driver_info })
})

test('the same BMC is the same node, however it is written and whatever it is called by now', () => {
  const nodes = [{ name: 'renamed', driver: 'redfish', driver_info: { redfish_address: 'https://10.0.0.5/' } }]
  const again = planned('bmc\n10.0.0.5\n', { nodes })
  assert.deepEqual(again.said, [])
  assert.deepEqual(again.steps[0]!.uuid, '00000000-0000-4000-8000-000000000000')
  assert.deepEqual(again.steps[0]!.fields, ['driver_info.redfish_address'])
  assert.match(planned('name,bmc\nother,10.0.0.5\n', { nodes }).said.join(), /its BMC is that of node renamed already/)
  assert.match(
    planned('bmc\n10.0.0.5\nhttp://10.0.0.5\n').said.join(),
    /10\.0\.0\.5 is there twice, first at f:2; .*redfish_system_id/,
  )
  const taken = [{ name: '10.0.0.6', driver: 'manual', driver_info: {} }]
  assert.match(planned('bmc\n10.0.0.6\n', { nodes: taken }).said.join(), /10\.0\.0\.6 is the name of node/)
})

test('several systems behind one address are several nodes', () => {
  const { steps, said } = planned('bmc,redfish_system_id\nb,/redfish/v1/Systems/1\nb,/redfish/v1/Systems/2\n')
  assert.deepEqual(said, [])
  assert.deepEqual(
    steps.map(({ name }) => name),
    ['b-1', 'b-2'],
  )
})

test('a node whose traits are listed is not inspected', () => {
  assert.equal(planned('bmc,traits\nb,CUSTOM_A\n').steps[0]!.inspects, false)
})

test('who has neither name nor address is refused, and a wrong password is never shown', () => {
  assert.match(planned('name,bmc_password\n,x\n').said.join(), /nor the address of a BMC/)
  const { said } = planned(`nodes: [{ bmc: b, bmc_password: { word: swordfish } }]`, { format: 'yaml' })
  assert.match(said.join(), /bmc_password/)
  assert.doesNotMatch(said.join(), /swordfish/)
})

test('a login from outside fills in what the file leaves out', () => {
  const info = { redfish_address: 'b', redfish_username: 'mine' }
  const place = bmcPlaceOf(info)!
  assert.deepEqual(loginFor(info, place, { username: 'u', password: 'p' }), { redfish_password: 'p' })
  assert.deepEqual(loginFor(info, place, { username: 'u', password: null }), {})
})
