// What inspection reports, with any driver: the parts that upstream's inventory has, and flat basics that rules and
// properties name.
import type { Json } from './port.ts'

export interface Report extends Json {
  cpus?: number
  memory_mb?: number
  local_gb?: number
  cpu_arch?: string
  /** As in properties: `boot_mode:uefi`. */
  capabilities?: string
  vendor?: string
  product?: string
  serial?: string
  gpu_count?: number
  gpus?: readonly FoundGpu[]
  accelerators?: readonly FoundAccelerator[]
  cpu?: FoundCpu
  memory?: { physical_mb: number; total: number }
  disks?: readonly FoundDisk[]
  interfaces?: readonly FoundInterface[]
  system_vendor?: Json
  boot?: { current_boot_mode?: 'uefi' | 'bios'; secure_boot?: boolean }
  tpm?: { version: string; firmware?: string }
  pci_devices?: readonly FoundPciDevice[]
  firmware?: readonly FoundFirmware[]
}

export interface FoundCpu {
  architecture?: string
  /** Threads of all sockets. */
  count?: number
  cores?: number
  sockets?: number
  model_name?: string
  frequency?: number
  hyperthreading?: boolean
}

export interface FoundGpu {
  vendor?: string
  model?: string
  serial?: string
  memory_mb?: number
}

export interface FoundAccelerator extends FoundGpu {
  type: string
}

export interface FoundDisk {
  name: string
  /** In bytes. */
  size: number
  vendor?: string
  model?: string
  serial?: string
  wwn?: string
  media_type?: string
  protocol?: string
  rotational?: boolean
}

export interface FoundInterface {
  name: string
  mac_address: string
  speed_mbps?: number
  has_carrier?: boolean
}

export interface FoundPciDevice {
  vendor_id: string
  product_id: string
  class?: string
  name?: string
}

export interface FoundFirmware {
  name: string
  version: string
}

/** The report with the flat basics that follow from its parts; what it says itself wins. */
export function withBasics(report: Json): Json {
  const { cpu, memory, gpus } = report as Report
  return {
    ...(cpu?.count !== undefined && { cpus: cpu.count }),
    ...(cpu?.architecture !== undefined && { cpu_arch: cpu.architecture }),
    ...(memory && { memory_mb: memory.physical_mb }),
    gpu_count: Array.isArray(gpus) ? gpus.length : 0,
    ...report,
  }
}
