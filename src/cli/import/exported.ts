// Exports a fleet as the document that a person would write to import it. Default values are left out.
import { Document, isScalar, Scalar, visit } from 'yaml'
import type { Driver, Inventory, Json, Node, Port, Provider } from '../../client/index.ts'
import { csvOf } from './csv.ts'
import {
  INTERFACES,
  NODE_CHOICES,
  NODE_DOCUMENTS,
  NODE_MEMBERS,
  NODE_WORDS,
  PORT_DOCUMENTS,
  PORT_WORDS,
  TERMS,
} from './members.ts'
import { capabilitiesOf, keptProviders, type Present } from './present.ts'
import { AMOUNT_MAX, isMasked, type Kind } from './shape.ts'
import type { FileFormat } from './source.ts'
import { standingOf } from './states.ts'

type FleetDocument = Partial<Record<Kind, Json[]>>

/** The document, and the names of the secrets that it lacks, because the server masks them. */
export function exportedFrom(
  present: Present,
  kinds: ReadonlySet<Kind>,
): { document: FleetDocument; secrets: string[] } {
  const secrets: string[] = []
  const document: FleetDocument = {
    ...(kinds.has('nodes') && { nodes: nodesIn(present, secrets) }),
    ...(kinds.has('providers') && { providers: providersIn(present) }),
    ...(kinds.has('hosts') && { hosts: hostsIn(present) }),
  }
  return { document, secrets }
}

export function textOf(document: FleetDocument, format: FileFormat): string {
  if (format === 'csv') return csvOf(document.nodes ?? [], NODE_MEMBERS)
  if (format === 'json') return `${JSON.stringify(document, null, 2)}\n`
  // YAML 1.1 readers take a MAC address for a base 60 number, and `no` for false; `compat` quotes these.
  const yaml = new Document(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(yaml, {
    // Unquoted, the key `<<` would be read as a YAML merge.
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === '<<') key.type = Scalar.QUOTE_DOUBLE
    },
  })
  return yaml.toString({ lineWidth: 0 })
}

const by =
  <T>(...keys: ((item: T) => string)[]) =>
  (a: T, b: T) =>
    keys.map(key => compared(key(a), key(b))).find(order => order !== 0) ?? 0
const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const isNothing = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0)
const something = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => !isNothing(value)))
const picked = (from: Json, names: readonly string[]) => Object.fromEntries(names.map(name => [name, from[name]]))

function nodesIn({ nodes, ports, leasable, drivers }: Present, secrets: string[]): Json[] {
  const portsOf = Map.groupBy(ports, ({ node_uuid }) => node_uuid)
  const driverOf = new Map(drivers.map(driver => [driver.name, driver]))
  return nodes
    .toSorted(
      by(
        ({ name }) => name ?? '',
        ({ uuid }) => uuid,
      ),
    )
    .map(node => ({
      uuid: node.uuid,
      ...something(
        picked(
          node,
          NODE_WORDS.filter(name => !INTERFACES.includes(name)),
        ),
      ),
      ...Object.fromEntries(NODE_CHOICES.filter(name => node[name] === false).map(name => [name, false])),
      ...chosenInterfaces(node, driverOf.get(node['driver'] as string)),
      ...something({ ...picked(node, NODE_DOCUMENTS), driver_info: withoutSecrets(node, secrets) }),
      ...something({
        traits: node.traits,
        ports: (portsOf.get(node.uuid) ?? []).toSorted(by(port => port.address)).map(portOf),
      }),
      // A retired node can't become available.
      provision_state: node['retired'] === true && standingOf(node) === 'available' ? 'manageable' : standingOf(node),
      ...something(picked(node, ['maintenance', 'maintenance_reason', 'retired', 'retired_reason'])),
      ...something({ leasable: leasable.has(node.uuid) }),
    }))
}

function chosenInterfaces(node: Node, driver: Driver | undefined): Json {
  return Object.fromEntries(
    INTERFACES.filter(name => !isNothing(node[name]) && node[name] !== driver?.[`default_${name}`]).map(name => [
      name,
      node[name],
    ]),
  )
}

function withoutSecrets(node: Node, secrets: string[]): Json {
  const entries = Object.entries(node['driver_info'] as Json)
  for (const [name, value] of entries)
    if (isMasked(value)) secrets.push(`${node.name ?? node.uuid} driver_info.${name}`)
  return Object.fromEntries(entries.filter(([, value]) => !isMasked(value)))
}

const portOf = (port: Port): Json => ({
  uuid: port.uuid,
  ...something(
    picked(
      port,
      PORT_WORDS.filter(name => name !== 'pxe_enabled'),
    ),
  ),
  ...(!port.pxe_enabled && { pxe_enabled: false }),
  ...something(picked(port, PORT_DOCUMENTS)),
})

function providersIn(present: Present): Json[] {
  const kept = keptProviders(present)
  const names = new Map(present.providers.map(({ uuid, name }) => [uuid, name]))
  const parentOf = new Map(present.providers.map(({ uuid, parent_provider_uuid: parent }) => [uuid, parent]))
  /** A sort key: the names from the root down, so that trees stay together and parents come first. */
  const lineOf = (uuid: string): string => {
    const parent = parentOf.get(uuid)
    return `${parent ? `${lineOf(parent)}\u0000` : ''}${names.get(uuid)}`
  }
  return present.providers
    .filter(({ uuid }) => !kept.has(uuid))
    .toSorted(by(({ uuid }: Provider) => lineOf(uuid)))
    .map(({ uuid, name, parent_provider_uuid: parent }) => {
      const { inventories, traits, aggregates } = present.details.get(uuid)!
      const amounts = Object.entries(inventories).toSorted(by(([name]) => name))
      return {
        uuid,
        name,
        ...(parent && { parent: names.get(parent) ?? parent }),
        ...something({
          inventories: Object.fromEntries(amounts.map(([name, terms]) => [name, termsOf(terms)])),
          traits: traits.toSorted(),
          aggregates: aggregates.toSorted(),
        }),
      }
    })
}

const DEFAULTS: Partial<Inventory> = {
  reserved: 0,
  min_unit: 1,
  max_unit: AMOUNT_MAX,
  step_size: 1,
  allocation_ratio: 1,
}

function termsOf(inventory: Inventory): number | Json {
  const said = TERMS.filter(term => inventory[term] !== DEFAULTS[term])
  return said.length === 1 ? inventory.total : picked({ ...inventory }, said)
}

const hostsIn = ({ hosts }: Present): Json[] =>
  hosts.toSorted(by(host => host.hypervisor_hostname)).map(host => ({
    name: host.hypervisor_hostname,
    ...something({ capabilities: capabilitiesOf(host) }),
  }))
