// The settings of a BMC, as people write them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessOf } from './driver-info.ts'

const uuid = '5f3b1c4e-0000-4000-8000-000000000001'
const accessWith = (driverInfo: object) => accessOf({ uuid, driverInfo: { ...driverInfo } })

void test('an address without a scheme is https, and its path is kept', () => {
  const address = (redfish_address: string) => accessWith({ redfish_address }).address
  assert.equal(address('bmc-7.example.org'), 'https://bmc-7.example.org')
  assert.equal(address('192.0.2.7:8443'), 'https://192.0.2.7:8443')
  assert.equal(address('[2001:db8::7]'), 'https://[2001:db8::7]')
  assert.equal(address('http://bmc/prefix/'), 'http://bmc/prefix')
})

void test('what is not said has its default', () => {
  assert.deepEqual(accessWith({ redfish_address: 'bmc' }), {
    address: 'https://bmc',
    systemId: null,
    username: null,
    password: null,
    verifyCa: true,
    authType: 'auto',
  })
  for (const [given, verifyCa] of [
    ['False', false],
    ['true', true],
    [false, false],
    ['/etc/ssl/lab.pem', '/etc/ssl/lab.pem'],
  ])
    assert.equal(accessWith({ redfish_address: 'bmc', redfish_verify_ca: given }).verifyCa, verifyCa)
})

void test('wrong settings are named', () => {
  const wrong = (driverInfo: object, message: RegExp) => assert.throws(() => accessWith(driverInfo), message)
  wrong({}, /Missing the following Redfish properties in node .* driver_info: \['redfish_address'\]/)
  for (const redfish_address of ['ftp://bmc', 'http://', 'https://user:secret@bmc', 'a b', 'https://bmc/?x', 7]) {
    wrong({ redfish_address }, /redfish_address/)
  }
  wrong({ redfish_address: 'https://root:calvin@bmc' }, /^(?!.*calvin)/)
  wrong({ redfish_address: 'bmc', redfish_system_id: 'Systems/1' }, /redfish_system_id/)
  wrong({ redfish_address: 'bmc', redfish_auth_type: 'digest' }, /redfish_auth_type.*auto, session, basic/)
  wrong({ redfish_address: 'bmc', redfish_verify_ca: 1 }, /redfish_verify_ca/)
  wrong({ redfish_address: 'bmc', redfish_password: 1234 }, /redfish_password on node .* must be text/)
})
