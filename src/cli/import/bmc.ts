// Machines by the address of their BMC: short members of a node in a fleet file, and what they are short for.
import type { Json } from '../../client/index.ts'
import { isObject } from '../../shared/is-object.ts'
import { isScalar } from '../../shared/scalar.ts'
import type { Finding } from './checks.ts'
import type { Path } from './mistake.ts'

/** Drivers that reach a machine through a BMC. Their settings begin with their name. */
const DRIVERS = ['redfish', 'ipmi'] as const
type BmcDriver = (typeof DRIVERS)[number]

/** A column of this name is a setting of the driver: `bmc` is redfish_address, or ipmi_address. */
const SHORT: Readonly<Record<string, string>> = {
  bmc: 'address',
  bmc_username: 'username',
  bmc_password: 'password',
}
const SETTINGS = [
  'redfish_address',
  'redfish_system_id',
  'redfish_username',
  'redfish_password',
  'redfish_verify_ca',
  'redfish_auth_type',
  'ipmi_address',
  'ipmi_port',
  'ipmi_username',
  'ipmi_password',
  'ipmi_priv_level',
  'ipmi_cipher_suite',
]
export const BMC_MEMBERS: readonly string[] = [...Object.keys(SHORT), ...SETTINGS]
/** Members whose text may mean something else: true, or a number. */
export const BMC_SCALARS: ReadonlySet<string> = new Set(['redfish_verify_ca', 'ipmi_port', 'ipmi_cipher_suite'])

const CHARS_MAX = 1_024

/** Never shows the value: it may be a password. */
export function bmcSetting(value: unknown, path: Path): Finding[] {
  const isFine =
    typeof value === 'string'
      ? value.length > 0 && value.length <= CHARS_MAX
      : ['boolean', 'number'].includes(typeof value)
  return isFine ? [] : [{ path, says: `is not a text of 1 to ${CHARS_MAX} characters` }]
}

const saysOf = (entry: Json, driver: BmcDriver) =>
  SETTINGS.some(name => name.startsWith(`${driver}_`) && Object.hasOwn(entry, name))

/** Settings of two drivers: which one is meant must be said. */
export function oneDriver(value: unknown, path: Path): Finding[] {
  if (!isObject(value) || value['driver'] !== undefined || !DRIVERS.every(driver => saysOf(value, driver))) return []
  return [{ path, says: 'has settings of redfish and of ipmi; give it a driver' }]
}

/** The driver and driver_info that an entry asks for, with the short members in their places. */
export function bmcMembersOf(entry: Json): { driver?: string; driver_info?: Json } {
  const given = isObject(entry['driver_info']) ? entry['driver_info'] : {}
  const said = entry['driver']
  const driver = DRIVERS.find(one => one === said) ?? (saysOf({ ...given, ...entry }, 'ipmi') ? 'ipmi' : 'redfish')
  const info: Json = {}
  for (const [name, setting] of Object.entries(SHORT))
    if (Object.hasOwn(entry, name)) info[`${driver}_${setting}`] = entry[name]
  for (const name of SETTINGS) if (Object.hasOwn(entry, name)) info[name] = entry[name]
  Object.assign(info, given)
  if (Object.keys(info).length === 0) return {}
  const isReached = typeof info[`${driver}_address`] === 'string'
  return { ...(said === undefined && isReached && { driver }), driver_info: info }
}

/** A machine that is known by its BMC. */
export interface BmcPlace {
  driver: BmcDriver
  /** The same for the same machine, however its address is written. */
  key: string
  /** For a node without a name. */
  name: string
}

/** Where the BMC of a node with this driver_info is; null if it doesn't say. */
export function bmcPlaceOf(info: unknown): BmcPlace | null {
  if (!isObject(info)) return null
  const driver = DRIVERS.find(one => typeof info[`${one}_address`] === 'string')
  if (driver === undefined) return null
  const host = String(info[`${driver}_address`])
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/\/+$/, '')
  const port = driver === 'ipmi' && isScalar(info['ipmi_port']) ? [String(info['ipmi_port'])] : []
  const system = typeof info['redfish_system_id'] === 'string' ? [lastOf(info['redfish_system_id'])] : []
  const parts = [host, ...port, ...system].filter(part => part !== '')
  const name = parts.map(nameable).join('-').slice(0, NAME_CHARS_MAX)
  return { driver, key: [driver, ...parts].join(' '), name }
}

const NAME_CHARS_MAX = 255
const lastOf = (path: string) => path.toLowerCase().replace(/\/+$/, '').split('/').at(-1)!
const nameable = (text: string) => text.replaceAll(/[^a-z0-9._~-]+/g, '-').replaceAll(/^-+|-+$/g, '')

interface Login {
  username: string | null
  password: string | null
}

/** The settings for a machine whose file says no login. */
export function loginFor(info: Json, { driver }: BmcPlace, { username, password }: Login): Json {
  const [user, secret] = [`${driver}_username`, `${driver}_password`]
  return {
    ...(username !== null && !Object.hasOwn(info, user) && { [user]: username }),
    ...(password !== null && !Object.hasOwn(info, secret) && { [secret]: password }),
  }
}
