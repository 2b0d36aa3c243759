// What callers see of a row: names where they may know them, and none where they may not.
import type { MachinePromise, MachineRow, PromiseKind } from './machine.ts'
import { isNoone } from './machine.ts'
import type { MachineSource, WaitingPart } from './rows.ts'
import { MEMBERS, shownIn, TEXTS } from '../shared/json.ts'

export interface NamesOfPeople {
  user(id: string): string
  project(id: string): string
}

/** What a caller sees. Callers with the same key see the same. */
export interface Sight {
  key: string
  project: string | null
  /** All machines, and not only those of the project. */
  seesAll: boolean
  /** The kinds of promises that are seen whosever they are. */
  open: ReadonlySet<PromiseKind>
  /** The kinds that are seen if they are the project's. */
  own: ReadonlySet<PromiseKind>
  /** Whose ports and whose BMC are seen, by how the machine is related to the project. */
  ports: readonly boolean[]
  bmc: readonly boolean[]
}

/** How a machine is related to a project, as bits: its owner, and who leases it. */
export const OWNER = 1
export const LESSEE = 2

interface Whose {
  owner: string | null
  lessee: string | null
}

export const relationTo = ({ project }: Pick<Sight, 'project'>, { owner, lessee }: Whose): number =>
  project === null ? 0 : (owner === project ? OWNER : 0) | (lessee === project ? LESSEE : 0)

/** Where it is found in networks: the MAC addresses of its ports, and the host of its BMC. */
function addressesOf({ node, ports }: MachineSource, sight: Sight): string[] {
  const relation = relationTo(sight, node)
  return [
    ...(sight.ports[relation] ? ports.map(({ address }) => address) : []),
    ...(sight.bmc[relation] && node.bmc !== null ? [node.bmc] : []),
  ]
}

export const isOpenTo = ({ kind, owner }: Pick<MachinePromise, 'kind' | 'owner'>, sight: Sight): boolean =>
  sight.open.has(kind) || (owner !== null && owner === sight.project && sight.own.has(kind))

export const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const nameOf = (id: string, name: (id: string) => string) => (isNoone(id) ? null : name(id))

/** Whose a promise is; nobody where the caller may not know. */
function whoseOf(promise: MachinePromise | null, sight: Sight, names: NamesOfPeople) {
  if (promise === null || !isOpenTo(promise, sight)) return { who: null, project: null }
  const { user, project, keeper } = promise
  return {
    who: nameOf(user, id => names.user(id)) ?? keeper,
    project: nameOf(project, id => names.project(id)),
  }
}

export function bookingOf(promise: MachinePromise, sight: Sight, names: NamesOfPeople) {
  const isOpen = isOpenTo(promise, sight)
  return {
    id: isOpen ? promise.id : null,
    name: isOpen ? promise.name : null,
    ...whoseOf(promise, sight, names),
    start: timeOf(promise.start),
    end: timeOf(promise.end),
  }
}

/** All of a machine's row but what depends on the caller's own name. `traitAt` says where a trait's name is. */
export function machineOf(row: MachineRow, sight: Sight, names: NamesOfPeople, traitAt: (name: string) => number) {
  const { source, promise, ahead } = row
  const { node, traits } = source
  const isOpen = promise !== null && isOpenTo(promise, sight)
  const projectOf = (id: string | null) =>
    id === null || (!sight.seesAll && id !== sight.project) ? null : names.project(id)
  return {
    uuid: node.uuid,
    name: node.name,
    rack: node.rack,
    slot: node.slot,
    class: node.resource_class,
    state: row.word,
    verb: row.verb,
    provision: node.provision_state,
    power: node.power_state,
    maintenance: node.maintenance === 1,
    owner: projectOf(node.owner),
    lessee: projectOf(node.lessee),
    ...whoseOf(promise, sight, names),
    what: isOpen ? promise.name : null,
    kind: promise?.kind ?? null,
    id: isOpen ? promise.id : null,
    since: timeOf(promise?.start ?? null),
    until: timeOf(promise?.end ?? null),
    purpose: isOpen ? promise.note : null,
    next: ahead.length === 0 ? null : bookingOf(ahead[0]!, sight, names),
    bookable: node.leasable === 1,
    reason: node.maintenance ? node.maintenance_reason : node.retired ? node.retired_reason : null,
    error: node.last_error,
    note: node.description,
    addresses: addressesOf(source, sight),
    traits: traits.map(traitAt),
  }
}

/** What is promised of a machine, in time. */
export const promisesOf = ({ promise, ahead }: MachineRow): readonly MachinePromise[] =>
  promise === null ? ahead : [promise, ...ahead]

export const spanOf = (machine: string, promise: MachinePromise, sight: Sight, names: NamesOfPeople) => {
  const { id, name, who, project, start, end } = bookingOf(promise, sight, names)
  return { machine, kind: promise.kind, id, name, who, project, start, end }
}

/** Nobody knows when a maintenance began or will end. */
export const maintenanceOf = (machine: string) => ({
  machine,
  kind: 'maintenance',
  id: null,
  name: null,
  who: null,
  project: null,
  start: null,
  end: null,
})

/** A place in the line; null for one that is not in it. */
interface InLine {
  place: number
  of: number
  start: number | null
  because: { machine: string; what: string | null; end: number } | null
  suits: readonly string[]
}

interface Reasons {
  relaxations?: readonly object[]
}

export function waitingOf(row: WaitingPart, line: InLine | null, names: NamesOfPeople) {
  const { because = null } = line ?? {}
  return {
    uuid: row.uuid,
    name: row.name,
    who: nameOf(row.user_id, id => names.user(id)),
    project: nameOf(row.project_id, id => names.project(id)),
    class: row.resource_class,
    traits: shownIn(row.traits, TEXTS),
    count: 1,
    for: timeOf(row.expires_at),
    since: timeOf(row.retried_at ?? row.created_at),
    gives_up: timeOf(row.wait_until),
    place: line?.place ?? null,
    of: line?.of ?? 0,
    start: timeOf(line?.start ?? null),
    because: because && { ...because, end: timeOf(because.end) },
    suits: line?.suits ?? [],
    state: row.state === 'error' ? 'gave up' : 'waiting',
    reason: row.last_error,
    relaxations: row.reasons === null ? [] : ((shownIn(row.reasons, MEMBERS) as Reasons).relaxations ?? []),
  }
}
