// Processors, memory, disks and network cards, from the bodies of their resources.
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import type { FoundCpu, FoundDisk, FoundInterface } from '../report.ts'
import type { Json } from '../port.ts'
import { amountIn, isThere, known, listIn, objectIn, textIn, total } from './inspect-values.ts'

const KIB = 1024
const MIB = KIB * KIB
const GIB = KIB * MIB

/** By instruction set, and where that isn't said, by the family of processors. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'x86-64': 'x86_64',
    x86: 'x86_64',
    'ARM-A64': 'aarch64',
    'ARM-A32': 'armv7l',
    ARM: 'aarch64',
    'IA-64': 'ia64',
    PowerISA: 'ppc64le',
    Power: 'ppc64le',
    MIPS64: 'mips64',
    MIPS32: 'mips',
    MIPS: 'mips',
    RV64: 'riscv64',
    RV32: 'riscv32',
    'RISC-V': 'riscv64',
  }),
)

/** FPGAs and GPUs are processors too, for a BMC. */
const isCpu = (processor: Json) => ['CPU', null].includes((processor['ProcessorType'] ?? null) as string | null)

export function cpuOf(system: Json, processors: readonly Json[]): FoundCpu {
  const cpus = processors.filter(processor => isCpu(processor) && isThere(processor))
  const summary = objectIn(system, 'ProcessorSummary')
  const threadsOf = (cpu: Json) => amountIn(cpu, 'TotalThreads', 'TotalCores')
  const count = total(cpus.map(threadsOf)) ?? amountIn(summary, 'LogicalProcessorCount', 'CoreCount', 'Count')
  const cores = total(cpus.map(cpu => amountIn(cpu, 'TotalCores'))) ?? amountIn(summary, 'CoreCount')
  const said = cpus.flatMap(cpu => [textIn(cpu, 'InstructionSet'), textIn(cpu, 'ProcessorArchitecture')])
  return known<FoundCpu>({
    architecture: said.map(name => ARCHITECTURES.get(name ?? '')).find(name => name !== undefined),
    count,
    cores,
    sockets: cpus.length > 0 ? cpus.length : amountIn(summary, 'Count'),
    model_name: cpus.map(cpu => textIn(cpu, 'Model')).find(name => name !== undefined) ?? textIn(summary, 'Model'),
    frequency: cpus.map(cpu => amountIn(cpu, 'MaxSpeedMHz')).find(speed => speed !== undefined),
    hyperthreading: count !== undefined && cores !== undefined && count > cores ? true : undefined,
  })
}

/** The summary rounds to whole GiB; modules are counted only where it says nothing. */
export function memoryOf(system: Json, modules: readonly Json[]) {
  const gib = amountIn(objectIn(system, 'MemorySummary'), 'TotalSystemMemoryGiB')
  const mib = total(modules.filter(isThere).map(module => amountIn(module, 'CapacityMiB')))
  const physical_mb = gib === undefined ? mib : Math.round(gib * KIB)
  return physical_mb === undefined ? undefined : { physical_mb, total: physical_mb * MIB }
}

/** Of drives, else of the devices of simple storage. */
export function disksOf(drives: readonly Json[], simpleStorage: readonly Json[]): FoundDisk[] {
  const found = drives.flatMap(diskOf)
  return found.length > 0
    ? found
    : simpleStorage
        .flatMap(one => listIn(one, 'Devices'))
        .slice(0, limits.redfishMembersMax)
        .flatMap(diskOf)
}

function diskOf(drive: Json, at: number): FoundDisk | [] {
  const size = amountIn(drive, 'CapacityBytes')
  if (size === undefined || !isThere(drive)) return []
  const media_type = textIn(drive, 'MediaType')
  const rpm = amountIn(drive, 'RotationSpeedRPM')
  return known<FoundDisk>({
    name: textIn(drive, 'Name', 'Id') ?? `disk ${at}`,
    size,
    vendor: textIn(drive, 'Manufacturer'),
    model: textIn(drive, 'Model'),
    serial: textIn(drive, 'SerialNumber'),
    wwn: listIn(drive, 'Identifiers')
      .filter(one => one['DurableNameFormat'] === 'NAA')
      .map(one => textIn(one, 'DurableName'))[0],
    media_type,
    protocol: textIn(drive, 'Protocol'),
    rotational: media_type === 'HDD' || rpm !== undefined ? true : media_type === 'SSD' ? false : undefined,
  })
}

/** As upstream: the smallest disk that an image fits on, less one for partition tables and a config drive. */
export function localGbOf(disks: readonly FoundDisk[]): number | undefined {
  const sizes = disks.map(({ size }) => size).filter(size => size >= 4 * GIB)
  return sizes.length === 0 ? undefined : Math.floor(Math.min(...sizes) / GIB) - 1
}

interface FoundNic extends FoundInterface {
  /** It is switched off, so it gets no port. */
  isOff: boolean
}

/** Without those that lead to the BMC, those without a real address, and VLANs on top of another. */
export function nicsOf(interfaces: readonly Json[]): FoundNic[] {
  const found = new Map<string, FoundNic>()
  // A VLAN has its card's address, and may be listed before it.
  for (const nic of interfaces.toSorted((a, b) => Number(isVlan(a)) - Number(isVlan(b)))) {
    const address = [nic['MACAddress'], nic['PermanentMACAddress']].map(macIn).find(mac => mac !== null)
    if (address === undefined || address === null || !isThere(nic) || isToManager(nic)) continue
    const link = textIn(nic, 'LinkStatus')
    found.getOrInsert(address, {
      ...known<FoundInterface>({
        name: textIn(nic, 'Id', 'Name') ?? address,
        mac_address: address,
        speed_mbps: amountIn(nic, 'SpeedMbps'),
        has_carrier: link === undefined ? undefined : link === 'LinkUp',
      }),
      isOff: objectIn(nic, 'Status')['State'] === 'Disabled' || nic['InterfaceEnabled'] === false,
    })
  }
  return [...found.values()]
}

const isVlan = (nic: Json) => {
  const { VLAN: vlan } = nic
  return isObject(vlan) && vlan['VLANEnable'] !== false
}
const isToManager = (nic: Json) =>
  isObject(objectIn(nic, 'Links')['HostInterface']) ||
  /^(to-?manager|usb-?nic)$|\bmanager\b/i.test(textIn(nic, 'Id') ?? '')

/** Null unless it is the address of one card: not zero, not a group of cards. */
function macIn(value: unknown): string | null {
  const mac = typeof value === 'string' ? value.trim().toLowerCase().replaceAll('-', ':') : ''
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(mac) || mac === '00:00:00:00:00:00') return null
  return Number.parseInt(mac.slice(0, 2), 16) % 2 === 0 ? mac : null
}
