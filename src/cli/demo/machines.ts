// The machines of the demo: racks of nodes, and the fate of each. Pure: the same seed gives the same machines.
import type { Json } from '../../client/index.ts'
import { type Random, shuffled } from '../../clock/chance.ts'
import { demoUuid, DEMO_TRAIT } from './marks.ts'
import type { ProjectName } from './people.ts'

export interface Rack {
  name: string
  uuid: string
  description: string
}

/** The situation of a node after the demo is filled. */
export type Fate =
  | 'enroll'
  | 'manageable'
  | 'clean failed'
  | 'deploy failed'
  | 'maintenance'
  /** Leases may book it. */
  | 'leasable'
  /** Has an instance without an allocation. */
  | 'instance'
  | 'held'
  | 'allocated'
  /** Allocated, and active. */
  | 'deployed'
  | 'free'

export interface Machine {
  name: string
  uuid: string
  rack: Rack
  resourceClass: ClassName
  properties: Json
  traits: readonly string[]
  addresses: readonly string[]
  owner: ProjectName
  lessee: ProjectName | null
  /** The project whose allocations may get it. */
  tenant: ProjectName
  fate: Fate
}

interface Model {
  description: string
  properties: { cpus: number; memory_mb: number; local_gb: number; cpu_arch: string; vendor: string }
  traits: readonly string[]
}

const GIB = 1_024
const X86 = 'x86_64'
export const MODELS = {
  'gpu-a100': {
    description: '8 × A100 80 GB',
    properties: { cpus: 128, memory_mb: 1_024 * GIB, local_gb: 7_680, cpu_arch: X86, vendor: 'Supermicro' },
    traits: ['CUSTOM_A100', 'HW_CPU_X86_AVX2', 'HW_NIC_SRIOV', 'STORAGE_DISK_SSD'],
  },
  'gpu-h100': {
    description: '8 × H100 SXM',
    properties: { cpus: 192, memory_mb: 2_048 * GIB, local_gb: 15_360, cpu_arch: X86, vendor: 'Dell' },
    traits: ['CUSTOM_H100', 'CUSTOM_INFINIBAND', 'CUSTOM_NVLINK', 'HW_CPU_X86_AVX512F', 'STORAGE_DISK_SSD'],
  },
  'cpu-large': {
    description: 'two sockets, 512 GB',
    properties: { cpus: 128, memory_mb: 512 * GIB, local_gb: 3_840, cpu_arch: X86, vendor: 'HPE' },
    traits: ['HW_CPU_HYPERTHREADING', 'HW_CPU_X86_AVX2', 'HW_CPU_X86_AVX512F', 'STORAGE_DISK_SSD'],
  },
  'cpu-small': {
    description: 'one socket, 64 GB',
    properties: { cpus: 16, memory_mb: 64 * GIB, local_gb: 960, cpu_arch: X86, vendor: 'HPE' },
    traits: ['HW_CPU_X86_AVX2', 'STORAGE_DISK_SSD'],
  },
  'cpu-arm': {
    description: '80 cores, ARM',
    properties: { cpus: 80, memory_mb: 256 * GIB, local_gb: 1_920, cpu_arch: 'aarch64', vendor: 'Gigabyte' },
    traits: ['HW_ARCH_AARCH64', 'HW_CPU_AARCH64_ASIMD', 'STORAGE_DISK_SSD'],
  },
  storage: {
    description: '12 disks of 16 TB',
    properties: { cpus: 32, memory_mb: 256 * GIB, local_gb: 196_608, cpu_arch: X86, vendor: 'Supermicro' },
    traits: ['CUSTOM_JBOD', 'HW_CPU_X86_AVX2', 'STORAGE_DISK_HDD'],
  },
} as const satisfies Record<string, Model>
export type ClassName = keyof typeof MODELS

/** A rack holds one model; racks come in this order, again and again. */
const ORDER: readonly ClassName[] = [
  'gpu-a100',
  'cpu-large',
  'cpu-small',
  'gpu-h100',
  'storage',
  'cpu-large',
  'cpu-small',
  'gpu-a100',
  'cpu-arm',
  'cpu-large',
]
const SITES = ['a', 'b', 'c']
const RACK_NODES_MAX = 20
const TENANTS: readonly ProjectName[] = ['vision', 'nlp', 'vision', 'ops', 'nlp']

/** A class with no free node, so that an allocation can wait for one. */
export const SCARCE: ClassName = 'gpu-h100'

export const MAINTENANCE_REASONS = [
  'GPU 3 fell off the bus (Xid 79), ticket 4711',
  'DIMM B2 has correctable errors, part is on its way',
  'firmware update in this rack',
  'fan 4 is loud',
  'moves to rack b02 on Friday',
]

export const rackTrait = ({ name }: Pick<Rack, 'name'>) => `CUSTOM_${name.toUpperCase().replaceAll('-', '_')}`

export function machinesOf(count: number, random: Random): { racks: Rack[]; machines: Machine[] } {
  // At least one rack of each model, even in a small fleet.
  const perRack = Math.min(RACK_NODES_MAX, Math.floor(count / ORDER.length))
  const racks = Array.from({ length: Math.ceil(count / perRack) }, (_, at) => rackAt(at))
  const blanks = Array.from({ length: count }, (_, at) => blankAt(at, racks, perRack))
  const fates = fatesOf(blanks, random)
  return { racks, machines: blanks.map(blank => ({ ...blank, ...shared(blank, fates.get(blank.name)!) })) }
}

const classAt = (rack: number) => ORDER[rack % ORDER.length]!
const twoDigits = (number: number) => String(number).padStart(2, '0')

function rackAt(at: number): Rack {
  const site = SITES[at % SITES.length]!
  const name = `rack-${site}${twoDigits(Math.floor(at / SITES.length) + 1)}`
  const { description } = MODELS[classAt(at)]
  return { name, uuid: demoUuid('chassis', name), description: `${name}: ${classAt(at)}, ${description}` }
}

type Blank = Omit<Machine, 'fate'>

function blankAt(at: number, racks: readonly Rack[], perRack: number): Blank {
  const rackIndex = Math.floor(at / perRack)
  const rack = racks[rackIndex]!
  const name = `${rack.name}-${twoDigits((at % perRack) + 1)}`
  const resourceClass = classAt(rackIndex)
  const { properties, traits } = MODELS[resourceClass]
  const tenant = TENANTS[at % TENANTS.length]!
  const isOwn = rackIndex % 2 === 0
  return {
    name,
    uuid: demoUuid('node', name),
    rack,
    resourceClass,
    properties,
    traits: [...traits, ...interconnectOf(resourceClass, rackIndex), rackTrait(rack), DEMO_TRAIT],
    addresses: resourceClass === 'cpu-small' ? [addressOf(at, 0)] : [addressOf(at, 0), addressOf(at, 1)],
    owner: isOwn ? tenant : 'ops',
    lessee: isOwn || tenant === 'ops' ? null : tenant,
    tenant,
  }
}

/** The A100s of a rack have NVLink or InfiniBand, never both. */
const interconnectOf = (resourceClass: ClassName, rack: number): string[] =>
  resourceClass !== 'gpu-a100' ? [] : rack % ORDER.length === 0 ? ['CUSTOM_NVLINK'] : ['CUSTOM_INFINIBAND']

/** A MAC address with a real vendor's prefix; the number makes it unique. */
function addressOf(node: number, card: number): string {
  const hex = (node * 2 + card).toString(16).padStart(6, '0')
  return `3c:ec:ef:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`
}

/** Leasable nodes belong to ops, not to a tenant's project. */
const shared = ({ owner, lessee, tenant }: Blank, fate: Fate) =>
  fate === 'leasable'
    ? { fate, owner: 'ops' as const, lessee: null, tenant: 'ops' as const }
    : { fate, owner, lessee, tenant }

/** The percentage of each fate, and its minimum. */
const SHARES: readonly [Fate, { percent: number; min: number }][] = [
  ['enroll', { percent: 2, min: 1 }],
  ['manageable', { percent: 3, min: 1 }],
  ['clean failed', { percent: 1.5, min: 1 }],
  ['deploy failed', { percent: 1, min: 1 }],
  ['maintenance', { percent: 3, min: 1 }],
  ['instance', { percent: 4, min: 1 }],
  ['held', { percent: 1.5, min: 1 }],
  ['deployed', { percent: 18, min: 2 }],
  ['allocated', { percent: 12, min: 2 }],
]
/** Classes with leasable nodes: one in this many, and at least two. */
const LEASABLE: Partial<Record<ClassName, number>> = { 'gpu-a100': 5, 'cpu-large': 8 }
const LEASABLE_MIN = 2

const SHOWN = ['CUSTOM_A100', 'CUSTOM_NVLINK']

/** Various fates, so that `allocation explain` has several reasons to show. */
const SCARCE_FATES: readonly Fate[] = [
  'maintenance',
  'deployed',
  'allocated',
  'deployed',
  'deployed',
  'held',
  'allocated',
  'clean failed',
  'deployed',
  'allocated',
  'deployed',
]

function fatesOf(blanks: readonly Blank[], random: Random): Map<string, Fate> {
  const fates = new Map<string, Fate>()
  const scarce = blanks.filter(({ resourceClass }) => resourceClass === SCARCE)
  for (const [at, { name }] of scarce.entries()) {
    fates.set(name, SCARCE_FATES[at % SCARCE_FATES.length]!)
  }
  // One A100 with NVLink is always free, for the suggested `status` and for `allocation explain`.
  const shown = blanks.find(({ traits, tenant }) => tenant === 'nlp' && SHOWN.every(trait => traits.includes(trait)))!
  fates.set(shown.name, 'free')
  for (const [resourceClass, oneIn] of Object.entries(LEASABLE)) {
    const all = shuffled(
      blanks.filter(blank => blank.resourceClass === resourceClass && blank !== shown),
      random,
    )
    for (const { name } of all.slice(0, Math.max(LEASABLE_MIN, Math.round(all.length / oneIn)))) {
      fates.set(name, 'leasable')
    }
  }
  const rest = shuffled(
    blanks.filter(({ name }) => !fates.has(name)),
    random,
  )
  let next = 0
  for (const [fate, { percent, min }] of SHARES) {
    const until = next + Math.max(min, Math.round((blanks.length * percent) / 100))
    for (; next < until && next < rest.length; next++) fates.set(rest[next]!.name, fate)
  }
  for (const { name } of rest.slice(next)) fates.set(name, 'free')
  return fates
}
