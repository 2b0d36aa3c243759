// Reads leasables from the database: hosts and nodes with their capacity, their properties and their bookings.
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { OWNER as NODE_OWNER } from '../../metal/nodes/rows.ts'
import { comesBack, hasMachine, isUsable } from '../../metal/nodes/states.ts'
import { AMOUNTS, shownIn } from '../../shared/json.ts'
import type { NodeId, ProviderId } from '../../store/schema/ids.ts'
import type { Schema } from '../../store/schema.ts'
import { command, query } from '../../store/statement.ts'
import { all, note, type Read, together, type Write } from '../../store/transaction.ts'
import type { Booked, Leasable, Size, SIZES } from './calendar.ts'
import type { Facts } from '../pool/properties.ts'

/** A leasable with its version. */
export interface RevisedLeasable extends Leasable {
  version: number
  /** The uuid of the host's child provider, which has an inventory for each started reservation. */
  reservationProvider: string | null
  /** The id of the node; null for a host. */
  nodeId: NodeId | null
  /** The traits of the node, or of the host's own provider. */
  traits: ReadonlySet<string>
  /** How much of each class one server may take of a host; empty for a node. */
  units: ReadonlyMap<string, Units>
  /** The present state of a node; null for a host. */
  node: NodeNow | null
}

interface Units {
  min_unit: number
  max_unit: number
  step_size: number
}

interface NodeNow {
  instance: string | null
  hasMachine: boolean
  /** Until when a command may run on it, which its user has there. */
  keptUntil: number | null
  /** The node's own state allows giving it out now. */
  isOpen: boolean
  /** A conductor is just making it available. */
  isComing: boolean
}

/** The same query for all leasables and for some. */
function ofLeasables<TB extends keyof Schema, Row>(
  column: string,
  build: (db: Kysely<Schema>) => SelectQueryBuilder<Schema, TB, Row>,
) {
  return {
    every: query((db, _: object) => build(db)),
    some: query((db, a: { ids: readonly ProviderId[] }, on) => build(db).where(on.isIn(column, a.ids, 'bigint'))),
  }
}

const buildRows = (db: Kysely<Schema>) =>
  db
    .selectFrom('leasables')
    .leftJoin('nodes', 'nodes.provider_id', 'leasables.provider_id')
    .leftJoin('allocations', 'allocations.node_id', 'nodes.id')
    .leftJoin('reservations', 'reservations.node_id', 'nodes.id')
    .select(['leasables.provider_id as id', 'kind', 'leasables.name', 'reservation_provider', 'reservable', 'version'])
    .select([
      'nodes.resource_class',
      'nodes.maintenance',
      'nodes.retired',
      'nodes.instance_uuid',
      'nodes.provision_state',
      'nodes.power_state',
      'nodes.target_provision_state',
      'nodes.id as node_id',
    ])
    .select(['allocations.expires_at', 'allocations.kept_until', 'reservations.expires_at as held_until'])
    .orderBy('leasables.provider_id')
const rows = ofLeasables('leasables.provider_id', buildRows)
const capacities = ofLeasables('leasables.provider_id', db =>
  db
    .selectFrom('leasables')
    .innerJoin('inventories', 'inventories.provider_id', 'leasables.provider_id')
    .innerJoin('resource_classes', 'resource_classes.id', 'inventories.class_id')
    .select(['leasables.provider_id as id', 'resource_classes.name', 'total', 'reserved'])
    .select(['min_unit', 'max_unit', 'step_size'])
    .where('leasables.kind', '=', 'host'),
)
const capabilities = ofLeasables('provider_id', db =>
  db.selectFrom('host_capabilities').select(['provider_id as id', 'name', 'value']),
)
const traits = ofLeasables('leasables.provider_id', db =>
  db
    .selectFrom('leasables')
    .innerJoin('provider_traits', 'provider_traits.provider_id', 'leasables.provider_id')
    .innerJoin('traits', 'traits.id', 'provider_traits.trait_id')
    // One row each: a Nova gives its hosts dozens of traits.
    .select(['leasables.provider_id as id', sql<string>`string_agg(traits.name, ' ' order by traits.name)`.as('names')])
    // Of a node only its own: what Nova adds there is none of Bare Metal's.
    .where(e => e.or([e('leasables.kind', '=', 'host'), e('provider_traits.origin', '=', NODE_OWNER)]))
    .groupBy('leasables.provider_id'),
)
const bookings = ofLeasables('provider_id', db => db.selectFrom('bookings').selectAll().orderBy('start_at'))
const lockRows = command((db, a: { ids: readonly ProviderId[] }, on) =>
  on.lock(
    db
      .selectFrom('leasables')
      .select('provider_id')
      .where(on.isIn('provider_id', a.ids, 'bigint'))
      .orderBy('provider_id'),
  ),
)
// All that is shown of a host's row is its own, so it is as new as the lock.
const lockHostRows = command((db, a: { ids: readonly ProviderId[] }, on) =>
  on.lock(buildRows(db).where(on.isIn('leasables.provider_id', a.ids, 'bigint')), 'leasables'),
)
// Both allocating and booking a node lock its row.
const lockNodes = command((db, a: { ids: readonly ProviderId[] }, on) =>
  on.lock(
    db
      .selectFrom('nodes')
      .select('id')
      .where(on.isIn('provider_id', a.ids, 'bigint'))
      .orderBy('id'),
  ),
)

const every = () =>
  [rows.every({}), capacities.every({}), capabilities.every({}), traits.every({}), bookings.every({})] as const
const some = (a: { ids: readonly ProviderId[] }) =>
  [rows.some(a), capacities.some(a), capabilities.some(a), traits.some(a), bookings.some(a)] as const

export function* allLeasables(): Read<RevisedLeasable[]> {
  return assemble(yield* together(...every()))
}

/** The leasables among these ids. */
export function* leasablesOf(ids: readonly ProviderId[]): Read<RevisedLeasable[]> {
  return assemble(yield* together(...some({ ids })))
}

/**
 * Locks and reads them. Lock order: leases, leasables, then consumers and providers. The bookings of a host are not read
 * if they are known: its version grows with each change of them.
 */
export function* lockLeasables(ids: readonly ProviderId[], known: Known = NOTHING_KNOWN): Write<RevisedLeasable[]> {
  if (ids.length > 0 && ids.every(id => known.get(id)?.kind === 'host')) return yield* lockKnownHosts(ids, known)
  // Separate statements after the lock: only then do they see what the previous holder committed.
  const [, , ...parts] = yield* together(lockRows({ ids }), lockNodes({ ids }), ...some({ ids }))
  return assemble(parts)
}

/** The leasables that memory has. */
export type Known = Pick<ReadonlyMap<ProviderId, RevisedLeasable>, 'get'>
const NOTHING_KNOWN: Known = new Map()

function* lockKnownHosts(ids: readonly ProviderId[], known: Known): Write<RevisedLeasable[]> {
  const a = { ids }
  const parts = [capacities.some(a), capabilities.some(a), traits.some(a)] as const
  const [rows, ...facts] = yield* together(lockHostRows(a), ...parts)
  const isNew = new Set(rows.filter(({ id, version }) => known.get(id)?.version !== version).map(({ id }) => id))
  const read = isNew.size === 0 ? [] : yield* all(bookings.some({ ids: [...isNew] }))
  return assemble([rows, ...facts, read]).map(host =>
    isNew.has(host.id) ? host : { ...host, booked: known.get(host.id)!.booked },
  )
}

type RowsOf<Part> = Part extends { every: (args: object) => { row?: infer Row } } ? NonNullable<Row>[] : never
type Parts = readonly [
  RowsOf<typeof rows>,
  RowsOf<typeof capacities>,
  RowsOf<typeof capabilities>,
  RowsOf<typeof traits>,
  RowsOf<typeof bookings>,
]

const SIZE_OF: Record<string, (typeof SIZES)[number]> = { VCPU: 'vcpus', MEMORY_MB: 'memory_mb', DISK_GB: 'disk_gb' }

function assemble([rows, capacityRows, capabilityRows, traitRows, bookingRows]: Parts): RevisedLeasable[] {
  const capacities = Map.groupBy(capacityRows, row => row.id)
  const capabilities = Map.groupBy(capabilityRows, row => row.id)
  const traits = traitsIn(traitRows)
  const booked = Map.groupBy(bookingRows, row => row.provider_id)
  return rows.map(row => {
    const { id, kind, name, version } = row
    const has = capacities.get(id) ?? []
    const capacity = capacityOf(has)
    const said = new Map((capabilities.get(id) ?? []).map(({ name, value }) => [name, value]))
    const columns = kind === 'host' ? hostColumns(id, name, capacity) : { resource_class: row.resource_class ?? '' }
    return {
      id,
      kind,
      name,
      version,
      capacity,
      isReservable: row.reservable === 1 && (kind === 'host' || canBeBooked(row, booked.get(id) ?? [])),
      nodeId: row.node_id,
      reservationProvider: row.reservation_provider,
      facts: factsOf(columns, said),
      traits: traits.get(id) ?? NO_TRAITS,
      units: new Map(has.map(({ name, min_unit, max_unit, step_size }) => [name, { min_unit, max_unit, step_size }])),
      node: nodeNow(row),
      booked: [...otherwiseHad(row, booked.get(id) ?? []), ...(booked.get(id) ?? []).map(bookedOf)],
    }
  })
}

function capacityOf(inventories: RowsOf<typeof capacities>): Size {
  const capacity: Size = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
  const extras: Record<string, number> = {}
  for (const { name, total, reserved } of inventories) {
    const size = SIZE_OF[name]
    if (size === undefined) extras[name] = total - reserved
    else capacity[size] = total - reserved
  }
  return Object.keys(extras).length === 0 ? capacity : { ...capacity, extras }
}

const NO_TRAITS: ReadonlySet<string> = new Set()

/** Hosts with the same traits share a set: most hosts of a cloud are alike. */
function traitsIn(rows: RowsOf<typeof traits>): Map<ProviderId, ReadonlySet<string>> {
  const sets = new Map<string, ReadonlySet<string>>()
  return new Map(rows.map(({ id, names }) => [id, sets.getOrInsertComputed(names, () => new Set(names.split(' ')))]))
}

/** Stands for the lease where a node is taken by an allocation or a hold instead. */
export const NO_LEASE = ''

type Row = RowsOf<typeof rows>[number]

const isLeased = ({ instance_uuid }: Row, booked: readonly BookingRow[]): boolean =>
  booked.some(({ allocation }) => allocation !== null && allocation === instance_uuid)

/** The node is available, or becomes available without an operator when its present user gives it back. */
function canBeBooked(row: Row, booked: readonly BookingRow[]): boolean {
  const { maintenance, retired, provision_state, power_state, target_provision_state } = row
  if (provision_state === null || maintenance || retired) return false
  // No conductor has ever contacted this machine, so nothing is known about it.
  if (power_state === null && target_provision_state === null) return false
  const isGivenBack = isLeased(row, booked) || row.expires_at !== null
  return comesBack({ provision_state, target_provision_state }, isGivenBack)
}

function nodeNow(row: Row): NodeNow | null {
  const { instance_uuid, maintenance, retired, provision_state, power_state, target_provision_state } = row
  if (provision_state === null || maintenance === null || retired === null) return null
  return {
    instance: instance_uuid,
    hasMachine: hasMachine({ provision_state }),
    keptUntil: row.kept_until,
    isOpen: isUsable({ provision_state, maintenance, retired }) && power_state !== null && instance_uuid === null,
    isComing: target_provision_state === 'available',
  }
}

/** Shows an allocation or hold that is not a lease's as a booking until it expires. */
function otherwiseHad(row: Row, booked: readonly BookingRow[]): Booked[] {
  const { instance_uuid, expires_at, held_until } = row
  const until = [
    ...(instance_uuid !== null && !isLeased(row, booked) ? [expires_at ?? Infinity] : []),
    ...(held_until === null ? [] : [held_until]),
  ]
  const nothing = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
  return until.map(free => {
    return { lease: NO_LEASE, reservation: NO_LEASE, start: 0, end: free, free, slots: 1, isWhole: true, ...nothing }
  })
}

export const HYPERVISOR = {
  hypervisor_type: 'QEMU',
  hypervisor_version: 8_000_000,
  cpu_info: '{}',
  availability_zone: 'nova',
} as const

const hostColumns = (id: number, name: string, { vcpus, memory_mb, disk_gb }: Size) => ({
  ...HYPERVISOR,
  id,
  hypervisor_hostname: name,
  service_name: name,
  vcpus,
  memory_mb,
  local_gb: disk_gb,
})

function factsOf(columns: Record<string, string | number>, said: ReadonlyMap<string, string>): Facts {
  return key => (Object.hasOwn(columns, key) ? columns[key] : said.get(key))
}

export type BookingRow = RowsOf<typeof bookings>[number]

const bookedOf = (row: BookingRow): Booked => ({
  lease: row.lease_id,
  reservation: row.reservation_id,
  start: row.start_at,
  end: row.end_at,
  free: row.free_at,
  slots: row.slots,
  isWhole: row.is_whole === 1,
  vcpus: row.vcpus,
  memory_mb: row.memory_mb,
  disk_gb: row.disk_gb,
  allocation: row.allocation,
  ...(row.extras !== null && { extras: shownIn(row.extras, AMOUNTS) }),
})

/** Tells the calendars in memory the new state of a leasable; null when it was removed. */
export function* noteLeasable(id: ProviderId, leasable: RevisedLeasable | null): Write<void> {
  yield* note([{ provider: id, room: 'leases', attached: leasable }])
}
