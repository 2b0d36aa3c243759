// Ports: the network cards of nodes, known by their MAC addresses. They are deleted with their node.
import type { Kysely, Selectable } from 'kysely'
import { canonicalUuid } from '../ledger/uuid.ts'
import { problem } from '../problems/problem.ts'
import type { NodeId, PortgroupId, PortId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import type { Sized } from '../store/sized.ts'
import { command, query, type Tools } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'
import { type Access, EVERYTHING, inView, type View } from './access.ts'
import { lockNodeById } from './nodes/rows.ts'

export type PortRow = Selectable<Schema['ports']>
export interface Port extends PortRow {
  node_uuid: string
  node_owner: string | null
  node_lessee: string | null
  portgroup_uuid: string | null
}

const selectPorts = (db: Kysely<Schema>) =>
  db
    .selectFrom('ports as p')
    .innerJoin('nodes as n', 'n.id', 'p.node_id')
    .leftJoin('portgroups as g', 'g.id', 'p.portgroup_id')
    .selectAll('p')
    .select(['n.uuid as node_uuid', 'n.owner as node_owner', 'n.lessee as node_lessee', 'g.uuid as portgroup_uuid'])

const portByUuid = query((db, a: { uuid: string }) => selectPorts(db).where('p.uuid', '=', a.uuid))
const portByAddress = query((db, a: { address: string }) => selectPorts(db).where('p.address', '=', a.address))
const portByName = query((db, a: { name: string }) => selectPorts(db).where('p.name', '=', a.name))
const portInView = query((db, a: { uuid: string } & View) =>
  selectPorts(db).where('p.uuid', '=', a.uuid).where(inView(a)),
)
/** Ports without their documents, for lists. */
type ListedPort = Omit<Port, 'extra' | 'local_link_connection' | 'internal_info'> & Sized<PortId>
const listed = (db: Kysely<Schema>, on: Tools) =>
  selectPorts(db)
    .clearSelect()
    .select(['p.id', 'p.uuid', 'p.node_id', 'p.portgroup_id', 'p.address', 'p.name', 'p.pxe_enabled', 'p.is_smartnic'])
    .select(['p.physical_network', 'p.created_at', 'p.updated_at'])
    .select(['n.uuid as node_uuid', 'n.owner as node_owner', 'n.lessee as node_lessee', 'g.uuid as portgroup_uuid'])
    .select(on.bytes('p.extra', 'p.local_link_connection', 'p.internal_info').as('bytes'))
export const portsById = query((db, a: { ids: readonly PortId[] }, on) =>
  selectPorts(db).where(on.isIn('p.id', a.ids, 'bigint')),
)
const portsInView = query((db, a: View, on) => listed(db, on).where(inView(a)).orderBy('p.id'))
const portsWithAddress = query((db, a: { address: string } & View, on) =>
  listed(db, on).where('p.address', '=', a.address).where(inView(a)),
)
const portsOfNode = query((db, a: { node: NodeId } & View, on) =>
  listed(db, on).where('p.node_id', '=', a.node).where(inView(a)).orderBy('p.id'),
)
const portsOfGroup = query((db, a: { group: PortgroupId } & View, on) =>
  listed(db, on).where('p.portgroup_id', '=', a.group).where(inView(a)).orderBy('p.id'),
)
/** The columns that may change after creation. */
const mutable = (a: Omit<PortRow, 'id'>) => ({
  node_id: a.node_id,
  portgroup_id: a.portgroup_id,
  address: a.address,
  name: a.name,
  pxe_enabled: a.pxe_enabled,
  is_smartnic: a.is_smartnic,
  physical_network: a.physical_network,
  local_link_connection: a.local_link_connection,
  internal_info: a.internal_info,
  extra: a.extra,
  updated_at: a.updated_at,
})
const newColumns = (a: Omit<PortRow, 'id'>) => ({ uuid: a.uuid, created_at: a.created_at, ...mutable(a) })
const insertPort = command((db, a: Omit<PortRow, 'id'>) => db.insertInto('ports').values(newColumns(a)))
const insertFreePort = command((db, a: Omit<PortRow, 'id'>) =>
  db
    .insertInto('ports')
    .values(newColumns(a))
    .onConflict(c => c.column('address').doNothing()),
)
const updatePort = command((db, a: PortRow) => db.updateTable('ports').set(mutable(a)).where('id', '=', a.id))
const removePort = command((db, a: { id: PortId }) => db.deleteFrom('ports').where('id', '=', a.id))

export function* findPort(uuid: string, { view, permit }: Access): Read<Port> {
  const found = yield* one(portInView({ uuid: canonicalUuid(uuid) ?? uuid, ...view }))
  if (!found) throw problem('metal_not_found', { what: 'Port', name: uuid })
  permit({ owner: found.node_owner, lessee: found.node_lessee })
  return found
}

interface PortFilters {
  node?: NodeId
  group?: PortgroupId
  address?: string
}

/** The ports in view that pass all the filters. */
export function* listPorts(view: View, of: PortFilters): Read<ListedPort[]> {
  const found = yield* all(mostSelective(view, of))
  return found.filter(
    port =>
      (of.node === undefined || port.node_id === of.node) && (of.group === undefined || port.portgroup_id === of.group),
  )
}

/** The query by the filter that leaves the fewest ports. */
function mostSelective(view: View, { node, group, address }: PortFilters) {
  if (address !== undefined) return portsWithAddress({ address, ...view })
  if (group !== undefined) return portsOfGroup({ group, ...view })
  if (node !== undefined) return portsOfNode({ node, ...view })
  return portsInView(view)
}

export function* createPort(port: Omit<PortRow, 'id'>): Write<Port> {
  yield* requireFree(port)
  yield* requireSameNetwork(port)
  yield* run(insertPort(port))
  yield* mark({ kind: 'port', id: port.uuid })
  return (yield* one(portByUuid({ uuid: port.uuid })))!
}

/** Adds the port unless one has its address, also if someone else adds that one right now. Returns whether it did. */
export function* addPort(port: Omit<PortRow, 'id'>): Write<boolean> {
  if ((yield* run(insertFreePort(port))) === 0) return false
  yield* mark({ kind: 'port', id: port.uuid })
  return true
}

export function* portWithAddress(address: string): Read<Port | undefined> {
  return yield* one(portByAddress({ address }))
}

export function* savePort(before: Port, port: PortRow): Write<Port> {
  yield* requireFree(port)
  const isBondedAnew = port.portgroup_id !== before.portgroup_id || port.physical_network !== before.physical_network
  if (isBondedAnew) yield* requireSameNetwork(port)
  yield* run(updatePort(port))
  yield* mark({ kind: 'port', id: port.uuid })
  return (yield* one(portByUuid({ uuid: port.uuid })))!
}

export function* deletePort(uuid: string, access: Access): Write<void> {
  const port = yield* findPort(uuid, access)
  yield* run(removePort({ id: port.id }))
  yield* mark({ kind: 'port', id: port.uuid })
}

function* requireFree({ id, uuid, address, name }: Omit<PortRow, 'id'> & { id?: PortId }): Read<void> {
  const refuse = (reason: string) => problem('metal_exists', { reason })
  const twin = yield* one(portByUuid({ uuid }))
  if (twin && twin.id !== id) throw refuse(`A port with UUID ${uuid} already exists.`)
  const other = yield* one(portByAddress({ address }))
  if (other && other.id !== id) throw refuse(`A port with MAC address ${address} already exists.`)
  const namesake = name === null ? undefined : yield* one(portByName({ name }))
  if (namesake && namesake.id !== id) throw refuse(`A port with name ${name} already exists.`)
}

/** The ports of a group are bonded, so all are in one physical network. The node's lock keeps others out meanwhile. */
function* requireSameNetwork(port: Omit<PortRow, 'id'>): Write<void> {
  const { uuid, node_id, portgroup_id: group, physical_network } = port
  if (group === null) return
  yield* lockNodeById(node_id)
  const others = (yield* all(portsOfGroup({ group, ...EVERYTHING.view }))).filter(other => other.uuid !== uuid)
  const other = others.find(found => found.physical_network !== physical_network)
  if (!other) return
  const reason =
    `Port ${uuid} has the physical network ${physical_network ?? 'none'}, but the ports of its group ` +
    `${other.portgroup_uuid} have ${other.physical_network ?? 'none'}.`
  throw problem('metal_in_use', { reason })
}
