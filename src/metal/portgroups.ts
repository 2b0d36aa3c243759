// Port groups: ports of a node that are bonded. They are deleted with their node.
import type { Kysely, Selectable } from 'kysely'
import { canonicalUuid } from '../ledger/uuid.ts'
import { problem } from '../problems/problem.ts'
import type { NodeId, PortgroupId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import type { Sized } from '../store/sized.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'
import { type Access, inView, type View } from './access.ts'
import { lockNodeById } from './nodes/rows.ts'

export type PortgroupRow = Selectable<Schema['portgroups']>
export interface Portgroup extends PortgroupRow {
  node_uuid: string
  node_owner: string | null
  node_lessee: string | null
}

const selectGroups = (db: Kysely<Schema>) =>
  db
    .selectFrom('portgroups as g')
    .innerJoin('nodes as n', 'n.id', 'g.node_id')
    .selectAll('g')
    .select(['n.uuid as node_uuid', 'n.owner as node_owner', 'n.lessee as node_lessee'])

const byUuid = query((db, a: { uuid: string }) => selectGroups(db).where('g.uuid', '=', a.uuid))
const byName = query((db, a: { name: string }) => selectGroups(db).where('g.name', '=', a.name))
const byAddress = query((db, a: { address: string }) => selectGroups(db).where('g.address', '=', a.address))
const uuidInView = query((db, a: { uuid: string } & View) =>
  selectGroups(db).where('g.uuid', '=', a.uuid).where(inView(a)),
)
const nameInView = query((db, a: { name: string } & View) =>
  selectGroups(db).where('g.name', '=', a.name).where(inView(a)),
)
/** Port groups without their documents, for lists. */
type ListedPortgroup = Omit<Portgroup, 'properties' | 'extra'> & Sized<PortgroupId>
const groupsInView = query((db, a: View, on) =>
  selectGroups(db)
    .clearSelect()
    .select(['g.id', 'g.uuid', 'g.node_id', 'g.name', 'g.address', 'g.mode', 'g.standalone_ports_supported'])
    .select(['g.created_at', 'g.updated_at'])
    .select(['n.uuid as node_uuid', 'n.owner as node_owner', 'n.lessee as node_lessee'])
    .select(on.bytes('g.properties', 'g.extra').as('bytes'))
    .where(inView(a))
    .orderBy('g.id'),
)
export const portgroupsById = query((db, a: { ids: readonly PortgroupId[] }, on) =>
  selectGroups(db).where(on.isIn('g.id', a.ids, 'bigint')),
)
const insert = command((db, a: Omit<PortgroupRow, 'id'>) =>
  db.insertInto('portgroups').values({
    uuid: a.uuid,
    node_id: a.node_id,
    name: a.name,
    address: a.address,
    mode: a.mode,
    standalone_ports_supported: a.standalone_ports_supported,
    properties: a.properties,
    extra: a.extra,
    created_at: a.created_at,
    updated_at: a.updated_at,
  }),
)
const update = command((db, a: PortgroupRow) =>
  db
    .updateTable('portgroups')
    .set({
      name: a.name,
      address: a.address,
      mode: a.mode,
      standalone_ports_supported: a.standalone_ports_supported,
      properties: a.properties,
      extra: a.extra,
      updated_at: a.updated_at,
    })
    .where('id', '=', a.id),
)
const remove = command((db, a: { id: PortgroupId }) => db.deleteFrom('portgroups').where('id', '=', a.id))
const portIn = query((db, a: { id: PortgroupId }) =>
  db.selectFrom('ports').select('uuid').where('portgroup_id', '=', a.id).limit(1),
)

export function* findPortgroup(ident: string, { view, permit }: Access): Read<Portgroup> {
  const uuid = canonicalUuid(ident)
  const found = yield* one(uuid ? uuidInView({ uuid, ...view }) : nameInView({ name: ident, ...view }))
  if (!found) throw problem('metal_not_found', { what: 'Portgroup', name: ident })
  permit({ owner: found.node_owner, lessee: found.node_lessee })
  return found
}

export function* listPortgroups(view: View, of: { node?: NodeId; address?: string }): Read<ListedPortgroup[]> {
  return (yield* all(groupsInView(view))).filter(
    group =>
      (of.node === undefined || group.node_id === of.node) &&
      (of.address === undefined || group.address === of.address),
  )
}

export function* createPortgroup(group: Omit<PortgroupRow, 'id'>): Write<Portgroup> {
  yield* requireFree(group)
  yield* run(insert(group))
  yield* mark({ kind: 'portgroup', id: group.uuid })
  return (yield* one(byUuid({ uuid: group.uuid })))!
}

export function* savePortgroup(group: PortgroupRow): Write<Portgroup> {
  yield* requireFree(group)
  yield* run(update(group))
  yield* mark({ kind: 'portgroup', id: group.uuid })
  return (yield* one(byUuid({ uuid: group.uuid })))!
}

export function* deletePortgroup(ident: string, access: Access): Write<void> {
  const { id, uuid, node_id } = yield* findPortgroup(ident, access)
  // Whoever puts a port into it locks the node too. Otherwise that port would lose its group without a word.
  yield* lockNodeById(node_id)
  if (yield* one(portIn({ id }))) throw problem('metal_in_use', { reason: `Portgroup ${uuid} has ports in it.` })
  yield* run(remove({ id }))
  yield* mark({ kind: 'portgroup', id: uuid })
}

function* requireFree({ id, uuid, address, name }: Omit<PortgroupRow, 'id'> & { id?: PortgroupId }): Read<void> {
  const refuse = (reason: string) => problem('metal_exists', { reason })
  const twin = yield* one(byUuid({ uuid }))
  if (twin && twin.id !== id) throw refuse(`A portgroup with UUID ${uuid} already exists.`)
  const other = address === null ? undefined : yield* one(byAddress({ address }))
  if (other && other.id !== id) throw refuse(`A portgroup with MAC address ${address} already exists.`)
  const namesake = name === null ? undefined : yield* one(byName({ name }))
  if (namesake && namesake.id !== id) throw refuse(`A portgroup with name ${name} already exists.`)
}
