import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsIn } from './settings.ts'

const read = (info: object) => settingsIn({ ipmi_address: '10.0.0.1', ...info })
const settings = (info: object) => {
  const found = read(info)
  assert.ok(typeof found !== 'string', found as string)
  return found
}

test('an address is enough', () => {
  const { address, port, username, password, privilege, protocol, cipherSuite, bridge } = settings({})
  assert.deepEqual(
    { address, port, username, password, privilege, protocol, cipherSuite, bridge },
    {
      address: '10.0.0.1',
      port: 623,
      username: '',
      password: '',
      privilege: 'ADMINISTRATOR',
      protocol: '2.0',
      cipherSuite: null,
      bridge: [],
    },
  )
})

test('what is missing or wrong is said in the words that clients of Ironic know', () => {
  const cases: [object, RegExp][] = [
    [{ ipmi_address: null }, /^Missing the following IPMI credentials in node's driver_info: \['ipmi_address'\]\.$/],
    [{ ipmi_address: '-oProxy=x' }, /neither an IP address nor a host name/],
    [{ ipmi_address: 'a b' }, /neither an IP address nor a host name/],
    [{ ipmi_port: '70000' }, /^ipmi_port "70000" is not a valid port\.$/],
    [{ ipmi_terminal_port: 'x' }, /^ipmi_terminal_port "x" is not a valid port\.$/],
    [{ ipmi_priv_level: 'root' }, /^Invalid privilege level value:ROOT, the valid value can be one of ADMINISTRATOR/],
    [{ ipmi_protocol_version: '3' }, /^Invalid IPMI protocol version value 3/],
    [{ ipmi_bridging: 'triple' }, /^Invalid value for ipmi_bridging: triple, .*: no, single, dual$/],
    [{ ipmi_bridging: 'single', ipmi_target_channel: '7' }, /^ipmi_target_address not provided$/],
    [{ ipmi_bridging: 'single', ipmi_target_channel: '$(x)' }, /no number such as 0x20/],
    [{ ipmi_hex_kg_key: 'ab' }, /^Number of ipmi_hex_kg_key characters is not 40$/],
    [{ ipmi_hex_kg_key: 'g'.repeat(40) }, /^ipmi_hex_kg_key contains non-hexadecimal characters$/],
    [{ ipmi_hex_kg_key: 'ff'.repeat(20) }, /command line/],
    [{ ipmi_cipher_suite: 'x' }, /no number of a cipher suite/],
    [{ ipmi_username: 'u'.repeat(17) }, /longer than the 16 bytes/],
    [{ ipmi_force_boot_device: 'maybe' }, /neither true nor false/],
    [{ ipmi_password: { a: 1 } }, /driver_info\/ipmi_password must be text/],
  ]
  for (const [info, words] of cases) assert.match(read(info) as string, words)
})

test('a password that is too long is refused without being repeated', () => {
  const wrong = read({ ipmi_password: 'secret-secret-secret-' }) as string
  assert.match(wrong, /longer than the 20 bytes/)
  assert.doesNotMatch(wrong, /secret/)
})

test('a BMC behind another one is reached by its channels', () => {
  const single = { ipmi_bridging: 'single', ipmi_target_channel: '0x07', ipmi_target_address: '0x82' }
  assert.deepEqual(settings(single).bridge, ['-m', '0x20', '-b', '0x07', '-t', '0x82'])
  const dual = { ...single, ipmi_bridging: 'dual', ipmi_transit_channel: 0, ipmi_transit_address: '0x72' }
  assert.deepEqual(
    settings({ ...dual, ipmi_local_address: '0x24' }).bridge,
    '-m 0x24 -B 0 -T 0x72 -b 0x07 -t 0x82'.split(' '),
  )
})

test('a key is text for the environment, without the zeros that fill it up', () => {
  assert.equal(settings({ ipmi_hex_kg_key: Buffer.from('key').toString('hex').padEnd(40, '0') }).kgKey, 'key')
})
