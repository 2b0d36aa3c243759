// Deploy by boot medium: the machine is off, gets its media, and boots from them. Each part first reads what the BMC
// has, so what a dead conductor did is not done twice; the machine is switched on last, so nobody switches it off again.
import { configDriveOf, configDriveUrl } from '../../media/config-drive.ts'
import { kernelBootOf } from '../../media/kernel-boot.ts'
import type { PlannedPart } from '../parts.ts'
import { type Done, HardwareFailure, type Json, type Machine } from '../port.ts'
import { BOOT_DEVICES, type BootDevice, type BootMode, resetBoot, setBootDevice, setBootMode } from './boot.ts'
import { buildBootIso, isoUrlOf, type MediaHost, mediumShown, NO_MEDIA_URL } from './boot-medium.ts'
import { ejectAll, insertMedium } from './media.ts'
import { msOf, switchOff, switchOn } from './power.ts'
import type { Visit } from './visit.ts'

/** The key in driver_internal_info: the device must be set again before each boot. */
const BOOT_ONCE = 'redfish_boot_once'

/** For driver_internal_info: the device that must be set again before each boot, or none. */
export const bootOnce = (device: BootDevice | null): Json => ({ [BOOT_ONCE]: device })

export function deployParts(visit: Visit, host: MediaHost, explicit: readonly PlannedPart[]): PlannedPart[] {
  const { machine } = visit
  const mode = wantedMode(machine)
  const drive = configDriveOf(machine)
  return [
    powerOff(visit),
    ejectMedia(visit),
    ...explicit,
    ...(explicit.length > 0 ? [powerOff(visit)] : []),
    ...(mode ? [bootMode(visit, mode)] : []),
    ...(kernelBootOf(machine) ? [buildBootIso(visit, host)] : []),
    ...(isByHttp(machine) ? [bootByHttp(visit, host)] : [insertBootIso(visit, host), bootFromMedium(visit)]),
    ...(drive ? [insertConfigDrive(visit, host)] : []),
    bootUp(visit),
  ]
}

/** In two parts: a machine that is on again is not switched off once more. */
export const rebootParts = (visit: Visit, timeout: unknown): PlannedPart[] => [
  powerOff(visit, msOf(timeout)),
  {
    interface: 'power',
    step: 'power_on',
    run: async () => {
      await renewBoot(visit)
      return { powerState: await switchOn(visit.bmc, visit.pause, msOf(timeout)) }
    },
  },
]

export const tearDownParts = (visit: Visit): PlannedPart[] => [powerOff(visit), ejectMedia(visit), bootFromDisk(visit)]

export const cleanParts = (visit: Visit, explicit: readonly PlannedPart[]): PlannedPart[] => [
  powerOff(visit),
  ejectMedia(visit),
  ...explicit,
  // Settings of the firmware take a boot. Afterwards nobody's machine is on.
  ...(explicit.length > 0 ? [powerOff(visit)] : []),
]

export const isByHttp = ({ interfaces }: Pick<Machine, 'interfaces'>) => interfaces.boot === 'redfish-https'

/** In words. */
export const bootsFrom = (machine: Machine) =>
  `it boots from ${mediumShown(machine)}${isByHttp(machine) ? ', over HTTP' : ''}`

/** Sets the device again where the BMC forgets it after each boot. */
export async function renewBoot({ bmc, machine }: Visit): Promise<void> {
  const device = BOOT_DEVICES.find(name => name === machine.driverInternalInfo[BOOT_ONCE])
  if (device) await setBootDevice(bmc, { device, persistent: false })
}

const powerOff = ({ bmc, pause }: Visit, patienceMs: number | null = null): PlannedPart => ({
  interface: 'power',
  step: 'power_off',
  run: async () => ({ powerState: await switchOff(bmc, pause, patienceMs) }),
})

const bootUp = ({ bmc, pause }: Visit): PlannedPart => ({
  interface: 'power',
  step: 'power_on',
  run: async isRepeated => {
    // One that went on by itself meanwhile has booted something else.
    if (!isRepeated) await switchOff(bmc, pause)
    return { powerState: await switchOn(bmc, pause) }
  },
})

const ejectMedia = ({ bmc, pause }: Visit): PlannedPart => ({
  interface: 'boot',
  step: 'eject_media',
  run: () => ejectAll(bmc, pause),
})

const insertBootIso = ({ bmc, machine, pause }: Visit, host: MediaHost): PlannedPart => ({
  interface: 'boot',
  step: 'insert_boot_iso',
  run: () => insertMedium(bmc, { url: isoUrlOf(machine, host), called: 'the boot ISO', types: ['CD', 'DVD'] }, pause),
})

const bootFromMedium = ({ bmc }: Visit): PlannedPart => ({
  interface: 'management',
  step: 'boot_from_medium',
  run: async () => {
    const { persistent } = await setBootDevice(bmc, { device: 'cdrom', persistent: true })
    return { internal: bootOnce(persistent ? null : 'cdrom') }
  },
})

const bootByHttp = ({ bmc, machine }: Visit, host: MediaHost): PlannedPart => ({
  interface: 'management',
  step: 'boot_by_http',
  run: async () => {
    await setBootDevice(bmc, { device: 'uefihttp', persistent: true, uri: isoUrlOf(machine, host) })
  },
})

const insertConfigDrive = ({ bmc, machine, pause }: Visit, { mediaUrl }: MediaHost): PlannedPart => ({
  interface: 'boot',
  step: 'insert_config_drive',
  run: async () => {
    const url = driveUrl(machine, mediaUrl)
    await insertMedium(bmc, { url, called: 'the config drive', types: ['USBStick', 'CD', 'DVD'] }, pause)
  },
})

function driveUrl(machine: Machine, mediaUrl: string | null): string {
  const drive = configDriveOf(machine)!
  if (drive.kind === 'url') return drive.url
  if (mediaUrl === null) throw new HardwareFailure(NO_MEDIA_URL.drive)
  return configDriveUrl(mediaUrl, machine)
}

const bootMode = ({ bmc }: Visit, mode: BootMode): PlannedPart => ({
  interface: 'management',
  step: 'set_boot_mode',
  run: async (): Promise<Done> => {
    await setBootMode(bmc, mode)
    return { bootMode: mode }
  },
})

const bootFromDisk = ({ bmc }: Visit): PlannedPart => ({
  interface: 'management',
  step: 'boot_from_disk',
  run: async () => {
    await resetBoot(bmc)
    return { internal: bootOnce(null) }
  },
})

/** As upstream: `boot_mode:uefi` among the capabilities of the instance, else of the node. */
function wantedMode({ instanceInfo, properties }: Machine): BootMode | null {
  const found = [instanceInfo, properties].map(({ capabilities }) =>
    typeof capabilities === 'string' ? /(?:^|,)\s*boot_mode:(uefi|bios)\b/.exec(capabilities)?.[1] : null,
  )
  return (found.find(mode => mode) as BootMode | undefined) ?? null
}
