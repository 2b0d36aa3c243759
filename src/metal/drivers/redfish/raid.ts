// RAID: volumes made from target_raid_config, deleted, and read back.
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import { type Done, HardwareFailure, type Json, type Machine } from '../port.ts'
import { type Bmc, linkIn, type Resource } from './bmc.ts'
import { switchPower } from './power.ts'
import { type Controller, type Drive, LEVELS, logicalDisksIn, type PlannedVolume, planVolumes } from './raid-plan.ts'
import { until } from './settle.ts'
import type { Visit as FullVisit } from './visit.ts'
import { textOf } from './words.ts'

type Visit = Pick<FullVisit, 'bmc' | 'pause'> & { readonly machine: Pick<Machine, 'targetRaidConfig'> }

const GIB = 1024 ** 3

const wantedDisks = (args: Json, { targetRaidConfig }: Pick<Machine, 'targetRaidConfig'>) =>
  logicalDisksIn(targetRaidConfig, {
    root: args['create_root_volume'] !== false,
    others: args['create_nonroot_volumes'] !== false,
  })

/** What is wrong with create_configuration for this node, or null. */
export const wrongVolumes = (args: Json, machine: Pick<Machine, 'targetRaidConfig'>): string | null =>
  wantedDisks(args, machine).length > 0 ? null : 'the node has no target_raid_config with logical disks to create'

/** As upstream: `create_root_volume`, `create_nonroot_volumes` (both true), `delete_existing` (false). */
export async function createRaid({ bmc, pause, machine }: Visit, args: Json): Promise<Done> {
  const wrong = wrongVolumes(args, machine)
  if (wrong !== null) throw new HardwareFailure(wrong)
  const disks = wantedDisks(args, machine)
  const before = args['delete_existing'] === true ? await deleteVolumes({ bmc, pause }) : {}
  const planned = planVolumes(disks, await controllersOf(bmc))
  const old = new Set((await volumesOf(bmc)).map(({ volume }) => volume.path))
  const waiting: PlannedVolume[] = []
  for (const volume of planned) if ((await create(bmc, volume)) === 'after a restart') waiting.push(volume)
  const after = waiting.length > 0 ? { powerState: await switchPower(bmc, { target: 'rebooting' }, pause) } : {}
  await until(async () => {
    const missing = planned.length - (await volumesOf(bmc)).filter(({ volume }) => !old.has(volume.path)).length
    return missing > 0 ? [`${missing} volumes`] : []
  }, pause)
  return { ...before, ...after, raidConfig: await readRaid(bmc, { planned, old }) }
}

export async function deleteRaid(visit: Pick<Visit, 'bmc' | 'pause'>): Promise<Done> {
  const done = await deleteVolumes(visit)
  return { ...done, raidConfig: await readRaid(visit.bmc) }
}

async function deleteVolumes({ bmc, pause }: Pick<Visit, 'bmc' | 'pause'>): Promise<Done> {
  for (const { storage, volume } of await volumesOf(bmc)) {
    const time = await applyTimeOf(bmc, linkIn(storage.body, 'Volumes')!)
    await bmc.delete(volume.path, { wait: time !== 'OnReset' })
  }
  const left = async () => (await volumesOf(bmc)).map(({ volume }) => `the end of volume ${volume.path}`)
  if ((await left()).length === 0) return {}
  // Some controllers delete when the machine starts.
  const powerState = await switchPower(bmc, { target: 'rebooting' }, pause)
  await until(left, pause)
  return { powerState }
}

async function create(
  bmc: Bmc,
  { controller, raidType, drives, bytes, name }: PlannedVolume,
): Promise<'now' | 'after a restart'> {
  const time = await applyTimeOf(bmc, controller.volumesPath)
  const body = {
    RAIDType: raidType,
    ...(bytes === null ? {} : { CapacityBytes: bytes }),
    ...(name === null ? {} : { Name: name }),
    Links: { Drives: drives.map(({ path }) => ({ '@odata.id': path })) },
    ...(time === undefined ? {} : { '@Redfish.OperationApplyTime': time }),
  }
  // A task that waits for a restart does not end before it.
  await bmc.post(controller.volumesPath, body, { wait: time !== 'OnReset' })
  return time === 'OnReset' ? 'after a restart' : 'now'
}

/** When a controller changes its volumes: at once if it can. Undefined: it doesn't say. */
async function applyTimeOf(bmc: Bmc, volumesPath: string): Promise<string | undefined> {
  const support = (await bmc.get(volumesPath)).body['@Redfish.OperationApplyTimeSupport']
  const times = isObject(support) && Array.isArray(support['SupportedValues']) ? support['SupportedValues'] : []
  return ['Immediate', 'OnReset'].find(time => times.includes(time))
}

const storagesOf = async (bmc: Bmc): Promise<Resource[]> => {
  const all = await bmc.members(linkIn((await bmc.system()).body, 'Storage'))
  return all.filter(({ body }) => linkIn(body, 'Volumes') !== null)
}

/** Volumes that someone made: some controllers show each bare disk as one, too. */
async function volumesOf(bmc: Bmc): Promise<{ storage: Resource; volume: Resource }[]> {
  const found: { storage: Resource; volume: Resource }[] = []
  for (const storage of await storagesOf(bmc)) {
    const volumes = await bmc.members(linkIn(storage.body, 'Volumes'))
    const made = volumes.filter(({ body }) => body['VolumeType'] !== 'RawDevice')
    found.push(...made.map(volume => ({ storage, volume })))
  }
  return found
}

async function controllersOf(bmc: Bmc): Promise<Controller[]> {
  const storages = await storagesOf(bmc)
  if (storages.length === 0) throw new HardwareFailure('The BMC shows no controller that makes volumes.')
  return Promise.all(
    storages.map(async ({ path, body }) => {
      const links = Array.isArray(body['Drives']) ? (body['Drives'] as unknown[]) : []
      const found: (Resource | null)[] = []
      for (const link of links.slice(0, limits.redfishMembersMax)) found.push(await bmc.find(linkIn(link)))
      return {
        id: idOf(path, body),
        name: textOf(body['Name']),
        volumesPath: linkIn(body, 'Volumes')!,
        raidTypes: raidTypesIn(body),
        drives: found.filter(drive => drive !== null).map(driveIn),
      }
    }),
  )
}

const idOf = (path: string, body: Json) => textOf(body['Id']) || path.split('/').at(-1)!

function raidTypesIn(body: Json): string[] {
  const controllers = Array.isArray(body['StorageControllers']) ? body['StorageControllers'].filter(isObject) : []
  return controllers
    .flatMap(({ SupportedRAIDTypes }) => (Array.isArray(SupportedRAIDTypes) ? (SupportedRAIDTypes as unknown[]) : []))
    .filter(type => typeof type === 'string')
}

function driveIn({ path, body }: Resource): Drive {
  const status = isObject(body['Status']) ? body['Status'] : {}
  const links = isObject(body['Links']) && Array.isArray(body['Links']['Volumes']) ? body['Links']['Volumes'] : []
  const bytes = Number(body['CapacityBytes'] ?? 0)
  return {
    path,
    id: idOf(path, body),
    name: textOf(body['Name']),
    bytes,
    type: textOf(body['MediaType']).toLowerCase() || null,
    protocol: textOf(body['Protocol']).toLowerCase() || null,
    isFree: links.length === 0 && bytes > 0 && (status['State'] ?? 'Enabled') === 'Enabled',
  }
}

/** As the node's raid_config shows it. */
async function readRaid(
  bmc: Bmc,
  made?: { planned: readonly PlannedVolume[]; old: ReadonlySet<string> },
): Promise<Json> {
  const volumes = await volumesOf(bmc)
  const isRoot = (volume: Resource) =>
    made?.planned.some(({ isRoot, drives }) => isRoot && !made.old.has(volume.path) && usesSame(volume, drives)) ??
    false
  return {
    logical_disks: volumes.map(({ storage, volume }) => ({
      controller: idOf(storage.path, storage.body),
      id: idOf(volume.path, volume.body),
      volume_name: textOf(volume.body['Name']) || null,
      raid_level: levelIn(volume.body),
      size_gb: Math.floor(Number(volume.body['CapacityBytes'] ?? 0) / GIB),
      ...(isRoot(volume) ? { is_root_volume: true } : {}),
    })),
  }
}

const levelIn = (body: Json) => [...LEVELS].find(([, { type }]) => type === body['RAIDType'])?.[0] ?? null

function usesSame({ body }: Resource, drives: readonly Drive[]): boolean {
  const links =
    isObject(body['Links']) && Array.isArray(body['Links']['Drives']) ? (body['Links']['Drives'] as unknown[]) : []
  const paths = new Set(links.map(link => linkIn(link)))
  return drives.every(({ path }) => paths.has(path))
}
