// Reads the present fleet from the server.
import type { Conductor, Driver, Holdfast, Host, Inventory, Json, Node, Port, Provider } from '../../client/index.ts'
import { HOST_MEMBERS, type Kind } from './shape.ts'
import { atOnce } from '../../shared/at-once.ts'
import { aggregateKey } from '../../ledger/uuid.ts'

export interface ProviderDetails {
  inventories: Record<string, Inventory>
  traits: string[]
  aggregates: string[]
}

export interface Present {
  nodes: readonly Node[]
  ports: readonly Port[]
  /** The uuids of nodes that leases may book. */
  leasable: ReadonlySet<string>
  drivers: readonly Driver[]
  conductors: readonly Conductor[]
  providers: readonly Provider[]
  /** By uuid, for the providers that `inFull` chose. */
  details: ReadonlyMap<string, ProviderDetails>
  hosts: readonly Host[]
  /** All names that Placement has; null if not read. */
  traits: ReadonlySet<string> | null
  classes: ReadonlySet<string> | null
}

export const NOTHING: Present = {
  nodes: [],
  ports: [],
  leasable: new Set(),
  drivers: [],
  conductors: [],
  providers: [],
  details: new Map(),
  hosts: [],
  traits: null,
  classes: null,
}

export interface Question {
  kinds: ReadonlySet<Kind>
  leasable: boolean
  traits: boolean
  /** Whether to read this provider's inventories, traits and aggregates. */
  inFull: (provider: Provider) => boolean
}

/** Reads only what is needed, because the user may not be allowed to see the rest. */
export async function presentOf(server: Holdfast, question: Question): Promise<Present> {
  const { kinds } = question
  const [nodes, besideNodes, capacity, traits, classes] = await Promise.all([
    server.nodes.list({ where: { detail: true, include_children: true } }),
    kinds.has('nodes') ? besideNodesOf(server, question) : {},
    kinds.has('providers') || kinds.has('hosts') ? capacityOf(server, question) : {},
    question.traits ? namesOf(server.traits) : null,
    kinds.has('providers') ? namesOf(server.resourceClasses) : null,
  ])
  return { ...NOTHING, nodes, ...besideNodes, ...capacity, traits, classes }
}

const namesOf = async (noun: { list: () => Promise<string[]> }) => new Set(await noun.list())

async function besideNodesOf(server: Holdfast, question: Question) {
  const [ports, drivers, conductors, enrolled] = await Promise.all([
    server.ports.list(),
    server.conductors.drivers(),
    server.conductors.list(),
    question.leasable ? server.leasableNodes.list() : [],
  ])
  return { ports, drivers, conductors, leasable: new Set(enrolled.map(({ node }) => node)) }
}

const READERS = 8

async function capacityOf(server: Holdfast, { inFull }: Question) {
  const [providers, hosts] = await Promise.all([server.providers.list(), server.hosts.list()])
  const details = new Map<string, ProviderDetails>()
  const look = async ({ uuid }: Provider) => {
    const { inventories, traits, aggregates } = await server.providers.show(uuid)
    details.set(uuid, { inventories, traits, aggregates: aggregates.map(aggregateKey) })
  }
  await atOnce(providers.filter(inFull), look, { width: READERS })
  return { providers, hosts, details }
}

/** The capabilities that people have given a host. */
export const capabilitiesOf = (host: Json) =>
  Object.fromEntries(Object.entries(host).filter(([name]) => !HOST_MEMBERS.has(name))) as Record<string, string>

/** Providers that Holdfast manages itself, for nodes and started leases, with the reason why a file can't have them. */
export function keptProviders({ nodes, providers }: Present): Map<string, string> {
  const names = new Map(providers.map(({ uuid, name }) => [uuid, name]))
  // One that was withdrawn lately still has it.
  const isOfHost = ({ name, parent_provider_uuid: parent }: Provider) => name === `blazar_${names.get(parent ?? '')}`
  return new Map([
    ...nodes.map(({ uuid }) => [uuid, 'is the provider of a node, which is described as a node'] as const),
    ...providers.filter(isOfHost).map(({ uuid }) => [uuid, 'is where leases on a host are kept'] as const),
  ])
}
