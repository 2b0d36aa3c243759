// What a node's driver_info says about its BMC: read and checked, without asking anybody.
import { isScalar } from '../../../shared/scalar.ts'
import { HardwareFailure, type Json, type Machine } from '../port.ts'

const AUTH_TYPES = ['basic', 'session', 'auto'] as const
type AuthType = (typeof AUTH_TYPES)[number]

/** As in Node's `minVersion`, by the words that operators use. */
const TLS_VERSIONS = new Map<string, TlsVersion>([
  ['1', 'TLSv1'],
  ['1.0', 'TLSv1'],
  ['1.1', 'TLSv1.1'],
  ['1.2', 'TLSv1.2'],
  ['1.3', 'TLSv1.3'],
])
type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'

/** How to reach a BMC. Nodes with the same access share its session. */
export interface Access {
  /** Scheme, host and port. */
  readonly origin: string
  /** Of the service root, with a slash at its end. */
  readonly rootPath: string
  readonly username: string | null
  readonly password: string | null
  readonly authType: AuthType
  /** False: any certificate will do. A path: the CA's certificate is in that file. */
  readonly verifyCa: boolean | string
  readonly tlsMinimum: TlsVersion | null
  readonly tlsCiphers: string | null
}

interface BmcSettings {
  readonly access: Access
  /** A path, a bare id or a UUID. Null: the BMC has exactly one system. */
  readonly systemId: string | null
}

export const REDFISH_PROPERTIES = {
  redfish_address:
    'The URL of the BMC. The scheme is https unless it is given. A path is the path of the service root. Required.',
  redfish_system_id:
    'The system: its path, such as /redfish/v1/Systems/1, its id or its UUID. Needed when the BMC has several.',
  redfish_username: 'The user to log in with. Needed unless the BMC asks for no login.',
  redfish_password: 'The password of that user.',
  redfish_verify_ca:
    'true (the default): the certificate must be trusted. A path: of the file with the CA’s certificate. false: any certificate is taken.',
  redfish_auth_type: 'auto (the default), session or basic. auto: a session, or basic where the BMC has no sessions.',
  redfish_tls_minimum_version: 'The oldest version of TLS that is taken, such as 1.2. Optional.',
  redfish_tls_ciphers: 'The ciphers of TLS, as OpenSSL lists them. Optional.',
} as const

/** Throws a HardwareFailure that says what is wrong. */
export function bmcSettingsOf({ uuid, driverInfo }: Pick<Machine, 'uuid' | 'driverInfo'>): BmcSettings {
  const text = (key: string) => textIn(driverInfo, key, uuid)
  const url = addressIn(text('redfish_address'), uuid)
  const [username, password] = [text('redfish_username'), text('redfish_password')]
  if (password !== null && username === null) {
    throw new HardwareFailure(
      `Missing the following Redfish properties in node ${uuid} driver_info: ['redfish_username']`,
    )
  }
  return {
    systemId: text('redfish_system_id'),
    access: {
      origin: url.origin,
      rootPath: url.pathname === '/' ? '/redfish/v1/' : url.pathname.replace(/\/*$/, '/'),
      username,
      password: username === null ? null : (password ?? ''),
      authType: authTypeIn(text('redfish_auth_type'), uuid),
      verifyCa: verifyCaIn(driverInfo['redfish_verify_ca'], uuid),
      tlsMinimum: tlsMinimumIn(driverInfo['redfish_tls_minimum_version'], uuid),
      tlsCiphers: text('redfish_tls_ciphers'),
    },
  }
}

/** What is wrong with the settings, or null. */
export function wrongWithBmcSettings(machine: Machine): string | null {
  try {
    bmcSettingsOf(machine)
    return null
  } catch (error) {
    if (error instanceof HardwareFailure) return error.message
    throw error
  }
}

function textIn(driverInfo: Json, key: string, uuid: string): string | null {
  const value = driverInfo[key] ?? null
  if (value === null || value === '') return null
  if (typeof value === 'string') return value
  // Ids and passwords of digits are often typed without quotes.
  if (typeof value === 'number' && key !== 'redfish_address') return String(value)
  throw new HardwareFailure(`Invalid value set in driver_info/${key} on node ${uuid}. The value should be a string.`)
}

function addressIn(address: string | null, uuid: string): URL {
  if (address === null) {
    throw new HardwareFailure(
      `Missing the following Redfish properties in node ${uuid} driver_info: ['redfish_address']`,
    )
  }
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`)
  const isUsable =
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username + url.password + url.search + url.hash === ''
  if (isUsable) return url
  // It is not repeated: a password or a token may be in it, and whoever reads this may not know where the BMC is.
  throw new HardwareFailure(
    `Invalid Redfish address set in driver_info/redfish_address on node ${uuid}. The value should be like https://HOST, without a user, a query or a fragment.`,
  )
}

function authTypeIn(given: string | null, uuid: string): AuthType {
  const type = AUTH_TYPES.find(type => type === (given ?? 'auto'))
  if (type) return type
  const valid = AUTH_TYPES.map(type => `'${type}'`).join(', ')
  throw new HardwareFailure(
    `Invalid value "${given}" set in driver_info/redfish_auth_type on node ${uuid}. The value should be one of [${valid}].`,
  )
}

const TRUE = new Set(['true', 't', 'on', 'yes', 'y', '1'])
const FALSE = new Set(['false', 'f', 'off', 'no', 'n', '0'])

function verifyCaIn(given: unknown, uuid: string): boolean | string {
  if (given === undefined || given === null || given === '') return true
  if (typeof given === 'boolean') return given
  if (typeof given === 'string') {
    const word = given.toLowerCase()
    return TRUE.has(word) || (FALSE.has(word) ? false : given)
  }
  throw new HardwareFailure(
    `Invalid value type set in driver_info/redfish_verify_ca on node ${uuid}. The value should be a Boolean or the path to a file, not "${JSON.stringify(given)}".`,
  )
}

function tlsMinimumIn(given: unknown, uuid: string): TlsVersion | null {
  if (given === undefined || given === null || given === '') return null
  // 1.0 as a number is 1.
  const version = TLS_VERSIONS.get(isScalar(given) ? String(given).replace(/^TLSv/i, '') : '')
  if (version) return version
  throw new HardwareFailure(
    `Invalid value "${JSON.stringify(given)}" set in driver_info/redfish_tls_minimum_version on node ${uuid}. The value should be one of ['1.0', '1.1', '1.2', '1.3'].`,
  )
}
