// What a machine boots from, through IPMI.
import { HardwareFailure, type Json, type Machine } from '../port.ts'
import type { AnswerTo } from '../questions.ts'
import type { Reach } from './power.ts'
import { bootDeviceIn } from './texts.ts'

export const DEVICES = ['pxe', 'disk', 'cdrom', 'bios', 'safe']

/** Of the boot flags, in the form that UEFI firmware obeys. Others are set by ipmitool's own words. */
const UEFI: Readonly<Record<string, string>> = { pxe: '0x04', disk: '0x08', cdrom: '0x14' }
const SUPERMICRO_DISK = '0x24'
const [LASTING, ONCE] = ['0xe0', '0xa0']

export async function bootDevice({ tool, settings, signal }: Reach): Promise<AnswerTo<'boot_device'>> {
  const said = await tool.run(settings, ['chassis', 'bootparam', 'get', '5'], signal)
  return bootDeviceIn(said)
}

interface Wanted {
  boot_device: string
  persistent: boolean
}

export async function setBootDevice(reach: Reach, machine: Machine, wanted: Wanted): Promise<void> {
  const { tool, settings, signal } = reach
  if (!DEVICES.includes(wanted.boot_device)) {
    const known = DEVICES.join(', ')
    throw new HardwareFailure(`Invalid boot device ${wanted.boot_device} specified; use one of ${known}.`)
  }
  await reach.requireLock?.()
  if (settings.disablesBootTimeout) await keepForLong(reach)
  await tool.run(settings, wordsFor(machine, wanted), signal)
}

/** Without this a BMC forgets the device after 60 seconds. Some refuse it (OpenBMC), and keep the device anyway. */
async function keepForLong({ tool, settings, signal }: Reach): Promise<void> {
  try {
    await tool.run(settings, ['raw', '0x00', '0x08', '0x03', '0x08'], signal)
  } catch (error) {
    if (!(error instanceof HardwareFailure)) throw error
  }
}

export function wordsFor(machine: Machine, { boot_device, persistent }: Wanted): string[] {
  const device = isSupermicro(machine) && boot_device === 'disk' ? SUPERMICRO_DISK : UEFI[boot_device]
  if (isUefi(machine) && device !== undefined) {
    return ['raw', '0x00', '0x08', '0x05', persistent ? LASTING : ONCE, device, '0x00', '0x00', '0x00']
  }
  return ['chassis', 'bootdev', boot_device, ...(persistent ? ['options=persistent'] : [])]
}

/** UEFI unless the node says otherwise, as upstream. */
const isUefi = ({ instanceInfo, properties }: Machine) =>
  (capability(instanceInfo, 'boot_mode') ?? capability(properties, 'boot_mode') ?? 'uefi') === 'uefi'

const isSupermicro = ({ properties }: Machine) =>
  typeof properties['vendor'] === 'string' && /supermicro/i.test(properties['vendor'])

/** Capabilities are `key:value,key:value`, or an object. */
function capability({ capabilities }: Json, name: string): string | undefined {
  if (typeof capabilities === 'string') {
    const pairs = capabilities.split(',').map(pair => pair.split(':').map(word => word.trim()))
    return pairs.find(([key]) => key === name)?.[1]
  }
  const value = (capabilities as Json | null | undefined)?.[name]
  return typeof value === 'string' ? value : undefined
}
