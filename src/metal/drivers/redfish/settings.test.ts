import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../port.ts'
import { bmcSettingsOf } from './settings.ts'

const settings = (driverInfo: Json) => bmcSettingsOf({ uuid: 'U', driverInfo })
const access = (driverInfo: Json) => settings({ redfish_address: 'bmc', ...driverInfo }).access
const wrong = (driverInfo: Json, message: string | RegExp) =>
  assert.throws(() => settings(driverInfo), typeof message === 'string' ? { message } : message)

test('an address has the scheme https, and the usual root, unless it says otherwise', () => {
  const addresses = [
    ['bmc.example', 'https://bmc.example', '/redfish/v1/'],
    ['10.0.0.1:8443', 'https://10.0.0.1:8443', '/redfish/v1/'],
    ['http://10.0.0.1:8000/', 'http://10.0.0.1:8000', '/redfish/v1/'],
    ['[fe80::1]', 'https://[fe80::1]', '/redfish/v1/'],
    ['https://bmc/rack7/redfish/v1', 'https://bmc', '/rack7/redfish/v1/'],
  ]
  for (const [redfish_address, origin, rootPath] of addresses) {
    const found = access({ redfish_address })
    assert.deepEqual([found.origin, found.rootPath], [origin, rootPath])
  }
})

test('an address that is missing or wrong is said, as upstream says it', () => {
  wrong({}, "Missing the following Redfish properties in node U driver_info: ['redfish_address']")
  for (const address of ['ftp://bmc', 'https://', 'https://bmc/?x=1', 'bmc bmc']) {
    wrong(
      { redfish_address: address },
      /Invalid Redfish address set in driver_info\/redfish_address on node U\. The value should be like https:\/\/HOST/,
    )
  }
  wrong({ redfish_address: 5 }, /driver_info\/redfish_address on node U\. The value should be a string/)
})

test('a password or a token in the address is refused, and nothing of the address is repeated', () => {
  for (const redfish_address of ['https://root:calvin@bmc', 'https://bmc/?token=calvin', 'https://bmc/#calvin']) {
    assert.throws(
      () => settings({ redfish_address }),
      ({ message }: Error) => !/calvin|bmc/.test(message),
    )
  }
})

test('the ways to log in are three', () => {
  assert.equal(access({}).authType, 'auto')
  assert.equal(access({ redfish_auth_type: 'session' }).authType, 'session')
  wrong(
    { redfish_address: 'bmc', redfish_auth_type: 'none' },
    `Invalid value "none" set in driver_info/redfish_auth_type on node U. The value should be one of ['basic', 'session', 'auto'].`,
  )
})

test('a password of digits may come as a number, and needs a user', () => {
  const found = access({ redfish_username: 'root', redfish_password: 1234 })
  assert.deepEqual([found.username, found.password], ['root', '1234'])
  assert.equal(access({ redfish_username: 'root' }).password, '')
  wrong({ redfish_address: 'bmc', redfish_password: 'x' }, /\['redfish_username'\]/)
})

test('certificates are checked unless the node says otherwise', () => {
  const given: [unknown, boolean | string][] = [
    [undefined, true],
    [false, false],
    ['False', false],
    ['yes', true],
    ['/etc/ca.pem', '/etc/ca.pem'],
  ]
  for (const [redfish_verify_ca, expected] of given) assert.equal(access({ redfish_verify_ca }).verifyCa, expected)
  wrong(
    { redfish_address: 'bmc', redfish_verify_ca: { a: 1 } },
    /redfish_verify_ca on node U\. The value should be a Boolean/,
  )
})

test('the oldest TLS version is a number or a name', () => {
  for (const given of [1.2, '1.2', 'TLSv1.2']) {
    assert.equal(access({ redfish_tls_minimum_version: given }).tlsMinimum, 'TLSv1.2')
  }
  wrong({ redfish_address: 'bmc', redfish_tls_minimum_version: '0.9' }, /redfish_tls_minimum_version on node U/)
})
