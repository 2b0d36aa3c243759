// The settings of a node's BMC in driver_info: parsed and checked, without asking the BMC.
import { HardwareFailure, type Machine } from '../port.ts'

/** How a BMC is reached. */
export interface BmcAccess {
  /** Without a slash at the end; a path in it stands before /redfish. */
  readonly address: string
  /** The @odata.id of the system, or null: the BMC has only one. */
  readonly systemId: string | null
  readonly username: string | null
  readonly password: string | null
  /** True: by the authorities of this machine; a path: by those in that file. */
  readonly verifyCa: boolean | string
  readonly authType: 'auto' | 'session' | 'basic'
}

export const PROPERTIES = {
  redfish_address:
    'The URL of the BMC, such as https://bmc-7.example.org. Without a scheme it is https; a path stands before /redfish. Required.',
  redfish_system_id:
    'The path of the system, such as /redfish/v1/Systems/1. Needed only if the BMC has more than one system.',
  redfish_username: 'The account at the BMC. Optional.',
  redfish_password: 'The password of the account. Optional.',
  redfish_verify_ca:
    'True (the default): the certificate must be trusted by this machine. A path: by the certificates in that file. False: it is not checked.',
  redfish_auth_type: 'auto (the default: a session, or basic if the BMC has none), session or basic.',
} as const

const AUTH_TYPES = ['auto', 'session', 'basic'] as const

/** Throws a HardwareFailure that says what is wrong with the settings. */
export function accessOf({ uuid, driverInfo }: Pick<Machine, 'uuid' | 'driverInfo'>): BmcAccess {
  if (!driverInfo['redfish_address']) {
    throw new HardwareFailure(
      `Missing the following Redfish properties in node ${uuid} driver_info: ['redfish_address']`,
    )
  }
  const text = (key: keyof typeof PROPERTIES): string | null => {
    const value = driverInfo[key] ?? null
    if (value === null || typeof value === 'string') return value
    throw new HardwareFailure(`driver_info/${key} on node ${uuid} must be text.`)
  }
  const systemId = text('redfish_system_id')
  if (systemId !== null && !/^\/[^\s?#]*$/.test(systemId)) {
    throw new HardwareFailure(
      `Invalid value for driver_info/redfish_system_id on node ${uuid}: it must be a path that begins with /.`,
    )
  }
  const authType = AUTH_TYPES.find(type => type === (driverInfo['redfish_auth_type'] ?? 'auto'))
  if (!authType) {
    throw new HardwareFailure(
      `Invalid value for driver_info/redfish_auth_type on node ${uuid}: it must be one of ${AUTH_TYPES.join(', ')}.`,
    )
  }
  return {
    address: addressIn(text('redfish_address')!, uuid),
    systemId,
    username: text('redfish_username'),
    password: text('redfish_password'),
    verifyCa: verifyCaIn(driverInfo['redfish_verify_ca'] ?? true, uuid),
    authType,
  }
}

function addressIn(given: string, uuid: string): string {
  // An account in the address is not repeated: it may have its password with it.
  const shown = given.replace(/^.*@/s, '')
  const wrong = () =>
    new HardwareFailure(`Invalid Redfish address ${shown} set in driver_info/redfish_address on node ${uuid}`)
  if (/\s|@/.test(given)) throw wrong()
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `https://${given}`)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '') throw wrong()
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

const WORDS = new Map([
  ['true', true],
  ['false', false],
])

/** As upstream: text that reads as true or false counts as that, other text is a path. */
function verifyCaIn(value: unknown, uuid: string): boolean | string {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' && value !== '') return WORDS.get(value.toLowerCase()) ?? value
  throw new HardwareFailure(
    `Invalid value for driver_info/redfish_verify_ca on node ${uuid}: it must be true, false or the path of a file.`,
  )
}
