// Plans the changes to nodes and their ports.
import type { Json, Node, Patch, Port } from '../../client/index.ts'
import { DEFAULT_DRIVER } from '../../shared/node-fields.ts'
import { bmcPlaceOf } from './bmc.ts'
import type { NodeEntry, PortEntry } from './document.ts'
import { NODE_DOCUMENTS, PORT_DOCUMENTS } from './members.ts'
import { clash, fileAndLine, type Mistake } from './mistake.ts'
import type { Present } from './present.ts'
import { isBusy, isInUse, nextStep, type Seen, type Wanted } from './states.ts'
import { actionFor, fieldOf, isSameSet, patchesFor, setting, type Step } from './step.ts'

/** Carried out in the order of its members; null or empty means no change. */
export interface NodeStep extends Step {
  kind: 'node'
  /** null for a new node. */
  uuid: string | null
  /** A conductor is working on it, so it can't be patched yet. */
  isBusy: boolean
  /** The attributes to create a new node with. */
  attributes: Json
  endsMaintenance: boolean
  patches: Patch[]
  traits: string[] | null
  newPorts: (Json & { address: string })[]
  changedPorts: { uuid: string; patches: Patch[] }[]
  provisionState: Wanted | null
  /** On its way to available it is inspected, unless it was before. */
  inspects: boolean
  /** Changes that would block the change of state, so they come after it. */
  latePatches: Patch[]
  startsMaintenance: { reason: string | null } | null
  leasable: boolean | null
}

type Standing = Json & Seen & Pick<Node, 'maintenance' | 'traits'>

/** A node right after its creation. */
const BLANK: Standing = {
  provision_state: 'enroll',
  target_provision_state: null,
  instance_uuid: null,
  maintenance: false,
  traits: [],
}

export function planNodes(present: Present, entries: readonly NodeEntry[], mistakes: Mistake[]): NodeStep[] {
  const byUuid = new Map(present.nodes.map(node => [node.uuid, node]))
  const byName = new Map(present.nodes.map(node => [node.name, node]))
  const byBmc = new Map(present.nodes.map(node => [bmcPlaceOf(node['driver_info'])?.key, node]))
  const found = new Map<string, NodeEntry>()
  const ports = new PortPlanner(present, byUuid)
  return entries.flatMap(entry => {
    const given = entry.members['name'] as string | null | undefined
    const neighbour = entry.bmc === null ? undefined : byBmc.get(entry.bmc.key)
    const isNameless = entry.uuid === null && typeof given !== 'string'
    if (isNameless && entry.bmc === null) return []
    // A node without a name is the one at that BMC; a new one is named after the address.
    const name = isNameless && !neighbour ? entry.bmc!.name : given
    const namesake = typeof name === 'string' ? byName.get(name) : undefined
    const node = entry.uuid === null ? (isNameless ? neighbour : namesake) : byUuid.get(entry.uuid)
    if (namesake && namesake !== node) {
      mistakes.push(clash(entry.at('name'), `${name} is the name of node ${namesake.uuid} already`))
    }
    if (neighbour && !node) {
      mistakes.push(clash(entry.at(), `its BMC is that of node ${neighbour.name ?? neighbour.uuid} already`))
    }
    const before = node && found.getOrInsert(node.uuid, entry)
    if (before && before !== entry) {
      mistakes.push(clash(entry.at(), `is node ${node.uuid}, as is ${fileAndLine(before.at())}`))
    }
    mistakes.push(...clashesOf(present, entry, node))
    const planned = ports.plan(entry, node, mistakes)
    const named = isNameless && !node ? { ...entry, members: { ...entry.members, name } } : entry
    return stepFor(named, node, { ...planned, isLeasable: node !== undefined && present.leasable.has(node.uuid) })
  })
}

interface Beside {
  newPorts: NodeStep['newPorts']
  changedPorts: NodeStep['changedPorts']
  isLeasable: boolean
}

/** The class of a new machine of which the file says neither a driver nor a class. */
const DEFAULT_CLASS = 'baremetal'

/** A new machine without a driver is simply there, so its name is enough to give it out. */
function asNew(entry: NodeEntry): NodeEntry {
  const { members, provisionState, retired } = entry
  if (typeof members['driver'] === 'string') return entry
  return {
    ...entry,
    members: { resource_class: DEFAULT_CLASS, ...members, driver: DEFAULT_DRIVER },
    provisionState: provisionState ?? (retired ? null : 'available'),
  }
}

function stepFor(given: NodeEntry, node: Node | undefined, { newPorts, changedPorts, isLeasable }: Beside): NodeStep {
  const entry = node ? given : asNew(given)
  const present: Standing = node ?? BLANK
  const patches = patchesFor(entry.members, present, NODE_DOCUMENTS)
  const retiring = retirementOf(entry, present)
  const changes = {
    patches: node ? [...patches, ...(entry.retired === false ? retiring : [])] : [],
    latePatches: entry.retired === true ? retiring : [],
    traits: entry.traits && !isSameSet(entry.traits, present.traits) ? entry.traits : null,
    newPorts,
    changedPorts,
    provisionState:
      entry.provisionState !== null && nextStep(present, entry.provisionState) !== 'there'
        ? entry.provisionState
        : null,
    ...maintenanceOf(entry, present),
    // A file that lists the traits needs nobody to find them.
    inspects: entry.bmc !== null && entry.traits === null,
    leasable: entry.leasable !== null && entry.leasable !== isLeasable ? entry.leasable : null,
  }
  const fields = [
    ...[...patches, ...retiring].map(fieldOf),
    ...(changes.traits ? ['traits'] : []),
    ...(newPorts.length + changedPorts.length > 0 ? ['ports'] : []),
    ...(changes.provisionState ? ['provision_state'] : []),
    ...(changes.endsMaintenance || changes.startsMaintenance ? ['maintenance'] : []),
    ...(changes.leasable === null ? [] : ['leasable']),
  ]
  return {
    kind: 'node',
    action: actionFor(!node, fields),
    name: (entry.members['name'] as string | null | undefined) ?? node?.name ?? entry.uuid!,
    fields,
    uuid: node?.uuid ?? null,
    isBusy: isBusy(present),
    attributes: { ...(entry.uuid && { uuid: entry.uuid }), ...withoutNulls(entry.members) },
    ...changes,
  }
}

const withoutNulls = (members: Json) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

function retirementOf({ retired, retiredReason }: NodeEntry, present: Json): Patch[] {
  if (retired === null) return []
  const patches = retired === (present['retired'] ?? false) ? [] : [setting(['retired'], retired)]
  const isNews = retiredReason !== null && retiredReason !== present['retired_reason']
  return isNews ? [...patches, setting(['retired_reason'], retiredReason)] : patches
}

function maintenanceOf(
  { maintenance, maintenanceReason: reason }: NodeEntry,
  present: Standing,
): Pick<NodeStep, 'endsMaintenance' | 'startsMaintenance'> {
  const isNews =
    maintenance === true &&
    (!present.maintenance || (reason ?? present['maintenance_reason']) !== present['maintenance_reason'])
  return {
    endsMaintenance: maintenance === false && present.maintenance,
    startsMaintenance: isNews ? { reason } : null,
  }
}

/** Contradictions between the entry and the server. */
function clashesOf({ conductors, drivers, traits }: Present, entry: NodeEntry, node: Node | undefined): Mistake[] {
  const { members, at } = entry
  const found: Mistake[] = []
  const driver = (members['driver'] ?? node?.['driver'] ?? DEFAULT_DRIVER) as string
  const group = (members['conductor_group'] ?? node?.['conductor_group'] ?? '') as string
  if (driver !== node?.['driver'] || group !== node?.['conductor_group']) {
    const able = conductors.filter(({ drivers, alive }) => alive && drivers.includes(driver))
    if (able.length === 0) found.push(clash(at('driver'), `no conductor has the driver ${driver}`))
    else if (!able.some(({ conductor_group }) => conductor_group === group)) {
      const where = Object.hasOwn(members, 'conductor_group') ? at('conductor_group') : at()
      found.push(clash(where, `no conductor of the group '${group}' has the driver ${driver}`))
    }
  }
  const known = drivers.find(({ name }) => name === driver)
  for (const [name, value] of Object.entries(members)) {
    const enabled = known?.[`enabled_${name}s`] as string[] | undefined
    if (enabled && !enabled.includes(value as string)) {
      found.push(clash(at(name), `${driver} has no ${name} ${String(value)}; it has ${enabled.join(', ')}`))
    }
  }
  found.push(...unknownTraits(entry, traits))
  if (node && entry.provisionState && !isInUse(node) && nextStep(node, entry.provisionState) === null) {
    found.push(
      clash(at('provision_state'), `it is ${node.provision_state}, and can't go back to ${entry.provisionState}`),
    )
  }
  return found
}

export const unknownTraits = (
  { at, traits }: Pick<NodeEntry, 'at' | 'traits'>,
  known: ReadonlySet<string> | null,
): Mistake[] =>
  (traits ?? [])
    .filter(name => !name.startsWith('CUSTOM_') && known?.has(name) !== true)
    .map(name => clash(at('traits'), `${name} is no standard trait, and doesn't begin with CUSTOM_`))

class PortPlanner {
  readonly #byAddress: ReadonlyMap<string, Port>
  readonly #byUuid: ReadonlyMap<string, Port>
  readonly #nodes: ReadonlyMap<string, Node>

  constructor({ ports }: Present, nodes: ReadonlyMap<string, Node>) {
    this.#byAddress = new Map(ports.map(port => [port.address, port]))
    this.#byUuid = new Map(ports.map(port => [port.uuid, port]))
    this.#nodes = nodes
  }

  plan({ ports }: NodeEntry, node: Node | undefined, mistakes: Mistake[]) {
    const planned: Pick<NodeStep, 'newPorts' | 'changedPorts'> = { newPorts: [], changedPorts: [] }
    for (const entry of ports ?? []) {
      const port = this.#find(entry, node, mistakes)
      if (port === undefined) planned.newPorts.push({ ...(entry.uuid && { uuid: entry.uuid }), ...entry.members })
      else {
        const patches = patchesFor(entry.members, port, PORT_DOCUMENTS)
        if (patches.length > 0) planned.changedPorts.push({ uuid: port.uuid, patches })
      }
    }
    return planned
  }

  /** The present port of this entry. A clash if it belongs to another node or has another uuid. */
  #find({ at, uuid, members: { address } }: PortEntry, node: Node | undefined, mistakes: Mistake[]): Port | undefined {
    const [owner, mine] = [this.#byAddress.get(address), uuid === null ? undefined : this.#byUuid.get(uuid)]
    if (owner && (owner.node_uuid !== node?.uuid || (uuid !== null && owner.uuid !== uuid))) {
      mistakes.push(clash(at('address'), `${address} is the address of port ${owner.uuid} of ${this.#nameOf(owner)}`))
    }
    if (mine && mine.node_uuid !== node?.uuid) {
      mistakes.push(clash(at('uuid'), `${uuid} is a port of ${this.#nameOf(mine)}`))
    }
    return mine ?? owner
  }

  #nameOf({ node_uuid }: Port): string {
    return `node ${this.#nodes.get(node_uuid)?.name ?? node_uuid}`
  }
}
