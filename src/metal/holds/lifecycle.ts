// Holds, called reservations in the API: a node is kept for an instance for a while, by a claim in the ledger.
import { sql } from 'kysely'
import { claimBatch } from '../../ledger/claims/batch.ts'
import { expireConsumer } from '../../ledger/claims/lapsed.ts'
import { Problem, problem } from '../../problems/problem.ts'
import { requireTerm, withinQuota } from '../../quotas/within.ts'
import { command, query } from '../../store/statement.ts'
import { all, mark, one, type Read, run, type Write, wake } from '../../store/transaction.ts'
import { type Access, EVERYTHING, ownInView, seeing, type View } from '../access.ts'
import { type Hold, holdBecame, holdOn } from './lookup.ts'
import { findNode, lockNode, lockNodeById, type Node, OWNER, reviseNode } from '../nodes/rows.ts'
import { claimNode, holderOf, type Principal, promised, requireFreeInstance } from '../nodes/provider.ts'
import { mayHaveUntil } from '../nodes/lease-promise.ts'
import { afterMarker, inOrder, type Marker } from '../pages.ts'

export interface HeldNode extends Hold {
  node_uuid: string
  node_name: string | null
}

const nodeOf = ({ node_uuid, node_name }: HeldNode) => ({ uuid: node_uuid, name: node_name })

const byUuid = query((db, a: { uuid: string; now: number } & View) =>
  db
    .selectFrom('reservations as r')
    .innerJoin('nodes as n', 'n.id', 'r.node_id')
    .selectAll('r')
    .select(['n.uuid as node_uuid', 'n.name as node_name'])
    .where('r.uuid', '=', a.uuid)
    .where('r.expires_at', '>', a.now)
    .where(ownInView('r.owner', a)),
)
const insert = command((db, a: Omit<Hold, 'id'>) =>
  db.insertInto('reservations').values({
    uuid: a.uuid,
    node_id: a.node_id,
    instance_uuid: a.instance_uuid,
    owner: a.owner,
    project_id: a.project_id,
    expires_at: a.expires_at,
    created_at: a.created_at,
    updated_at: a.updated_at,
  }),
)
// The consumer first, as everywhere: an expiry at the same time has then removed it, or finds it renewed.
const renewConsumer = command((db, a: { uuid: string; expires_at: number; now: number }) =>
  db
    .updateTable('consumers')
    .set({ expires_at: a.expires_at })
    .where('uuid', '=', a.uuid)
    .where('expires_at', '>', a.now),
)
const renew = command((db, a: { uuid: string; expires_at: number; now: number }) =>
  db.updateTable('reservations').set({ expires_at: a.expires_at, updated_at: a.now }).where('uuid', '=', a.uuid),
)

export interface NewHold {
  uuid: string
  instance: string
  /** Names or uuids, in the order of preference. */
  nodes: readonly string[]
  owner: string | null
  expiresAt: number
}

/** Holds the first node that is free; if none is, the problem gives the reason for each. */
export function* createHold(wanted: NewHold, access: Access, who: Principal, now: number): Write<HeldNode> {
  return yield* withinQuota({ project: wanted.owner ?? who.project, kinds: ['nodes'], now }, limits => {
    requireTerm(limits, 'longest_hold_hours', { from: now, until: wanted.expiresAt })
    return holdFirst(wanted, access, who, now)
  })
}

function* holdFirst(wanted: NewHold, access: Access, who: Principal, now: number): Write<HeldNode> {
  const seen = seeing(access)
  const reasons: string[] = []
  for (const ident of wanted.nodes) {
    const reason = yield* whyNotHeld(ident, seen, now)
    if (reason === null) {
      const node = yield* lockNode(ident, seen)
      const lost = (yield* whyNotFree(node, now)) ?? (yield* tryHold(node, wanted, { ...who, view: access.view }, now))
      if (lost === null) return yield* findHold(wanted.uuid, EVERYTHING, now)
      reasons.push(`${ident} ${lost}`)
    } else {
      reasons.push(`${ident} ${reason}`)
    }
  }
  throw problem('node_refuses', { reason: `None of the nodes can be reserved: ${reasons.join('; ')}.` })
}

function* whyNotHeld(ident: string, access: Access, now: number): Read<string | null> {
  try {
    return yield* whyNotFree(yield* findNode(ident, access), now)
  } catch (error) {
    if (error instanceof Problem && error.kind === 'metal_not_found') return 'does not exist'
    throw error
  }
}

/** What keeps the node from being held now; null when nothing does. */
function* whyNotFree(node: Node, now: number): Read<string | null> {
  if (node.maintenance) return 'is in maintenance'
  if (node.retired) return 'is retired'
  // An instance has no end, so the holder of a leasable node could never deploy it.
  if (node.leasable)
    return 'is enrolled for leasing: only a lease has it, or an allocation that ends before the next one'
  if (node.instance_uuid !== null) return `is associated with instance ${node.instance_uuid}`
  if (node.provision_state !== 'available') return `is in state "${node.provision_state}"`
  const hold = yield* holdOn(node.id, now)
  if (hold) return `is reserved until ${new Date(hold.expires_at).toISOString()}`
  const holder = yield* holderOf(node, now)
  return holder === null ? null : `is claimed by consumer ${holder}`
}

function* tryHold(node: Node, wanted: NewHold, who: Principal & { view: View }, now: number): Write<string | null> {
  const { uuid, instance, owner, expiresAt } = wanted
  // An instance with another node could hold this one, but never deploy it.
  yield* requireFreeInstance(instance, node.uuid, now)
  const terms = { project: owner ?? who.project, until: expiresAt }
  const claimant = { ...who, consumer: uuid, type: 'RESERVATION', ...terms } as const
  try {
    yield* claimNode(node, claimant, now)
  } catch (error) {
    if (error instanceof Problem && error.kind === 'node_refuses') return 'was taken a moment ago'
    throw error
  }
  yield* expireConsumer(uuid, expiresAt)
  const times = { expires_at: expiresAt, created_at: now, updated_at: null }
  const hold = { uuid, node_id: node.id, instance_uuid: instance, owner, project_id: terms.project, ...times }
  yield* run(insert(hold))
  yield* mark(holdBecame(hold, 'created', node))
  yield* wake('expiry')
  yield* reviseNode(node.id)
  return null
}

/** The hold, unless it has expired. */
export function* findHold(uuid: string, { view, permit }: Access, now: number): Read<HeldNode> {
  const found = yield* one(byUuid({ uuid, now, ...view }))
  if (!found) throw notFound(uuid)
  permit({ project: found.owner })
  return found
}

const notFound = (name: string) => problem('metal_not_found', { what: 'Reservation', name })

export function* renewHold(uuid: string, access: Access, expiresAt: number, now: number) {
  const found = yield* findHold(uuid, access, now)
  return yield* withinQuota({ project: found.project_id, kinds: ['nodes'], now }, limits => {
    const term = { from: found.created_at, until: expiresAt, present: found.expires_at }
    requireTerm(limits, 'longest_hold_hours', term)
    return prolong(found, access, expiresAt, now)
  })
}

function* prolong(found: HeldNode, access: Access, expiresAt: number, now: number): Write<HeldNode> {
  const { uuid } = found
  const node = yield* lockNodeById(found.node_id)
  if (node && !mayHaveUntil(node, expiresAt)) throw promised(node)
  const changes = { uuid, expires_at: expiresAt, now }
  if ((yield* run(renewConsumer(changes))) === 0) throw notFound(uuid)
  yield* run(renew(changes))
  yield* mark(holdBecame({ ...found, expires_at: expiresAt }, 'renewed', nodeOf(found)))
  yield* wake('expiry')
  yield* reviseNode(found.node_id)
  return yield* findHold(uuid, access, now)
}

export function* deleteHold(uuid: string, access: Access, now: number): Write<void> {
  const found = yield* findHold(uuid, access, now)
  const [refusal] = yield* claimBatch([{ kind: 'release', consumer: uuid, owner: OWNER }], now)
  if (refusal) throw notFound(uuid)
  yield* mark(holdBecame(found, 'released', nodeOf(found)))
  yield* reviseNode(found.node_id)
}

interface HoldFilter {
  node_uuid: string | null
  instance_uuid: string | null
  owner: string | null
}

interface HoldPage {
  descending: boolean
  limit: number
  marker: string | null
}

interface ListArgs extends HoldFilter, Marker, View {
  now: number
  limit: number
}

const listStatement = (descending: boolean, isContinued: boolean) =>
  query((db, a: ListArgs) => {
    const order = { table: 'r', key: 'id', isText: false, descending }
    const same = (column: string, value: string | null) =>
      sql<boolean>`(cast(${value} as text) is null or ${sql.ref(column)} = ${value})`
    let select = db
      .selectFrom('reservations as r')
      .innerJoin('nodes as n', 'n.id', 'r.node_id')
      .selectAll('r')
      .select(['n.uuid as node_uuid', 'n.name as node_name'])
      .where('r.expires_at', '>', a.now)
      .where(same('n.uuid', a.node_uuid))
      .where(same('r.instance_uuid', a.instance_uuid))
      .where(same('r.owner', a.owner))
      .where(ownInView('r.owner', a))
    if (isContinued) select = select.where(afterMarker(order, a))
    return inOrder(select, order).limit(sql<number>`cast(${a.limit} as bigint)`)
  })
const LISTS = {
  asc: { first: listStatement(false, false), next: listStatement(false, true) },
  desc: { first: listStatement(true, false), next: listStatement(true, true) },
}

/** The holds of one page, and one more when there is a next page. */
export function* listHolds(filter: HoldFilter, page: HoldPage, access: Access, now: number): Read<HeldNode[]> {
  const marker = page.marker === null ? null : yield* findHold(page.marker, seeing(access), now)
  const list = LISTS[page.descending ? 'desc' : 'asc'][marker ? 'next' : 'first']
  const place = { limit: page.limit + 1, markerId: marker?.id ?? null, markerValue: null }
  return yield* all(list({ ...filter, ...place, ...access.view, now }))
}
