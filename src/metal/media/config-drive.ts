// The config drive of a deployment: what a client gave, as the ISO that the machine sees, and the URL under which its
// BMC finds it.
import { gunzipSync } from 'node:zlib'
import { isObject } from '../../shared/is-object.ts'
import { limits } from '../../shared/limits.ts'
import type { Machine } from '../drivers/port.ts'
import { type Files, isoOf } from './iso9660.ts'
import { isSameSignature, mediumUrl, signatureFor } from './signature.ts'

type Deployed = Pick<Machine, 'uuid' | 'name' | 'instanceUuid' | 'instanceInfo'>

/** The label by which cloud-init finds it. */
const LABEL = 'config-2'
/** Clients of all ages find their folder. */
const FOLDERS = ['openstack/2012-08-10', 'openstack/latest']
const MEMBERS = ['meta_data', 'user_data', 'network_data', 'vendor_data']

const isUrl = (text: string) => /^https?:\/\/[^\s]+$/i.test(text)

type ConfigDrive =
  /** The BMC fetches it from there by itself. */
  { kind: 'url'; url: string } | { kind: 'given'; value: unknown }

export function configDriveOf({ instanceInfo }: Pick<Machine, 'instanceInfo'>): ConfigDrive | null {
  const value = instanceInfo['configdrive'] ?? null
  if (value === null || value === '') return null
  return typeof value === 'string' && isUrl(value) ? { kind: 'url', url: value } : { kind: 'given', value }
}

/** What is wrong with the config drive, or null. */
export function wrongConfigDrive(machine: Deployed): string | null {
  try {
    configDriveIso(machine)
    return null
  } catch (error) {
    return `instance_info/configdrive: ${(error as Error).message}`
  }
}

/** Null when the deployment has none, or one that is elsewhere. Throws when it can't be made. */
export function configDriveIso(machine: Deployed): Buffer | null {
  const drive = configDriveOf(machine)
  if (drive?.kind !== 'given') return null
  const { value } = drive
  if (typeof value === 'string') return unpacked(value)
  if (!isObject(value)) throw new TypeError('it must be a URL, text or an object.')
  const unknown = Object.keys(value).find(key => !MEMBERS.includes(key))
  if (unknown !== undefined) throw new TypeError(`there is no ${unknown}; there are ${MEMBERS.join(', ')}.`)
  return isoOf(LABEL, filesOf(value, machine))
}

function unpacked(text: string): Buffer {
  let iso: Buffer
  try {
    iso = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: limits.configDriveBytesMax })
  } catch (error) {
    const isLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
    throw new TypeError(
      isLarge
        ? `it has more than ${limits.configDriveBytesMax} bytes.`
        : 'text must be a URL, or an ISO compressed with gzip in base64.',
      { cause: error },
    )
  }
  if (iso.toString('latin1', 32_769, 32_774) !== 'CD001') throw new TypeError('there is no ISO 9660 volume in it.')
  return iso
}

function filesOf(given: Record<string, unknown>, { uuid, name, instanceUuid, instanceInfo }: Deployed): Files {
  const called = instanceInfo['display_name'] ?? name ?? undefined
  const basics = { uuid: instanceUuid ?? uuid, name: called, hostname: called }
  const meta = isObject(given['meta_data']) ? given['meta_data'] : {}
  const contents: [string, unknown][] = [
    ['meta_data.json', { ...basics, ...meta }],
    ['user_data', given['user_data']],
    ['network_data.json', given['network_data']],
    ['vendor_data2.json', given['vendor_data']],
  ]
  const written = contents.filter(([, value]) => value !== undefined && value !== null)
  return new Map(
    FOLDERS.flatMap(folder => written.map(([name, value]) => [`${folder}/${name}`, bytesOf(value)] as const)),
  )
}

const bytesOf = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

const signatureOf = (machine: Deployed) => signatureFor('config drive', machine.instanceInfo['configdrive'], machine)

export const isSigned = (machine: Deployed, signature: string) => isSameSignature(signatureOf(machine), signature)

/** Below `base`, the address of this service as BMCs reach it. */
export const configDriveUrl = (base: string, machine: Deployed) =>
  mediumUrl(base, machine.uuid, signatureOf(machine), 'configdrive.iso')
