// Turns fleet files into entries that can be compared with the server, and collects the mistakes in them.
import type { Inventory, Json } from '../../client/index.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { BMC_MEMBERS, bmcMembersOf, type BmcPlace, bmcPlaceOf } from './bmc.ts'
import type { Finding } from './checks.ts'
import { NODE_DOCUMENTS, NODE_WORDS, PORT_DOCUMENTS, PORT_WORDS } from './members.ts'
import { fileAndLine, type Mistake, mistake, type Path, type Place } from './mistake.ts'
import { fleetFile, type Kind } from './shape.ts'
import type { Source } from './source.ts'
import type { Wanted } from './states.ts'
import { isObject } from '../../shared/is-object.ts'

/** The file and line of a member of an entry. */
type At = (...path: Path) => Place

export interface PortEntry {
  at: At
  uuid: string | null
  /** The address is in lower case. */
  members: Json & { address: string }
}

/** A member that is null isn't in the file, and stays unchanged. */
export interface NodeEntry {
  at: At
  /** It had a mistake, and the wrong part was left out. */
  isFlawed: boolean
  uuid: string | null
  /** Attributes as the API names them; null removes one. */
  members: Json
  /** Where its BMC is, if the file says so. */
  bmc: BmcPlace | null
  /** It takes a login that the file leaves out. One whose driver_info is written out keeps its own. */
  takesLogin: boolean
  traits: string[] | null
  ports: PortEntry[] | null
  provisionState: Wanted | null
  maintenance: boolean | null
  maintenanceReason: string | null
  retired: boolean | null
  retiredReason: string | null
  leasable: boolean | null
}

export interface ProviderEntry {
  at: At
  /** It had a mistake, and the wrong part was left out. */
  isFlawed: boolean
  uuid: string | null
  name: string | null
  /** A name or a uuid; null for a root, undefined if not in the file. */
  parent: string | null | undefined
  inventories: Record<string, Partial<Inventory>> | null
  traits: string[] | null
  aggregates: string[] | null
}

export interface HostEntry {
  at: At
  /** It had a mistake, and the wrong part was left out. */
  isFlawed: boolean
  name: string
  capabilities: Record<string, string>
}

export interface Fleet {
  nodes: NodeEntry[]
  providers: ProviderEntry[]
  hosts: HostEntry[]
}

/** All entries of these files, without their wrong members, and all mistakes. */
export function readFleet(sources: readonly Source[]): { fleet: Fleet; mistakes: Mistake[] } {
  const fleet: Fleet = { nodes: [], providers: [], hosts: [] }
  const mistakes: Mistake[] = []
  for (const source of sources) {
    const at: At = (...path) => ({ file: source.file, spot: source.spotOf(path), path })
    const findings = fleetFile(source.value, [])
    mistakes.push(...findings.map(({ path, says }) => mistake(at(...path), says)))
    addEntries(fleet, source.value, findings, at)
  }
  return { fleet, mistakes: [...mistakes, ...twins(fleet)] }
}

function addEntries(fleet: Fleet, value: unknown, findings: readonly Finding[], at: At): void {
  const wrong = new Set(findings.map(({ path }) => path.join('\n')))
  const flawed = new Set(findings.map(({ path }) => path.slice(0, 2).join('\n')))
  const entriesOf = (kind: Kind): (Where & { entry: Json })[] => {
    const given = isObject(value) ? value[kind] : undefined
    return (Array.isArray(given) ? given : []).flatMap((entry: unknown, i) => {
      if (!isObject(entry)) return []
      const isFlawed = flawed.has([kind, i].join('\n'))
      const fine = isFlawed ? membersLeft(entry, [kind, i], wrong) : entry
      return { entry: fine, at: (...path: Path) => at(kind, i, ...path), isFlawed }
    })
  }
  fleet.nodes.push(...entriesOf('nodes').map(({ entry, ...where }) => nodeEntry(entry, where)))
  fleet.providers.push(...entriesOf('providers').map(({ entry, ...where }) => providerEntry(entry, where)))
  fleet.hosts.push(...entriesOf('hosts').flatMap(({ entry, ...where }) => hostEntry(entry, where)))
}

/** Removes the wrong values. In a list undefined takes their place, so that the other indexes stay valid. */
function withoutWrong(value: unknown, path: Path, wrong: ReadonlySet<string>): unknown {
  if (wrong.has(path.join('\n'))) return undefined
  if (Array.isArray(value)) return value.map((item, i) => withoutWrong(item, [...path, i], wrong))
  return isObject(value) ? membersLeft(value, path, wrong) : value
}

const membersLeft = (value: Json, path: Path, wrong: ReadonlySet<string>): Json =>
  Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [name, withoutWrong(inner, [...path, name], wrong)] as const)
      .filter(([, inner]) => inner !== undefined),
  )

interface Where {
  at: At
  isFlawed: boolean
}

const uuidIn = (value: unknown) => (typeof value === 'string' ? canonicalUuid(value) : null)
const unique = (words: unknown) =>
  words === undefined ? null : [...new Set((words as (string | undefined)[]).filter(word => word !== undefined))]
const picked = (entry: Json, names: readonly string[]) =>
  Object.fromEntries(names.filter(name => Object.hasOwn(entry, name)).map(name => [name, entry[name]]))

function nodeEntry(entry: Json, { at, isFlawed }: Where): NodeEntry {
  const members: Json = { ...picked(entry, [...NODE_WORDS, ...NODE_DOCUMENTS]), ...bmcMembersOf(entry) }
  // The server stores it in lower case.
  if (typeof members['conductor_group'] === 'string')
    members['conductor_group'] = members['conductor_group'].toLowerCase()
  const ports = entry['ports'] as (string | Json | undefined)[] | undefined
  return {
    at,
    isFlawed,
    uuid: uuidIn(entry['uuid']),
    members,
    bmc: bmcPlaceOf(members['driver_info']),
    takesLogin: BMC_MEMBERS.some(name => Object.hasOwn(entry, name)),
    traits: unique(entry['traits']),
    ports: ports?.flatMap((one, i) => portEntry(one, (...path) => at('ports', i, ...path))) ?? null,
    provisionState: (entry['provision_state'] as Wanted | undefined) ?? null,
    maintenance: (entry['maintenance'] as boolean | undefined) ?? null,
    maintenanceReason: (entry['maintenance_reason'] as string | undefined) ?? null,
    retired: (entry['retired'] as boolean | undefined) ?? null,
    retiredReason: (entry['retired_reason'] as string | undefined) ?? null,
    leasable: (entry['leasable'] as boolean | undefined) ?? null,
  }
}

function portEntry(given: string | Json | undefined, at: At): PortEntry | [] {
  const entry: Json = typeof given === 'string' ? { address: given } : (given ?? {})
  if (typeof entry['address'] !== 'string') return []
  const address = entry['address'].toLowerCase().replaceAll('-', ':')
  return {
    at,
    uuid: uuidIn(entry['uuid']),
    members: { ...picked(entry, [...PORT_WORDS, ...PORT_DOCUMENTS]), address },
  }
}

function providerEntry(entry: Json, { at, isFlawed }: Where): ProviderEntry {
  const inventories = entry['inventories'] as Record<string, number | Partial<Inventory>> | undefined
  const terms = (given: number | Partial<Inventory>) => (typeof given === 'number' ? { total: given } : given)
  return {
    at,
    isFlawed,
    uuid: uuidIn(entry['uuid']),
    name: (entry['name'] as string | undefined) ?? null,
    parent: entry['parent'] as string | null | undefined,
    inventories: inventories
      ? Object.fromEntries(Object.entries(inventories).map(([name, given]) => [name, terms(given)]))
      : null,
    traits: unique(entry['traits']),
    aggregates: unique(
      (entry['aggregates'] as (string | undefined)[] | undefined)?.map(one => one && canonicalUuid(one)),
    ),
  }
}

function hostEntry(entry: Json, { at, isFlawed }: Where): HostEntry[] {
  if (typeof entry['name'] !== 'string') return []
  const capabilities = Object.entries((entry['capabilities'] as Json | undefined) ?? {})
  return [
    {
      at,
      isFlawed,
      name: entry['name'],
      capabilities: Object.fromEntries(capabilities.map(([name, value]) => [name, String(value)])),
    },
  ]
}

/** Reports uuids, names and addresses that occur twice. */
function twins({ nodes, providers, hosts }: Fleet): Mistake[] {
  const ports = nodes.flatMap(node => node.ports ?? [])
  return [
    ...again(nodes, 'uuid', node => node.uuid),
    ...again(nodes, 'name', node => node.members['name'] as string | null | undefined),
    ...again(nodes, 'bmc', node => node.bmc?.key, severalAt),
    ...again(ports, 'uuid', port => port.uuid),
    ...again(ports, 'address', port => port.members.address),
    ...again(providers, 'uuid', provider => provider.uuid),
    ...again(providers, 'name', provider => provider.name),
    ...again(hosts, 'name', host => host.name),
  ]
}

const severalAt = (bmc: string) =>
  bmc.startsWith('redfish ') ? '; if this BMC has several machines, say which with redfish_system_id' : ''

function again<E extends { at: At }>(
  entries: readonly E[],
  member: string,
  keyOf: (entry: E) => string | null | undefined,
  hintOn: (key: string) => string = () => '',
): Mistake[] {
  const first = new Map<string, E>()
  return entries.flatMap(entry => {
    const key = keyOf(entry)
    if (key === null || key === undefined) return []
    const before = first.getOrInsert(key, entry)
    if (before === entry) return []
    const place = before.at(member)
    const where = place.spot === null ? `${place.file}: ${before.at().path.join(' ')}` : fileAndLine(place)
    return mistake(entry.at(member), `${key} is there twice, first at ${where}${hintOn(key)}`)
  })
}
