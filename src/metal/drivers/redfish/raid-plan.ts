// Which disks become which volumes: decided from target_raid_config and the disks that are free, before anything is touched.
import { isObject } from '../../../shared/is-object.ts'
import { HardwareFailure, type Json } from '../port.ts'
import { textOf } from './words.ts'

const GIB = 1024 ** 3

export interface Drive {
  readonly path: string
  readonly id: string
  readonly name: string
  readonly bytes: number
  /** hdd or ssd; null when it isn't said. */
  readonly type: string | null
  /** sas, sata, nvme … */
  readonly protocol: string | null
  readonly isFree: boolean
}

export interface Controller {
  readonly id: string
  readonly name: string
  readonly volumesPath: string
  /** Empty: it doesn't say. */
  readonly raidTypes: readonly string[]
  readonly drives: readonly Drive[]
}

export interface PlannedVolume {
  readonly controller: Controller
  readonly raidType: string
  readonly drives: readonly Drive[]
  /** Null: as large as it gets. */
  readonly bytes: number | null
  readonly name: string | null
  readonly isRoot: boolean
}

interface Level {
  readonly type: string
  readonly disksMin: number
  /** Their number is a multiple of this. */
  readonly disksStep: number
  /** How many disks' worth of room there is. */
  readonly room: (disks: number) => number
}

const level = (type: string, disksMin: number, disksStep: number, room: Level['room']): Level => ({
  type,
  disksMin,
  disksStep,
  room,
})

/** By the words of target_raid_config. */
export const LEVELS: ReadonlyMap<string, Level> = new Map([
  ['JBOD', level('None', 1, Infinity, () => 1)],
  ['0', level('RAID0', 1, 1, disks => disks)],
  ['1', level('RAID1', 2, Infinity, () => 1)],
  ['5', level('RAID5', 3, 1, disks => disks - 1)],
  ['6', level('RAID6', 4, 1, disks => disks - 2)],
  ['1+0', level('RAID10', 4, 2, disks => disks / 2)],
  ['5+0', level('RAID50', 6, 2, disks => disks - 2)],
  ['6+0', level('RAID60', 8, 2, disks => disks - 4)],
])

interface Wanted {
  readonly level: Level
  readonly bytes: number | null
  readonly disks: number | null
  readonly isRoot: boolean
  readonly name: string | null
  readonly controller: string | null
  readonly physicalDisks: readonly string[] | null
  readonly diskType: string | null
  readonly interfaceType: string | null
}

/** Throws a HardwareFailure when the disks don't suffice. */
export function planVolumes(logicalDisks: readonly Json[], controllers: readonly Controller[]): PlannedVolume[] {
  const taken = new Set<string>()
  // Who names disks gets them; who takes all that is left comes last.
  const rank = ({ physicalDisks, bytes }: Wanted) => (physicalDisks ? 0 : bytes !== null ? 1 : 2)
  const wanted = logicalDisks.map(wantedIn).sort((one, other) => rank(one) - rank(other))
  return wanted.map(one => {
    const volume = placed(one, controllers, taken)
    if (!volume) throw new HardwareFailure(noRoom(one))
    for (const { path } of volume.drives) taken.add(path)
    return volume
  })
}

function wantedIn(disk: Json, at: number): Wanted {
  const named = textOf(disk['raid_level']).replace(/^(1|5|6)0$/, '$1+0')
  const found = LEVELS.get(named)
  if (!found)
    throw new HardwareFailure(
      `Logical disk ${at + 1} of target_raid_config has raid_level ${JSON.stringify(disk['raid_level'])}: it can be ${[...LEVELS.keys()].join(', ')}.`,
    )
  const size = disk['size_gb']
  if (size !== 'MAX' && !(typeof size === 'number' && size > 0)) {
    throw new HardwareFailure(`Logical disk ${at + 1} of target_raid_config needs size_gb: a number, or MAX.`)
  }
  const text = (key: string) => (typeof disk[key] === 'string' && disk[key] !== '' ? disk[key] : null)
  const count = disk['number_of_physical_disks']
  const physical = disk['physical_disks']
  return {
    level: found,
    bytes: typeof size === 'number' ? size * GIB : null,
    disks: typeof count === 'number' ? count : null,
    isRoot: disk['is_root_volume'] === true,
    name: text('volume_name'),
    controller: text('controller'),
    physicalDisks: Array.isArray(physical) ? physical.filter(name => typeof name === 'string') : null,
    diskType: text('disk_type'),
    interfaceType: text('interface_type'),
  }
}

function placed(wanted: Wanted, controllers: readonly Controller[], taken: ReadonlySet<string>): PlannedVolume | null {
  for (const controller of controllers) {
    const { level } = wanted
    if (wanted.controller !== null && ![controller.id, controller.name].includes(wanted.controller)) continue
    if (controller.raidTypes.length > 0 && !controller.raidTypes.includes(level.type)) continue
    const free = controller.drives.filter(drive => drive.isFree && !taken.has(drive.path) && suits(drive, wanted))
    const drives = chosen(free, wanted)
    if (!drives) continue
    const { bytes, name, isRoot } = wanted
    return { controller, raidType: level.type, drives, bytes, name, isRoot }
  }
  return null
}

function suits(drive: Drive, { physicalDisks, diskType, interfaceType }: Wanted): boolean {
  if (physicalDisks) return physicalDisks.includes(drive.id) || physicalDisks.includes(drive.name)
  const is = (wanted: string | null, found: string | null) => wanted === null || wanted.toLowerCase() === found
  // SCSI is what SAS was called.
  return is(diskType, drive.type) && is(interfaceType === 'scsi' ? 'sas' : interfaceType, drive.protocol)
}

/** Disks of one kind and size, the smallest that suffice, and no more of them than are needed. */
function chosen(free: readonly Drive[], wanted: Wanted): readonly Drive[] | null {
  const { physicalDisks, level } = wanted
  if (physicalDisks) return free.length === physicalDisks.length && fits(free, wanted) ? free : null
  const groups = [...Map.groupBy(free, ({ bytes, type, protocol }) => `${bytes} ${type} ${protocol}`).values()]
  const size = (group: readonly Drive[]) => group[0]!.bytes
  // All that is left is asked for: the largest disks. Otherwise the smallest that will do.
  groups.sort((one, other) => (wanted.bytes === null ? size(other) - size(one) : size(one) - size(other)))
  for (const group of groups) {
    const counts = countsOf(level, group.length).filter(count => wanted.disks === null || wanted.disks === count)
    const inOrder = wanted.bytes === null ? counts.toReversed() : counts
    const count = inOrder.find(count => fits(group.slice(0, count), wanted))
    if (count !== undefined) return group.slice(0, count)
  }
  return null
}

/** How many disks such a volume may have. */
function countsOf({ disksMin, disksStep }: Level, there: number): number[] {
  const counts: number[] = []
  for (let count = disksMin; count <= there; count += disksStep) counts.push(count)
  return counts
}

function fits(drives: readonly Drive[], { level, bytes }: Wanted): boolean {
  if (!countsOf(level, drives.length).includes(drives.length)) return false
  const room = level.room(drives.length) * Math.min(...drives.map(drive => drive.bytes))
  return room > 0 && (bytes === null || bytes <= room)
}

function noRoom({ level, bytes, controller, physicalDisks }: Wanted): string {
  const size = bytes === null ? 'of any size' : `of ${bytes / GIB} GiB`
  const where = physicalDisks
    ? ` on the disks ${physicalDisks.join(', ')}`
    : controller
      ? ` at controller ${controller}`
      : ''
  return `There are no free disks for a volume ${level.type} ${size}${where}.`
}

/** The logical disks of target_raid_config that this step makes. */
export function logicalDisksIn(target: Json, { root, others }: { root: boolean; others: boolean }): Json[] {
  const listed = Array.isArray(target['logical_disks']) ? target['logical_disks'].filter(isObject) : []
  return listed.filter(disk => (disk['is_root_volume'] === true ? root : others))
}
