// The compute hosts of the demo: plain hypervisors, hosts as trees of NUMA cells and GPUs, and storage that they share.
import { demoUuid, DEMO_TRAIT } from './marks.ts'

export interface HostProvider {
  name: string
  uuid: string
  /** The uuid of a provider earlier in the list. */
  parent: string | null
  inventories: Record<string, { total: number; reserved?: number; allocation_ratio?: number; max_unit?: number }>
  traits: readonly string[]
  aggregates: readonly string[]
}

export interface ComputeHosts {
  /** Parents before their children. */
  providers: HostProvider[]
  /** Hypervisors that run everyone's servers. */
  open: string[]
  /** Hypervisors that leases are booked on. */
  pool: string[]
  trees: Tree[]
}

/** A host as a tree, with the providers of each NUMA cell. */
export interface Tree {
  name: string
  cells: { numa: string; gpus: string[] }[]
  /** VGPU or PGPU. */
  gpuClass: string
  storage: string
}

const SITES = ['a', 'b']
/** One host for this many nodes. The minimum is enough for the leases; more than the maximum would be hard to read. */
const NODES_PER_HOST = 12.5
const HOSTS_MIN = 10
const HOSTS_MAX = 64
const CELLS = 2
const GPUS_PER_CELL = 2

const uuidOf = (name: string) => demoUuid('provider', name)
const storageAggregate = (site: string) => demoUuid('aggregate', `storage ${site}`)
const twoDigits = (number: number) => String(number).padStart(2, '0')

export function computeHostsOf(nodes: number): ComputeHosts {
  const hosts = Math.min(HOSTS_MAX, Math.max(HOSTS_MIN, Math.round(nodes / NODES_PER_HOST)))
  const plainCount = Math.ceil(hosts * 0.6)
  const plain = Array.from({ length: plainCount }, (_, at) => plainHost(at))
  const names = plain.map(({ name }) => name)
  const poolCount = Math.max(4, Math.floor(plainCount / 2))
  const trees = Array.from({ length: hosts - plainCount }, (_, at) => treeHost(at))
  return {
    providers: [...SITES.map(sharedStorage), ...plain, ...trees.flatMap(({ providers }) => providers)],
    open: names.slice(0, plainCount - poolCount),
    pool: names.slice(plainCount - poolCount),
    trees: trees.map(({ tree }) => tree),
  }
}

const storageName = (site: string) => `ceph-ssd-${site}`

function sharedStorage(site: string): HostProvider {
  const name = storageName(site)
  return {
    name,
    uuid: uuidOf(name),
    parent: null,
    inventories: { DISK_GB: { total: 400_000, reserved: 20_000, max_unit: 20_000 } },
    traits: [DEMO_TRAIT, 'MISC_SHARES_VIA_AGGREGATE', 'STORAGE_DISK_SSD'],
    aggregates: [storageAggregate(site)],
  }
}

function plainHost(at: number): HostProvider {
  const name = `compute-${twoDigits(at + 1)}`
  return {
    name,
    uuid: uuidOf(name),
    parent: null,
    inventories: {
      VCPU: { total: 64, allocation_ratio: 4 },
      MEMORY_MB: { total: 262_144, reserved: 4_096 },
      DISK_GB: { total: 3_840, reserved: 40 },
    },
    traits: ['COMPUTE_NODE', DEMO_TRAIT, 'HW_CPU_X86_AVX2', ...(at % 2 === 0 ? ['HW_CPU_X86_AVX512F'] : [])],
    aggregates: [],
  }
}

function treeHost(at: number): { tree: Tree; providers: HostProvider[] } {
  const name = `gpu-host-${twoDigits(at + 1)}`
  const site = SITES[at % SITES.length]!
  const isShared = at % 3 === 2
  const gpuClass = isShared ? 'VGPU' : 'PGPU'
  const root: HostProvider = {
    name,
    uuid: uuidOf(name),
    parent: null,
    inventories: {},
    traits: ['COMPUTE_NODE', DEMO_TRAIT],
    aggregates: [storageAggregate(site)],
  }
  const cells = Array.from({ length: CELLS }, (_, cell) => {
    const numa = `${name}_numa${cell}`
    return { numa, gpus: Array.from({ length: GPUS_PER_CELL }, (_, gpu) => `${numa}_gpu${gpu}`) }
  })
  const below = cells.flatMap(({ numa, gpus }): HostProvider[] => [
    {
      name: numa,
      uuid: uuidOf(numa),
      parent: root.uuid,
      inventories: { VCPU: { total: 48 }, MEMORY_MB: { total: 196_608, reserved: 2_048 } },
      traits: ['HW_CPU_X86_AVX512F', 'HW_NUMA_ROOT'],
      aggregates: [],
    },
    ...gpus.map(gpu => ({
      name: gpu,
      uuid: uuidOf(gpu),
      parent: uuidOf(numa),
      inventories: isShared ? { VGPU: { total: 8 } } : { PGPU: { total: 1 } },
      traits: isShared ? ['CUSTOM_L40'] : ['CUSTOM_A100', ...(at % 3 === 0 ? ['CUSTOM_NVLINK'] : [])],
      aggregates: [],
    })),
  ])
  return { tree: { name, cells, gpuClass, storage: storageName(site) }, providers: [root, ...below] }
}
