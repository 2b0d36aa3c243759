// An inspection has ended: what was found becomes properties, traits, a resource class and ports, in one transaction
// with the end of the step. What can't be set is left out and noted: a machine must not fail for ever because of it.
import { limits } from '../../shared/limits.ts'
import { EMPTY, jsonIn, jsonText, MEMBERS } from '../../shared/json.ts'
import { isScalar } from '../../shared/scalar.ts'
import type { HistoryLine } from '../../store/node-history.ts'
import { mark, type Write } from '../../store/transaction.ts'
import type { Done, FoundPort, Json } from '../drivers/port.ts'
import { addPort, portWithAddress } from '../ports.ts'
import { placementClass } from './class-names.ts'
import { applyRules, type InspectionRule } from './inspection.ts'
import { inventoryOn, saveInventory } from './inventory.ts'
import { countsForBooking } from './lease-promise.ts'
import type { NodeRow } from './rows.ts'
import { traitsOn } from './traits.ts'
import { traitsChanged } from './what-became.ts'

/** The rules in force, time and chance. */
export interface Inspecting {
  rules: readonly InspectionRule[]
  now: number
  newUuid: () => string
}

interface Inspected {
  changes: Partial<NodeRow>
  /** All traits of the node; undefined if they stay as they are. */
  traits: readonly string[] | undefined
}

export function* inspected(node: NodeRow, found: Done, { rules, now, newUuid }: Inspecting): Write<Inspected> {
  const report = found.inventory ?? {}
  const { resourceClass, properties, traits: named, invalid } = applyRules(rules, report)
  const before = yield* inventoryOn(node.id)
  const present = yield* traitsOn(node)
  const { traits, given, tooMany } = traitsAfter({
    present,
    before: before?.traits ?? [],
    named,
    isBooked: countsForBooking(node),
  })
  const isChanged = traits.join() !== present.join()
  if (isChanged) yield* mark(traitsChanged(node, present, traits))
  const portNotes = yield* addPorts(node, found.ports ?? [], now, newUuid)
  const notes = [...(found.notes ?? []), ...traitNotes(invalid, tooMany), ...portNotes]
  yield* saveInventory(node.id, { report, traits: given, notes }, now)
  yield* mark({ kind: 'node', id: node.uuid, history: inspectionLine(node, report, notes) })
  const resource_class = node.resource_class ?? (node.instance_uuid === null ? resourceClass : null)
  return {
    changes: {
      properties: jsonText({ ...propertiesAfter(jsonIn(node.properties, MEMBERS), report), ...properties }),
      resource_class,
      placement_class: placementClass(resource_class),
      ...(typeof secureBootIn(report) === 'boolean' && { secure_boot: secureBootIn(report) ? 1 : 0 }),
      inspection_finished_at: now,
    },
    traits: isChanged ? traits : undefined,
  }
}

/** `Inspection found cpus: 16, memory_mb: 65536, gpus: 2. Notes: …`. */
function inspectionLine({ uuid }: NodeRow, report: Json, notes: readonly string[]): HistoryLine {
  const amounts = ['cpus', 'memory_mb', 'local_gb'].flatMap(name =>
    isScalar(report[name]) ? `${name}: ${report[name]}` : [],
  )
  const lists = ['gpus', 'disks', 'interfaces'].flatMap(name => {
    const list = report[name]
    return Array.isArray(list) && list.length > 0 ? `${name}: ${list.length}` : []
  })
  const found = [...amounts, ...lists].join(', ') || 'nothing that has a number'
  const left = notes.length > 0 ? ` Notes: ${notes.join('; ')}.` : ''
  // A BMC's words may hold characters that no database takes.
  const event = `Inspection found ${found}.${left}`.replaceAll(/\p{Cc}+/gu, ' ')
  return { node: uuid, type: 'change', event: event.slice(0, limits.historyEventMax) }
}

const secureBootIn = (report: Json) => (report['boot'] as Json | undefined)?.['secure_boot']

const PROPERTIES = ['cpus', 'memory_mb', 'local_gb', 'cpu_arch', 'vendor']

function propertiesAfter(present: Json, report: Json): Json {
  const basics = PROPERTIES.filter(name => (report[name] ?? null) !== null).map(name => [name, report[name]])
  const { capabilities } = report
  return {
    ...present,
    ...Object.fromEntries(basics),
    ...(typeof capabilities === 'string' && {
      capabilities: capabilitiesAfter(present['capabilities'], capabilities),
    }),
  }
}

/** `a:b,c:d`: those that were found replace those of the same name, and the others stay. */
export function capabilitiesAfter(present: unknown, found: string): string {
  const pairs = [typeof present === 'string' ? present : '', found].join(',').split(',')
  const named = pairs
    .filter(pair => pair.trim() !== '')
    .map(pair => [pair.split(':', 1)[0]!.trim(), pair.trim()] as const)
  return [...new Map(named).values()].join(',')
}

interface TraitsBefore {
  present: readonly string[]
  /** Those that the inspection before gave. */
  before: readonly string[]
  /** Those that the rules name now, the important ones first. */
  named: readonly string[]
  /** A booking may count on the traits that are there. */
  isBooked: boolean
}

/** A trait that a person has given stays, and is never counted as the rules'. */
export function traitsAfter({ present, before, named, isBooked }: TraitsBefore) {
  const gone = isBooked ? [] : before.filter(name => !named.includes(name))
  const kept = present.filter(name => !gone.includes(name))
  const fresh = named.filter(name => !kept.includes(name))
  const room = Math.max(0, limits.nodeTraitsMax - kept.length)
  const added = fresh.slice(0, room)
  return {
    traits: [...kept, ...added].sort(),
    given: [...before.filter(name => kept.includes(name)), ...added],
    tooMany: fresh.slice(room),
  }
}

const traitNotes = (invalid: readonly string[], tooMany: readonly string[]) => [
  ...(invalid.length > 0 ? [`no trait names, so not set: ${invalid.join(', ')}`] : []),
  ...(tooMany.length > 0 ? [`a node can have ${limits.nodeTraitsMax} traits; not set: ${tooMany.join(', ')}`] : []),
]

/** Adds the ports whose addresses nobody has. Returns which others have. */
function* addPorts(node: NodeRow, found: readonly FoundPort[], now: number, newUuid: () => string): Write<string[]> {
  const notes: string[] = []
  // In one order everywhere: two nodes that claim the same addresses must not wait for each other.
  const ports = new Map(found.map(port => [port.address.toLowerCase(), port]))
  for (const [address, port] of [...ports].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limits.portsPerNodeMax)) {
    const isAdded = yield* addPort({
      uuid: newUuid(),
      node_id: node.id,
      portgroup_id: null,
      address,
      name: null,
      pxe_enabled: port.pxeEnabled === false ? 0 : 1,
      is_smartnic: 0,
      physical_network: null,
      local_link_connection: EMPTY,
      internal_info: EMPTY,
      extra: jsonText(port.extra ?? {}),
      created_at: now,
      updated_at: null,
    })
    if (isAdded) continue
    const other = yield* portWithAddress(address)
    if (other && other.node_id !== node.id) {
      notes.push(`${address} is the address of a port of node ${other.node_uuid} already, so it gets none here`)
    }
  }
  return notes
}
