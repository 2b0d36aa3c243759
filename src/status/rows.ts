// Reads what the board shows of machines, some at a time, and the allocations that wait or gave up.
import { sql } from 'kysely'
import type { AllocationRow } from '../metal/allocations/rows.ts'
import { OWNER } from '../metal/nodes/rows.ts'
import { limits } from '../shared/limits.ts'
import type { NodeId, ProviderId } from '../store/schema/ids.ts'
import { inRow, query } from '../store/statement.ts'
import { all, type Read, together } from '../store/transaction.ts'
import { type Place, placeOf } from './place.ts'
import { bmcOf } from './reach.ts'

const everyId = query((db, _: object) => db.selectFrom('nodes').select('id').orderBy('id'))
const nodesWith = query((db, a: { ids: readonly NodeId[] }, on) =>
  db
    .selectFrom('nodes as n')
    .leftJoin('chassis as c', 'c.id', 'n.chassis_id')
    .select(['n.id', 'n.uuid', 'n.provider_id', 'n.name', 'n.resource_class', 'n.provision_state', 'n.power_state'])
    .select(['n.maintenance', 'n.maintenance_reason', 'n.retired', 'n.retired_reason', 'n.fault', 'n.last_error'])
    .select(['n.description', 'n.instance_uuid', 'n.owner', 'n.lessee', 'n.leasable', 'n.protected', 'n.extra'])
    .select('n.driver_info')
    .select(['c.uuid as chassis_uuid', 'c.extra as chassis_extra', 'c.description as chassis_description'])
    .where(on.isIn('n.id', a.ids, 'bigint')),
)
const allocationsOn = query((db, a: { ids: readonly NodeId[] }, on) =>
  db
    .selectFrom('allocations')
    .select(['node_id', 'uuid', 'name', 'owner', 'project_id', 'user_id', 'expires_at', 'created_at', 'note'])
    .select(['keeper', 'planned_end', 'ending_at'])
    .where(on.isIn('node_id', a.ids, 'bigint')),
)
const holdsOn = query((db, a: { ids: readonly NodeId[] }, on) =>
  db
    .selectFrom('reservations')
    .select(['node_id', 'uuid', 'owner', 'project_id', 'expires_at', 'created_at'])
    .where(on.isIn('node_id', a.ids, 'bigint')),
)
const portsOn = query((db, a: { ids: readonly NodeId[] }, on) =>
  db
    .selectFrom('ports')
    .select(['node_id', 'uuid', 'address'])
    .where(on.isIn('node_id', a.ids, 'bigint'))
    .orderBy('id'),
)
const claimsOn = query((db, a: { providers: readonly ProviderId[] }, on) =>
  db
    .selectFrom('claims as l')
    .innerJoin('consumers as c', 'c.id', 'l.consumer_id')
    .select(['l.provider_id', 'l.created_at', 'c.uuid', 'c.project_id', 'c.user_id', 'c.expires_at'])
    .where(on.isIn('l.provider_id', a.providers, 'bigint')),
)
const serversNamed = query((db, a: { uuids: readonly string[] }, on) =>
  db.selectFrom('servers').select(['uuid', 'name', 'project_id', 'user_id']).where(on.isIn('uuid', a.uuids)),
)
const traitsOf = query((db, a: { providers: readonly ProviderId[] }, on) =>
  db
    .selectFrom('provider_traits')
    .select(['provider_id', inRow<string>('traits', 'name', 'trait_id').as('name')])
    .where(on.isIn('provider_id', a.providers, 'bigint'))
    .where('origin', '=', OWNER),
)
const bookingsOf = query((db, a: { providers: readonly ProviderId[] }, on) =>
  db
    .selectFrom('bookings as b')
    .innerJoin('leases as l', 'l.id', 'b.lease_id')
    .select(['b.provider_id', 'b.start_at', 'b.end_at', 'b.free_at', 'b.allocation'])
    .select(['l.id', 'l.name', 'l.project_id', 'l.user_id'])
    .where(on.isIn('b.provider_id', a.providers, 'bigint'))
    .orderBy('b.start_at'),
)

type RowOf<Ask> = Ask extends (args: never) => { row?: infer Row } ? NonNullable<Row> : never

type ReadNode = RowOf<typeof nodesWith>
/** Without what only tells where it stands and how it is reached, which may be large, and secret. */
type NodePart = Omit<ReadNode, 'extra' | 'chassis_extra' | 'chassis_description' | 'driver_info'> &
  Place & { bmc: string | null }
type AllocationPart = RowOf<typeof allocationsOn>
type HoldPart = RowOf<typeof holdsOn>
type PortPart = RowOf<typeof portsOn>
type ClaimPart = RowOf<typeof claimsOn>
type ServerPart = RowOf<typeof serversNamed>
export type BookingPart = RowOf<typeof bookingsOf>

/** All that a machine's row is made of. */
export interface MachineSource {
  node: NodePart
  traits: readonly string[]
  ports: readonly PortPart[]
  allocation: AllocationPart | null
  /** It may have expired. */
  hold: HoldPart | null
  claims: readonly ClaimPart[]
  server: ServerPart | null
  /** By their start. */
  bookings: readonly BookingPart[]
}

export function* everyNodeId(): Read<NodeId[]> {
  return (yield* all(everyId({}))).map(({ id }) => id)
}

function standing({ extra, chassis_extra, chassis_description, driver_info, ...node }: ReadNode): NodePart {
  return {
    ...node,
    bmc: bmcOf(driver_info),
    ...placeOf({ name: node.name, extra, chassis_extra, chassis_description }),
  }
}

/** The machines with these ids; those that are gone are left out. */
export function* machinesWith(ids: readonly NodeId[]): Read<MachineSource[]> {
  const nodes = yield* all(nodesWith({ ids }))
  if (nodes.length === 0) return []
  const providers = nodes.map(node => node.provider_id)
  const uuids = nodes.flatMap(({ instance_uuid }) => instance_uuid ?? [])
  const [allocations, ports, holds, claims, servers, traits, bookings] = yield* together(
    allocationsOn({ ids }),
    portsOn({ ids }),
    holdsOn({ ids }),
    claimsOn({ providers }),
    serversNamed({ uuids }),
    traitsOf({ providers }),
    bookingsOf({ providers }),
  )
  const allocationOf = new Map(allocations.map(row => [row.node_id, row]))
  const holdOf = new Map(holds.map(row => [row.node_id, row]))
  const serverOf = new Map(servers.map(row => [row.uuid, row]))
  const portsBy = Map.groupBy(ports, row => row.node_id)
  const claimsBy = Map.groupBy(claims, row => row.provider_id)
  const traitsBy = Map.groupBy(traits, row => row.provider_id)
  const bookingsBy = Map.groupBy(bookings, row => row.provider_id)
  return nodes.map(node => ({
    node: standing(node),
    traits: (traitsBy.get(node.provider_id) ?? []).map(({ name }) => name).sort(),
    ports: portsBy.get(node.id) ?? [],
    allocation: allocationOf.get(node.id) ?? null,
    hold: holdOf.get(node.id) ?? null,
    claims: claimsBy.get(node.provider_id) ?? [],
    server: (node.instance_uuid !== null && serverOf.get(node.instance_uuid)) || null,
    bookings: bookingsBy.get(node.provider_id) ?? [],
  }))
}

const allWaiting = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .selectAll()
    .where('state', '=', sql.lit('allocating' as const)),
)
const lastErrors = query((db, a: { limit: number }) =>
  db
    .selectFrom('allocations')
    .selectAll()
    .where('state', '=', sql.lit('error' as const))
    .orderBy('id', 'desc')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const allocationsNamed = query((db, a: { uuids: readonly string[] }, on) =>
  db.selectFrom('allocations').selectAll().where(on.isIn('uuid', a.uuids)),
)

export type WaitingPart = AllocationRow

/** Those that wait, and the last that gave up. */
export function* waitingNow(): Read<WaitingPart[]> {
  const [waiting, errors] = yield* together(allWaiting({}), lastErrors({ limit: limits.statusGaveUpMax }))
  return [...waiting, ...errors]
}

export function* allocationsWith(uuids: readonly string[]): Read<WaitingPart[]> {
  return uuids.length === 0 ? [] : yield* all(allocationsNamed({ uuids }))
}
