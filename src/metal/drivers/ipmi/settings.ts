// The settings of a BMC in driver_info, with upstream's names and words.
import { isIP } from 'node:net'
import { numberIn } from '../../../shared/scalar.ts'
import type { Json } from '../port.ts'

export interface IpmiSettings {
  address: string
  port: number
  username: string
  password: string
  privilege: string
  protocol: '1.5' | '2.0'
  /** Null: found out. */
  cipherSuite: number | null
  /** As text, since it goes through the environment. */
  kgKey: string | null
  /** The options of ipmitool for a BMC behind another one. */
  bridge: readonly string[]
  forcesBootDevice: boolean
  disablesBootTimeout: boolean
}

export const PROPERTIES = {
  ipmi_address: 'IP address or host name of the BMC. Required.',
  ipmi_username: 'User name; the anonymous user unless set. Optional.',
  ipmi_password: 'Password, at most 20 characters. Optional.',
  ipmi_port: 'UDP port of the BMC; 623 unless set. Optional.',
  ipmi_priv_level: 'Privilege level: ADMINISTRATOR (default), OPERATOR, USER or CALLBACK. Optional.',
  ipmi_protocol_version: 'Version of the protocol: 2.0 (default) or 1.5. Optional.',
  ipmi_cipher_suite: 'Number of the cipher suite; 17, then 3 is tried unless set. Optional.',
  ipmi_hex_kg_key: 'Kg key, 40 hexadecimal digits. Optional.',
  ipmi_bridging: 'Bridging: no (default), single or dual. Optional.',
  ipmi_target_channel: 'Channel of the bridged BMC. Required with bridging.',
  ipmi_target_address: 'Address of the bridged BMC. Required with bridging.',
  ipmi_transit_channel: 'Transit channel. Required with dual bridging.',
  ipmi_transit_address: 'Transit address. Required with dual bridging.',
  ipmi_local_address: 'Local IPMB address for bridged requests; 0x20 unless set. Optional.',
  ipmi_terminal_port: 'Ignored: consoles need no port of their own. Optional.',
  ipmi_force_boot_device: 'Whether a lasting boot device is set again before each start; false unless set. Optional.',
  ipmi_disable_boot_timeout:
    'Whether the BMC is told to keep a boot device for longer than 60 seconds; true unless set. Optional.',
}

const LEVELS = ['ADMINISTRATOR', 'CALLBACK', 'OPERATOR', 'USER']
const VERSIONS = ['2.0', '1.5']
const BRIDGES = { no: [], single: ['target'], dual: ['transit', 'target'] } as const
/** What the protocol has room for. */
const [USERNAME_MAX, PASSWORD_MAX, KG_DIGITS] = [16, 20, 40]
const SUITE_MAX = 127

/** Thrown while the settings are read: what is wrong. */
class Wrong extends Error {}

/** The settings, or what is wrong with them. */
export function settingsIn(info: Json): IpmiSettings | string {
  try {
    return parse(info)
  } catch (error) {
    if (error instanceof Wrong) return error.message
    throw error
  }
}

function parse(info: Json): IpmiSettings {
  portIn(info, 'ipmi_terminal_port')
  const protocol = oneOf(
    textIn(info, 'ipmi_protocol_version') ?? '2.0',
    VERSIONS,
    (given, valid) => `Invalid IPMI protocol version value ${given}, the valid value can be one of ${valid}`,
  )
  return {
    address: addressIn(info),
    port: portIn(info, 'ipmi_port') ?? 623,
    username: shortText(info, 'ipmi_username', USERNAME_MAX),
    password: shortText(info, 'ipmi_password', protocol === '1.5' ? USERNAME_MAX : PASSWORD_MAX),
    privilege: oneOf(
      textIn(info, 'ipmi_priv_level')?.toUpperCase() ?? 'ADMINISTRATOR',
      LEVELS,
      (given, valid) => `Invalid privilege level value:${given}, the valid value can be one of ${valid}`,
    ),
    protocol: protocol as IpmiSettings['protocol'],
    cipherSuite: suiteIn(info),
    kgKey: keyIn(info),
    bridge: bridgeIn(info),
    forcesBootDevice: flagIn(info, 'ipmi_force_boot_device', false),
    disablesBootTimeout: flagIn(info, 'ipmi_disable_boot_timeout', true),
  }
}

function addressIn(info: Json): string {
  const address = textIn(info, 'ipmi_address')
  if (address === null)
    throw new Wrong("Missing the following IPMI credentials in node's driver_info: ['ipmi_address'].")
  if (isIP(address) === 0 && !/^(?!-)[\w.-]{1,253}$/.test(address)) {
    throw new Wrong(`driver_info/ipmi_address: ${quoted(address)} is neither an IP address nor a host name.`)
  }
  return address
}

function portIn(info: Json, name: string): number | null {
  if (textIn(info, name) === null) return null
  const port = numberIn(info[name])
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Wrong(`${name} ${quoted(info[name])} is not a valid port.`)
  }
  return port
}

function suiteIn(info: Json): number | null {
  if (textIn(info, 'ipmi_cipher_suite') === null) return null
  const suite = numberIn(info['ipmi_cipher_suite'])
  if (Number.isInteger(suite) && suite >= 0 && suite <= SUITE_MAX) return suite
  throw new Wrong(`driver_info/ipmi_cipher_suite: ${quoted(info['ipmi_cipher_suite'])} is no number of a cipher suite.`)
}

/** ipmitool reads the key from its environment, which holds text. Its hexadecimal form goes on a command line only. */
function keyIn(info: Json): string | null {
  const digits = textIn(info, 'ipmi_hex_kg_key')
  if (digits === null) return null
  if (digits.length !== KG_DIGITS) throw new Wrong('Number of ipmi_hex_kg_key characters is not 40')
  if (!/^[0-9a-f]+$/i.test(digits)) throw new Wrong('ipmi_hex_kg_key contains non-hexadecimal characters')
  const key = Buffer.from(digits, 'hex').toString('latin1').replace(/\0+$/, '')
  if (/^[\p{ASCII}]*$/u.test(key) && !key.includes('\0')) return key
  throw new Wrong(
    'ipmi_hex_kg_key has bytes other than ASCII characters: they would have to be shown on a command line.',
  )
}

function bridgeIn(info: Json): readonly string[] {
  const kind = oneOf(
    textIn(info, 'ipmi_bridging') ?? 'no',
    Object.keys(BRIDGES),
    (given, valid) => `Invalid value for ipmi_bridging: ${given}, the valid value can be one of: ${valid}`,
  )
  const hops = BRIDGES[kind as keyof typeof BRIDGES]
  if (hops.length === 0) return []
  const options = { transit: ['-B', '-T'], target: ['-b', '-t'] } as const
  return [
    '-m',
    hexIn(info, 'ipmi_local_address') ?? '0x20',
    ...hops.flatMap(hop => [
      options[hop][0],
      required(info, `ipmi_${hop}_channel`),
      options[hop][1],
      required(info, `ipmi_${hop}_address`),
    ]),
  ]
}

function required(info: Json, name: string): string {
  const value = hexIn(info, name)
  if (value === null) throw new Wrong(`${name} not provided`)
  return value
}

function hexIn(info: Json, name: string): string | null {
  const text = textIn(info, name)
  if (text === null || /^(0x[0-9a-f]{1,2}|\d{1,3})$/i.test(text)) return text
  throw new Wrong(`driver_info/${name}: ${quoted(text)} is no number such as 0x20.`)
}

function flagIn(info: Json, name: string, otherwise: boolean): boolean {
  const word = textIn(info, name)?.toLowerCase()
  if (word === undefined) return otherwise
  if (['true', '1', 'yes', 'on', 't', 'y'].includes(word)) return true
  if (['false', '0', 'no', 'off', 'f', 'n'].includes(word)) return false
  throw new Wrong(`driver_info/${name}: ${quoted(word)} is neither true nor false.`)
}

function shortText(info: Json, name: string, max: number): string {
  const text = textIn(info, name) ?? ''
  // The value is not repeated: it may be the password.
  if (Buffer.byteLength(text) > max)
    throw new Wrong(`driver_info/${name} is longer than the ${max} bytes that IPMI has room for.`)
  if (/\p{Cc}/u.test(text)) throw new Wrong(`driver_info/${name} has control characters.`)
  return text
}

function oneOf(given: string, valid: readonly string[], words: (given: string, valid: string) => string): string {
  if (valid.includes(given)) return given
  throw new Wrong(words(given.slice(0, 100), valid.join(', ')))
}

function textIn(info: Json, name: string): string | null {
  const value = info[name]
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Wrong(`driver_info/${name} must be text.`)
}

const quoted = (value: unknown) => JSON.stringify(value).slice(0, 100)
