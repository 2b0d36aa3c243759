// Who uses the demo's machines, now or later: allocations, holds, leases, servers, claims.
import type { Json } from '../../client/index.ts'
import { type Random } from '../../clock/chance.ts'
import type { ComputeHosts, Tree } from './hosts.ts'
import { type ClassName, type Machine, SCARCE } from './machines.ts'
import { demoUuid, DEMO_TRAIT, HOST_PROPERTIES } from './marks.ts'
import { PEOPLE, type Person, personIn } from './people.ts'

export interface DemoAllocation {
  name: string
  who: Person
  resourceClass: string
  traits: readonly string[]
  /** The machine that it gets; null for one that waits or fails. */
  machine: Machine | null
  isDeployed: boolean
  expiresInHours: number | null
  waitsHours: number | null
}

export interface DemoHold {
  who: Person
  machine: Machine
  instance: string
}

export interface DemoLease {
  name: string
  who: Person
  when: 'over' | 'running' | 'coming'
  /** Hours until it starts; 0 for past and running leases, which start now. */
  startsInHours: number
  hours: number
  reservations: readonly Json[]
  /** Names of the servers on its private flavor. */
  servers: readonly string[]
}

export interface DemoFlavor {
  name: string
  vcpus: number
  ram: number
  disk: number
  specs: Record<string, string>
}

export interface DemoServer {
  name: string
  who: Person
  flavor: string
}

/** A claim by a client that uses only Placement. */
export interface DemoClaim {
  consumer: string
  who: Person
  type: 'INSTANCE' | 'BATCH_JOB'
  /** By provider name. */
  resources: Record<string, Record<string, number>>
}

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!

/** Numbers the names of each kind of work. */
function counting(): (who: Person, at: number) => string {
  const counts = new Map<string, number>()
  return ({ work }, at) => {
    const name = work[at % work.length]!
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${name}-${count}`
  }
}

/** An allocation that waits for the scarce class, and one that no node can ever fit. */
export const WAITING = 'llama-pretrain'
export const IMPOSSIBLE = 'bert-nvlink-ib'

const HOURS = [2, 4, 8, 12, 24, 48, 72, null]

export function allocationsOf(machines: readonly Machine[], random: Random): DemoAllocation[] {
  const nameOf = counting()
  const taken = machines.filter(({ fate }) => fate === 'allocated' || fate === 'deployed')
  const given = taken.map((machine, at): DemoAllocation => {
    const who = personIn(machine.tenant)
    return {
      name: nameOf(who, at),
      who,
      resourceClass: machine.resourceClass,
      traits: [DEMO_TRAIT],
      machine,
      isDeployed: machine.fate === 'deployed',
      expiresInHours: pick(HOURS, random),
      waitsHours: null,
    }
  })
  const without = (
    name: string,
    project: Person['project'],
    resourceClass: string,
    traits: readonly string[] = [],
  ) => ({
    name,
    who: personIn(project),
    resourceClass,
    traits: [...traits, DEMO_TRAIT],
    machine: null,
    isDeployed: false,
    expiresInHours: 24,
    waitsHours: null,
  })
  return [
    ...given,
    { ...without(WAITING, 'nlp', SCARCE, ['CUSTOM_NVLINK']), waitsHours: 48 },
    { ...without('diffusion-xl', 'vision', SCARCE), waitsHours: 12 },
    without(IMPOSSIBLE, 'nlp', 'gpu-a100', ['CUSTOM_NVLINK', 'CUSTOM_INFINIBAND']),
    without('legacy-cuda', 'vision', 'gpu-v100'),
  ]
}

export const holdsOf = (machines: readonly Machine[]): DemoHold[] =>
  machines
    .filter(({ fate }) => fate === 'held')
    .map(machine => ({
      who: personIn(machine.tenant),
      machine,
      instance: demoUuid('instance', machine.name),
    }))

const instances = (amount: number, vcpus: number, affinity: boolean | null = null): Json => ({
  resource_type: 'virtual:instance',
  amount,
  vcpus,
  memory_mb: vcpus * 4_096,
  disk_gb: vcpus * 20,
  affinity,
  resource_properties: HOST_PROPERTIES,
})
const wholeHosts = (min: number, max = min): Json => ({
  resource_type: 'physical:host',
  min,
  max,
  hypervisor_properties: '',
  resource_properties: HOST_PROPERTIES,
})
const wholeNodes = (resource_class: ClassName, min: number, max = min): Json => ({
  resource_type: 'physical:node',
  resource_class,
  traits: [DEMO_TRAIT],
  min,
  max,
})

/** Two weeks of leases. They fit the smallest pool: four hosts and two leasable nodes of each class. */
export function leasesOf(): DemoLease[] {
  const [alice, bob, carol] = PEOPLE as [Person, Person, Person]
  const at = (
    who: Person,
    name: string,
    when: DemoLease['when'],
    [startsInHours, hours]: readonly [number, number],
    reservations: readonly Json[],
    servers: readonly string[] = [],
  ): DemoLease => ({ name, who, when, startsInHours, hours, reservations, servers })
  return [
    at(alice, 'vision-dry-run', 'over', [0, 4], [instances(2, 2)]),
    at(carol, 'ops-kernel-upgrade', 'over', [0, 2], [wholeHosts(1)]),
    at(bob, 'nlp-smoke-test', 'over', [0, 6], [wholeNodes('cpu-large', 1)]),
    at(alice, 'vision-sprint', 'running', [0, 72], [instances(4, 4)], ['sprint-worker-1', 'sprint-worker-2']),
    at(bob, 'nlp-shared-task', 'running', [0, 30], [wholeNodes('gpu-a100', 1)]),
    at(carol, 'ops-soak-test', 'running', [0, 20], [wholeHosts(1)]),
    at(bob, 'nlp-eval-night', 'coming', [8, 12], [instances(6, 4)]),
    at(alice, 'vision-demo-day', 'coming', [28, 8], [instances(2, 8, true)]),
    at(bob, 'nlp-ha-rehearsal', 'coming', [50, 6], [instances(3, 4, false)]),
    at(alice, 'vision-benchmark', 'coming', [72, 24], [wholeNodes('cpu-large', 2)]),
    at(carol, 'ops-firmware-rollout', 'coming', [100, 10], [wholeHosts(1, 2)]),
    at(bob, 'nlp-pretraining', 'coming', [120, 48], [wholeNodes('gpu-a100', 1, 2)]),
    at(alice, 'vision-paper-deadline', 'coming', [168, 72], [instances(6, 8)]),
    at(carol, 'ops-chaos-day', 'coming', [200, 8], [wholeHosts(1), instances(2, 2)]),
    at(alice, 'vision-workshop', 'coming', [244, 10], [wholeNodes('gpu-a100', 1), wholeNodes('cpu-large', 1)]),
    at(bob, 'nlp-model-release', 'coming', [290, 24], [instances(4, 4, false)]),
  ]
}

/** For a flavor that takes a whole node, and no VCPU, memory or disk. */
const METAL_ONLY = { 'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0' }
const specs = { [`trait:${DEMO_TRAIT}`]: 'required' }
export const FLAVORS: readonly DemoFlavor[] = [
  { name: 'm1.small', vcpus: 1, ram: 2_048, disk: 20, specs },
  { name: 'm1.large', vcpus: 4, ram: 16_384, disk: 80, specs },
  { name: 'c1.xlarge', vcpus: 16, ram: 32_768, disk: 100, specs },
  { name: 'x1.huge', vcpus: 512, ram: 4_194_304, disk: 2_000, specs },
  {
    name: 'bm.cpu-small',
    vcpus: 1,
    ram: 1,
    disk: 1,
    specs: { ...specs, ...METAL_ONLY, 'resources:CUSTOM_CPU_SMALL': '1' },
  },
]

/** Three servers for each open hypervisor, one that is too large for all, and one on bare metal. */
export function serversOf({ open }: ComputeHosts, random: Random): DemoServer[] {
  const roles = ['web', 'db', 'jupyter', 'grafana', 'queue', 'mirror']
  const usual = open.flatMap((_, at) =>
    roles.slice(0, 3).map((_, nth): DemoServer => {
      const number = at * 3 + nth
      return {
        name: `${roles[number % roles.length]}-${Math.floor(number / roles.length) + 1}`,
        who: PEOPLE[number % PEOPLE.length]!,
        flavor: pick(['m1.small', 'm1.large', 'c1.xlarge'], random),
      }
    }),
  )
  return [
    ...usual,
    { name: 'warehouse', who: personIn('nlp'), flavor: 'x1.huge' },
    { name: 'edge-router', who: personIn('ops'), flavor: 'bm.cpu-small' },
  ]
}

/** Each tree has a claim on its first cell; every second tree has one on the other cell too. */
export const claimsOf = (trees: readonly Tree[]): DemoClaim[] =>
  trees.flatMap((tree, at) =>
    tree.cells.slice(0, 1 + (at % 2)).map(({ numa, gpus }, cell): DemoClaim => ({
      consumer: demoUuid('consumer', numa),
      who: PEOPLE[(at + cell) % PEOPLE.length]!,
      type: cell === 0 ? 'INSTANCE' : 'BATCH_JOB',
      resources: {
        [numa]: { VCPU: 16, MEMORY_MB: 65_536 },
        [gpus[0]!]: { [tree.gpuClass]: tree.gpuClass === 'VGPU' ? 3 : 1 },
        [tree.storage]: { DISK_GB: 500 },
      },
    })),
  )
