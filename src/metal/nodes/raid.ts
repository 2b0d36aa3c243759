// The logical disks that an operator wants on a node: how they are read, and where they are kept until a step makes them.
import { problem } from '../../problems/problem.ts'
import { isObject } from '../../shared/is-object.ts'
import { jsonIn, jsonText, WORDS } from '../../shared/json.ts'
import { limits } from '../../shared/limits.ts'
import type { Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import type { Json } from '../drivers/port.ts'
import { lockNode, requireUnlocked, saveNode } from './rows.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

export const RAID_LEVELS = ['JBOD', '0', '1', '2', '5', '6', '1+0', '5+0', '6+0'] as const
export const DISK_TYPES = ['hdd', 'ssd'] as const
export const DISK_INTERFACES = ['sata', 'scsi', 'sas', 'nvme'] as const

/** What can be said of a logical disk, explained. */
export const LOGICAL_DISK_PROPERTIES = {
  raid_level: `RAID level for the logical disk. Valid values are ${RAID_LEVELS.join(', ')}. Required.`,
  size_gb: 'Size in GiB for the logical disk, a whole number. Use "MAX" for all that is left. Required.',
  volume_name:
    'Name of the volume to be made, a string of at most 255 characters. Optional; one is made up without it.',
  is_root_volume: 'Whether this logical disk is the root volume, true or false. Optional; at most one may be.',
  share_physical_disks: 'Whether its physical disks may be shared with other logical disks, true or false. Optional.',
  disk_type: `The type of its physical disks: ${DISK_TYPES.join(' or ')}. Optional.`,
  interface_type: `The interface of its physical disks: ${DISK_INTERFACES.join(', ')}. Optional.`,
  number_of_physical_disks: 'How many physical disks it uses, a whole number. Optional.',
  controller: 'The RAID controller that it is made on, a string. Optional.',
  physical_disks: 'The physical disks that it uses, a list as the controller names them. Optional.',
} as const
type Property = keyof typeof LOGICAL_DISK_PROPERTIES

const isText = (value: unknown) => typeof value === 'string' && value.length <= 255
const isFlag = (value: unknown) => typeof value === 'boolean'
const isWhole = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 1e9
const isOneOf = (words: readonly string[]) => (value: unknown) => words.includes(value as string)

const CHECKS: Record<Property, (value: unknown) => boolean> = {
  raid_level: isOneOf(RAID_LEVELS),
  size_gb: value => isWhole(value) || value === 'MAX',
  volume_name: isText,
  is_root_volume: isFlag,
  share_physical_disks: isFlag,
  disk_type: isOneOf(DISK_TYPES),
  interface_type: isOneOf(DISK_INTERFACES),
  number_of_physical_disks: isWhole,
  controller: isText,
  physical_disks: value =>
    Array.isArray(value) && value.length > 0 && value.every(disk => isText(disk) || isObject(disk)),
}

/** Reads the wanted logical disks; an empty object wants none. */
export function raidConfigIn(given: Json): Json {
  const { logical_disks: disks, ...others } = given
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined)
    throw refuse(`A RAID configuration has no member ${unknown.slice(0, 100)}, only logical_disks.`)
  if (disks === undefined) return {}
  if (!Array.isArray(disks) || disks.length === 0)
    throw refuse('logical_disks must be a list of at least one logical disk.')
  if (disks.length > limits.logicalDisksMax) {
    throw refuse(`A RAID configuration has at most ${limits.logicalDisksMax} logical disks.`)
  }
  for (const disk of disks as unknown[]) checkDisk(disk)
  if ((disks as Json[]).filter(disk => disk['is_root_volume'] === true).length > 1) {
    throw refuse('A RAID configuration has at most one root volume.')
  }
  if (JSON.stringify(disks).length > limits.nodeJsonBytesMax) throw refuse('The RAID configuration is too large.')
  return { logical_disks: disks as unknown[] }
}

function checkDisk(disk: unknown): void {
  if (!isObject(disk)) throw refuse('A logical disk, a member of logical_disks, is an object.')
  for (const name of ['raid_level', 'size_gb']) {
    if (disk[name] === undefined) throw refuse(`A logical disk needs ${name}.`)
  }
  for (const [name, value] of Object.entries(disk)) {
    if (!Object.hasOwn(CHECKS, name))
      throw refuse(`A logical disk has no property ${name.slice(0, 100)}, only ${Object.keys(CHECKS).join(', ')}.`)
    if (!CHECKS[name as Property](value))
      throw refuse(`Invalid value for ${name} of a logical disk: ${LOGICAL_DISK_PROPERTIES[name as Property]}`)
  }
}

/** Keeps what is wanted. A step of a cleaning or a deployment makes it so. */
export function* setTargetRaid(ident: string, access: Access, wanted: Json, now: number): Write<void> {
  const node = yield* lockNode(ident, access)
  requireUnlocked(node)
  if (jsonIn(node.interfaces, WORDS)['raid'] === 'no-raid') {
    throw problem('interface_unsupported', { driver: node.driver, name: 'raid' })
  }
  yield* saveNode(node, { ...node, target_raid_config: jsonText(wanted), updated_at: now })
}
