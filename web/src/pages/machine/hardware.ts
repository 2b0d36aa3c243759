// What a machine is made of, from the properties of the node.
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

/** Words and values, the known first. */
export function hardwareOf(properties: Readonly<Record<string, unknown>>): [string, string][] {
  const { cpus, cpu_arch: arch, memory_mb: memory, local_gb: disk, vendor } = properties
  const { hardware } = words.machine
  const found: [string, string | null][] = [
    [hardware.cpu, shownCpu(cpus, arch)],
    [hardware.memory, numberIn(memory) === null ? null : memoryShown(numberIn(memory)!)],
    [hardware.disk, numberIn(disk) === null ? null : diskShown(numberIn(disk)!)],
    [hardware.vendor, typeof vendor === 'string' ? vendor : null],
    ...Object.entries(properties)
      .filter(([name]) => !OWN.has(name))
      .map(([name, value]): [string, string | null] => [name.replaceAll('_', ' '), plain(value)]),
  ]
  return found.filter((one): one is [string, string] => one[1] !== null)
}

const shownCpu = (cpus: unknown, arch: unknown) => {
  const parts = [numberIn(cpus), typeof arch === 'string' ? arch : null].filter(part => part !== null)
  return parts.length === 0 ? null : parts.join(' × ')
}

/** Ironic takes numbers as texts too. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : null
}

const plain = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
