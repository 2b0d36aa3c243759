// What a machine is made of: from the properties of the node, and better where it was inspected.
import { words } from '../../words.ts'

const UNITS = ['MiB', 'GiB', 'TiB', 'PiB']

/** `1 TiB`, `1.5 GiB`. */
export function memoryShown(mebibytes: number): string {
  let [amount, unit] = [mebibytes, 0]
  while (amount >= 1_024 && unit < UNITS.length - 1) [amount, unit] = [amount / 1_024, unit + 1]
  return `${Math.round(amount * 10) / 10} ${UNITS[unit]}`
}

/** `480 GB`, `7.7 TB`. */
export const diskShown = (gigabytes: number): string =>
  gigabytes < 1_000 ? `${gigabytes} GB` : `${Math.round(gigabytes / 100) / 10} TB`

const OWN = new Set(['cpus', 'cpu_arch', 'memory_mb', 'local_gb', 'vendor', 'capabilities'])

type Values = Readonly<Record<string, unknown>>

/** Words and values, the known first. What an inspection found in detail takes the place of its summary. */
export function hardwareOf(properties: Values, inventory: Values = {}): [string, string][] {
  const { cpus, cpu_arch: arch, memory_mb: memory, local_gb: disk, vendor } = properties
  const { hardware } = words.machine
  const cpu = inventory['cpu'] as Values | undefined
  const gpus = counted(listIn(inventory, 'gpus').map(({ model }) => plain(model) ?? '?'))
  const found: [string, string | null][] = [
    [hardware.cpu, shownCpu(cpus, plain(cpu?.['model_name']) ?? arch)],
    [hardware.memory, numberIn(memory) === null ? null : memoryShown(numberIn(memory)!)],
    [hardware.disk, disksIn(inventory) ?? (numberIn(disk) === null ? null : diskShown(numberIn(disk)!))],
    [hardware.gpus, gpus],
    [hardware.cards, counted(listIn(inventory, 'interfaces').map(({ speed_mbps: speed }) => speedShown(speed)))],
    [hardware.vendor, typeof vendor === 'string' ? vendor : null],
    ...Object.entries(properties)
      .filter(([name]) => !OWN.has(name) && !(name === 'gpu' && gpus !== null))
      .map(([name, value]): [string, string | null] => [worded(name), plain(value)]),
    [hardware.firmware, firmwareIn(inventory)],
  ]
  return found.filter((one): one is [string, string] => one[1] !== null)
}

/** `gpu_model` is `GPU model`. */
const worded = (name: string) => {
  const said = name.replaceAll('_', ' ').replaceAll(/\bgpu\b/g, 'GPU')
  return said.charAt(0).toUpperCase() + said.slice(1)
}

const disksIn = (inventory: Values) =>
  counted(
    listIn(inventory, 'disks').map(({ size, media_type: kind }) => {
      const bytes = numberIn(size)
      return [bytes === null ? '?' : diskShown(Math.round(bytes / 1e9)), plain(kind)].filter(Boolean).join(' ')
    }),
  )

/** A BMC may list the same twice. */
function firmwareIn(inventory: Values): string | null {
  const all = listIn(inventory, 'firmware').map(({ name, version }) => `${plain(name) ?? ''} ${plain(version) ?? ''}`)
  return all.length === 0 ? null : [...new Set(all)].slice(0, FIRMWARE_MAX).join(', ')
}
const FIRMWARE_MAX = 6

function speedShown(megabits: unknown): string {
  const speed = numberIn(megabits)
  if (speed === null) return 'NIC'
  return speed < 1_000 ? `${speed} Mb/s` : `${Math.round(speed / 100) / 10} Gb/s`
}

/** `2 × 480 GB SSD, 4 × 7.7 TB HDD`. */
function counted(names: readonly string[]): string | null {
  const groups = [...Map.groupBy(names, name => name)].map(([name, all]) => `${all.length} × ${name}`)
  return groups.length === 0 ? null : groups.join(', ')
}

function listIn(inventory: Values, name: string): Values[] {
  const list = inventory[name]
  const isThing = (one: unknown): one is Values => typeof one === 'object' && one !== null
  return Array.isArray(list) ? (list as unknown[]).filter(isThing) : []
}

const shownCpu = (cpus: unknown, arch: unknown) => {
  const parts = [numberIn(cpus), typeof arch === 'string' ? arch : null].filter(part => part !== null)
  return parts.length === 0 ? null : parts.join(' × ')
}

/** Ironic takes numbers as texts too. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : null
}

const plain = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
