// Describes everything that the demo creates. Pure: the same number of nodes and seed give the same fleet.
import { seeded } from '../../clock/chance.ts'
import { type ComputeHosts, computeHostsOf } from './hosts.ts'
import { type Machine, machinesOf, MODELS, type Rack, rackTrait } from './machines.ts'
import { DEMO_TRAIT } from './marks.ts'
import {
  allocationsOf,
  claimsOf,
  type DemoAllocation,
  type DemoClaim,
  type DemoFlavor,
  type DemoHold,
  type DemoLease,
  type DemoServer,
  FLAVORS,
  holdsOf,
  leasesOf,
  serversOf,
} from './promises.ts'

export interface FleetOptions {
  nodes: number
  seed: number
}

export interface Fleet extends FleetOptions {
  racks: readonly Rack[]
  machines: readonly Machine[]
  hosts: ComputeHosts
  allocations: readonly DemoAllocation[]
  holds: readonly DemoHold[]
  leases: readonly DemoLease[]
  flavors: readonly DemoFlavor[]
  servers: readonly DemoServer[]
  claims: readonly DemoClaim[]
}

/** A smaller fleet can't have one of each kind; a larger one takes minutes, and is a job for benches. */
export const NODES_MIN = 30
export const NODES_MAX = 5_000
export const DEFAULTS: FleetOptions = { nodes: 300, seed: 7 }

export function fleetOf({ nodes, seed }: FleetOptions): Fleet {
  const random = seeded(seed)
  const { racks, machines } = machinesOf(nodes, random)
  const hosts = computeHostsOf(nodes)
  return {
    nodes,
    seed,
    racks,
    machines,
    hosts,
    allocations: allocationsOf(machines, random),
    holds: holdsOf(machines),
    leases: leasesOf(),
    flavors: FLAVORS,
    servers: serversOf(hosts, random),
    claims: claimsOf(hosts.trees),
  }
}

/** The custom traits that the fleet adds to the ledger. */
export const customTraitsOf = ({ racks, machines, hosts }: Fleet): string[] => [
  ...new Set(
    [
      DEMO_TRAIT,
      ...racks.map(rackTrait),
      ...machines.flatMap(({ traits }) => traits),
      ...hosts.providers.flatMap(({ traits }) => traits),
    ].filter(name => name.startsWith('CUSTOM_')),
  ),
]

/** The custom resource classes that it adds. */
export const customClassesOf = (): string[] =>
  Object.keys(MODELS).map(name => `CUSTOM_${name.toUpperCase().replaceAll('-', '_')}`)
