// All bodies that describe a machine become one report.
import type { FoundFirmware, Report } from '../report.ts'
import { withBasics } from '../report.ts'
import type { Done, Json } from '../port.ts'
import { acceleratorsOf, type CardBodies, gpusOf, pciDevicesOf } from './inspect-cards.ts'
import { cpuOf, disksOf, localGbOf, memoryOf, nicsOf } from './inspect-parts.ts'
import { isThere, known, listIn, objectIn, textIn } from './inspect-values.ts'

export interface Bodies extends CardBodies {
  root: Json
  system: Json
  managers: readonly Json[]
  memory: readonly Json[]
  drives: readonly Json[]
  simpleStorage: readonly Json[]
  interfaces: readonly Json[]
  secureBoot: Json | null
  trustedComponents: readonly Json[]
  firmware: readonly Json[]
}

/** What upstream asks for. Here a machine is of use without: what is missing is said. */
const BASICS = ['cpus', 'cpu_arch', 'memory_mb', 'local_gb'] as const

export function reportOf(bodies: Bodies): Pick<Done, 'inventory' | 'ports' | 'bootMode' | 'notes'> {
  const { system } = bodies
  const nics = nicsOf(bodies.interfaces)
  const disks = disksOf(bodies.drives, bodies.simpleStorage)
  const processors = bodies.processors.map(({ body }) => body)
  const bootMode = bootModeOf(system)
  const inventory = withBasics(
    known<Report>({
      ...identityOf(bodies),
      local_gb: localGbOf(disks),
      capabilities: bootMode && `boot_mode:${bootMode}`,
      gpus: gpusOf(bodies),
      accelerators: acceleratorsOf(bodies),
      cpu: cpuOf(system, processors),
      memory: memoryOf(system, bodies.memory),
      disks,
      interfaces: nics.map(({ isOff: _, ...nic }) => nic),
      boot: known({ current_boot_mode: bootMode, secure_boot: secureBootOf(bodies.secureBoot) }),
      tpm: tpmOf(system, bodies.trustedComponents),
      pci_devices: pciDevicesOf(bodies.pci),
      firmware: firmwareOf(bodies),
    }),
  )
  const missing = BASICS.filter(name => inventory[name] === undefined)
  return {
    inventory,
    ports: nics.filter(({ isOff }) => !isOff).map(({ mac_address }) => ({ address: mac_address })),
    ...(bootMode && { bootMode }),
    notes: missing.length > 0 ? [`the BMC says nothing of ${missing.join(', ')}`] : [],
  }
}

/** Whether the report has anything of a machine in it. */
export const saysAnything = ({ cpus, memory_mb, disks, interfaces, gpu_count }: Json) =>
  cpus !== undefined || memory_mb !== undefined || Number(gpu_count) > 0 || [disks, interfaces].flat().length > 0

/** They make the firmware of other makers' BMCs. */
const FIRMWARE_MAKERS = /^(ami|american megatrends|insyde|openbmc)\b/i

/** The root's word is the shorter one (`Dell`, not `Dell Inc.`), unless it names who made the firmware. */
function vendorOf({ root, system }: Bodies): string | undefined {
  const [ofBmc, ofMachine] = [textIn(root, 'Vendor'), textIn(system, 'Manufacturer')]
  return FIRMWARE_MAKERS.test(ofBmc ?? '') ? (ofMachine ?? ofBmc) : (ofBmc ?? ofMachine)
}

function identityOf(bodies: Bodies) {
  const { system } = bodies
  const vendor = vendorOf(bodies)
  // Dell's serial number is that of the board. What people call a Dell by is its service tag.
  const isDell = /\bdell\b/i.test(vendor ?? '')
  const serial = isDell ? textIn(system, 'SKU', 'SerialNumber') : textIn(system, 'SerialNumber')
  const product = textIn(system, 'Model')
  return {
    vendor,
    product,
    serial,
    system_vendor: known<Json>({
      manufacturer: textIn(system, 'Manufacturer') ?? vendor,
      product_name: product,
      serial_number: serial,
      sku: textIn(system, 'SKU'),
      asset_tag: textIn(system, 'AssetTag'),
      system_uuid: textIn(system, 'UUID'),
      host_name: textIn(system, 'HostName'),
    }),
  }
}

function bootModeOf(system: Json): 'uefi' | 'bios' | undefined {
  const mode = objectIn(system, 'Boot')['BootSourceOverrideMode']
  return mode === 'UEFI' ? 'uefi' : mode === 'Legacy' ? 'bios' : undefined
}

function secureBootOf(body: Json | null): boolean | undefined {
  const { SecureBootCurrentBoot: current, SecureBootEnable: enabled } = body ?? {}
  if (current === 'Enabled' || current === 'Disabled') return current === 'Enabled'
  return typeof enabled === 'boolean' ? enabled : undefined
}

/** `TPM2_0` on the system; newer BMCs have a resource of the chassis. */
function tpmOf(system: Json, components: readonly Json[]): Report['tpm'] {
  const modules = [...listIn(system, 'TrustedModules'), ...components.map(one => ({ ...one, ...objectIn(one, 'TPM') }))]
  for (const module of modules.filter(isThere)) {
    const said = textIn(module, 'InterfaceType', 'ModuleType', 'Model', 'Name') ?? ''
    const [, major, minor = '0'] = /TPM[ _-]?v?([12])(?:[._]([0-9]))?/i.exec(said) ?? []
    if (major !== undefined) return known({ version: `${major}.${minor}`, firmware: textIn(module, 'FirmwareVersion') })
  }
  return undefined
}

function firmwareOf({ system, managers, firmware }: Bodies): FoundFirmware[] {
  const found = [
    { name: 'BIOS', version: textIn(system, 'BiosVersion') },
    ...managers.map(manager => ({ name: 'BMC', version: textIn(manager, 'FirmwareVersion') })),
    ...firmware
      .filter(isThere)
      .map(one => ({ name: textIn(one, 'Name', 'Id') ?? '?', version: textIn(one, 'Version') })),
  ]
  return found.filter((one): one is FoundFirmware => one.version !== undefined)
}
