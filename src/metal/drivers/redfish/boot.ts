// Boot device and mode: what the machine boots from next time or for good, and how its firmware starts.
import { isObject } from '../../../shared/is-object.ts'
import { HardwareFailure, type Json } from '../port.ts'
import { type Bmc, BmcRefusal, linkIn, type Resource } from './bmc.ts'

/** Redfish's names of boot devices; a machine may have the second instead of the first. */
const TARGETS = {
  pxe: ['Pxe'],
  disk: ['Hdd'],
  cdrom: ['Cd', 'UsbCd'],
  bios: ['BiosSetup'],
  uefihttp: ['UefiHttp'],
} as const
export type BootDevice = keyof typeof TARGETS

export const BOOT_DEVICES = Object.keys(TARGETS) as readonly BootDevice[]

const MODES = { UEFI: 'uefi', Legacy: 'bios' } as const
export type BootMode = (typeof MODES)[keyof typeof MODES]

const TARGET = 'BootSourceOverrideTarget'
const ENABLED = 'BootSourceOverrideEnabled'
const MODE = 'BootSourceOverrideMode'

const bootIn = ({ body }: Resource): Json => (isObject(body['Boot']) ? body['Boot'] : {})

export function bootDeviceIn(system: Resource): { boot_device: BootDevice | null; persistent: boolean | null } {
  const { [TARGET]: target, [ENABLED]: enabled } = bootIn(system)
  const device = BOOT_DEVICES.find(name => (TARGETS[name] as readonly unknown[]).includes(target))
  if (!device || enabled === 'Disabled') return { boot_device: null, persistent: null }
  return { boot_device: device, persistent: enabled === 'Continuous' }
}

export function bootModeIn(system: Resource): BootMode | null {
  const mode = bootIn(system)[MODE]
  return mode === 'UEFI' || mode === 'Legacy' ? MODES[mode] : null
}

/** What the BMC says that it can boot from; null where it doesn't say. */
function targetsIn(system: Resource): string[] | null {
  const listed = bootIn(system)[`${TARGET}@Redfish.AllowableValues`]
  return Array.isArray(listed) && listed.length > 0 ? listed.map(String) : null
}

export function supportedDevices(system: Resource): BootDevice[] {
  const listed = targetsIn(system)
  return BOOT_DEVICES.filter(name => !listed || TARGETS[name].some(target => listed.includes(target)))
}

interface BootOrder {
  device: BootDevice
  persistent: boolean
  /** Where UEFI loads from; null: DHCP says. */
  uri?: string | null
}

/**
 * Sets the boot device. What is so already is left alone. Returns whether it stays: some BMCs set it for one boot only,
 * and then it must be set again before each.
 */
export async function setBootDevice(bmc: Bmc, order: BootOrder): Promise<{ persistent: boolean }> {
  const system = await bmc.system()
  const wanted = overrideOf(system, order)
  if (isSo(bootIn(system), wanted)) return { persistent: order.persistent }
  try {
    await patchBoot(bmc, system, wanted)
    return { persistent: order.persistent }
  } catch (error) {
    if (!order.persistent || !(error instanceof BmcRefusal) || error.status >= 500) throw error
    // If that is refused too, the first refusal tells more.
    await patchBoot(bmc, system, { ...wanted, [ENABLED]: 'Once' }).catch(() => Promise.reject(error))
    return { persistent: false }
  }
}

/** Back to the disk, for good; where the BMC has no such target, no override at all. */
export async function resetBoot(bmc: Bmc): Promise<void> {
  const system = await bmc.system()
  if (supportedDevices(system).includes('disk')) await setBootDevice(bmc, { device: 'disk', persistent: true })
  else if (bootIn(system)[ENABLED] !== 'Disabled') await patchBoot(bmc, system, { [ENABLED]: 'Disabled' })
}

function overrideOf(system: Resource, { device, persistent, uri }: BootOrder): Json {
  const listed = targetsIn(system)
  // Supermicro boots virtual media from UsbCd, even where it lists Cd too.
  const names: readonly string[] = isBy(system, 'supermicro') ? TARGETS[device].toReversed() : TARGETS[device]
  const target = listed ? names.find(name => listed.includes(name)) : TARGETS[device][0]
  if (!target) throw new HardwareFailure(`The BMC can't boot from ${device}. It offers ${listed!.join(', ')}.`)
  const HttpBootUri = device === 'uefihttp' && uri !== undefined ? { HttpBootUri: uri } : {}
  return { [TARGET]: target, [ENABLED]: persistent ? 'Continuous' : 'Once', ...HttpBootUri }
}

const isSo = (boot: Json, wanted: Json) => Object.entries(wanted).every(([key, value]) => (boot[key] ?? null) === value)

export async function setBootMode(bmc: Bmc, mode: BootMode): Promise<void> {
  const system = await bmc.system()
  if (bootModeIn(system) === mode) return
  await patchBoot(bmc, system, { [MODE]: mode === 'uefi' ? 'UEFI' : 'Legacy' })
}

/** Sends what differs, in the manner of this maker: some refuse what is whole, some what is not. */
function asSent(system: Resource, wanted: Json): Json {
  const boot = bootIn(system)
  if (isBy(system, 'american megatrends', 'ami', 'asrockrack')) {
    const together = { [MODE]: boot[MODE], [ENABLED]: boot[ENABLED], [TARGET]: boot[TARGET] }
    return Object.fromEntries(
      Object.entries({ ...together, ...wanted }).filter(([, value]) => value !== undefined && value !== null),
    )
  }
  if (isBy(system, 'supermicro')) return MODE in wanted || !boot[MODE] ? wanted : { ...wanted, [MODE]: boot[MODE] }
  if (!(TARGET in wanted) || boot[ENABLED] !== wanted[ENABLED]) return wanted
  const { [ENABLED]: _, ...others } = wanted
  return others
}

const isBy = ({ body: { Manufacturer: maker } }: Resource, ...makers: readonly string[]) =>
  typeof maker === 'string' && makers.includes(maker.toLowerCase())

/** What the settings object has goes there, and the rest to the system. */
async function patchBoot(bmc: Bmc, system: Resource, wanted: Json): Promise<void> {
  const sent = asSent(system, wanted)
  const settings = await bmc.find(linkIn(system.body, '@Redfish.Settings', 'SettingsObject'))
  const there = settings ? bootIn(settings) : {}
  const [later, now] = [true, false].map(isThere =>
    Object.fromEntries(Object.entries(sent).filter(([key]) => key in there === isThere)),
  )
  if (settings && Object.keys(later!).length > 0) await bmc.patch(settings.path, { Boot: later })
  if (Object.keys(now!).length > 0) await bmc.patch(system.path, { Boot: now })
}

/** Null: the machine has no secure boot. */
export async function readSecureBoot(bmc: Bmc, system: Resource): Promise<boolean | null> {
  const enabled = (await bmc.find(linkIn(system.body, 'SecureBoot')))?.body['SecureBootEnable']
  return typeof enabled === 'boolean' ? enabled : null
}

export async function setSecureBoot(bmc: Bmc, isOn: boolean): Promise<void> {
  const path = linkIn((await bmc.system()).body, 'SecureBoot')
  const found = await bmc.find(path)
  if (!found) throw new HardwareFailure('The machine has no secure boot that the BMC could set.')
  if (found.body['SecureBootEnable'] !== isOn) await bmc.patch(found.path, { SecureBootEnable: isOn })
}
