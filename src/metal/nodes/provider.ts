// A node as a provider in the ledger: its inventory, and the claim on it.
import { sql } from 'kysely'
import { claimBatch, lockInvolved } from '../../ledger/claims/batch.ts'
import type { ClaimRequest, ConsumerClaims } from '../../ledger/claims/claim.ts'
import { consumerClaims, type ConsumerClaim } from '../../ledger/claims/find.ts'
import { ownConsumer, setManagedInventory, whileUnblocked } from '../../ledger/managed.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, jsonText, MEMBERS } from '../../shared/json.ts'
import { StoreConflict } from '../../store/failure.ts'
import type { NodeId, ProviderId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { all, mark, one, type Read, together, type Write } from '../../store/transaction.ts'
import { isSeen, type View } from '../access.ts'
import { requireNotKept } from '../allocations/keeping.ts'
import { allocationBecame } from '../allocations/rows.ts'
import { givenToInstance, takenBack, takenFromInstance } from '../history/lines.ts'
import { type Hold, holdBecame, holdOn } from '../holds/lookup.ts'
import { noteUses } from '../queue/usage.ts'
import { findInstance, type Node, type NodeRow, OWNER } from './rows.ts'
import { mayHaveUntil } from './lease-promise.ts'
import { isUsable } from './states.ts'
import { nameOf } from './what-became.ts'
import { called } from '../called.ts'

/** Updates the node's inventory in the ledger, and its traits if they are given. */
export function* syncProvider(node: NodeRow, now: number, traits?: readonly string[]): Write<void> {
  const offer = { resourceClass: node.placement_class, blocked: !isUsable(node), ...(traits && { traits }) }
  yield* setManagedInventory(node.uuid, OWNER, offer, now)
}

/** The project and user that a claim names when the object has no owner of its own. */
export interface Principal {
  project: string
  user: string
}

export const NOBODY: Principal = {
  project: '00000000-0000-0000-0000-000000000000',
  user: '00000000-0000-0000-0000-000000000000',
}

const holderNow = query((db, a: { provider: ProviderId; now: number }, on) =>
  db
    .selectFrom('consumers as c')
    .select(['c.uuid', 'c.type'])
    .where(on.isAmong('c.id', db.selectFrom('claims').select('consumer_id').where('provider_id', '=', a.provider)))
    .where(e => e.or([e('c.expires_at', 'is', null), e('c.expires_at', '>', a.now)])),
)
const allocationWithoutNode = query((db, a: { uuid: string }) =>
  db.selectFrom('allocations').select('id').where('uuid', '=', a.uuid).where('node_id', 'is', null),
)
// An instance without claims has no row to lock, so this locks its uuid.
const standInLine = command((db, a: { instance: string }, on) =>
  db.selectNoFrom(
    (on.dialect === 'sqlite'
      ? sql`1`
      : sql`cast(pg_advisory_xact_lock(hashtextextended(cast(${a.instance} as text), 0)) as text)`
    ).as('turn'),
  ),
)
const otherNodesOf = query((db, a: { instance: string; self: string }) =>
  db
    .selectFrom('consumers as c')
    .innerJoin('claims as l', 'l.consumer_id', 'c.id')
    .innerJoin('nodes as n', 'n.provider_id', 'l.provider_id')
    .select('n.uuid')
    .where('c.uuid', '=', a.instance)
    .where('n.uuid', '<>', a.self),
)
const otherHoldsFor = query((db, a: { instance: string; self: string }) =>
  db
    .selectFrom('reservations as r')
    .innerJoin('nodes as n', 'n.id', 'r.node_id')
    .select(['r.uuid', 'r.expires_at'])
    .where('r.instance_uuid', '=', a.instance)
    .where('n.uuid', '<>', a.self),
)
const removeAllocationOf = command((db, a: { node: NodeId }) =>
  db.deleteFrom('allocations').where('node_id', '=', a.node).returningAll(),
)

/** The consumer that has claimed the node, according to the ledger. */
export function* holderOf({ provider_id }: Pick<NodeRow, 'provider_id'>, now: number): Read<string | null> {
  return (yield* one(holderNow({ provider: provider_id, now })))?.uuid ?? null
}

/** Consumers are locked before providers. A transaction that changes both calls this first. */
export function* lockInstance(node: NodeRow, instance: string, now: number): Write<void> {
  yield* lockInvolved([replacing({ consumer: instance, type: 'INSTANCE', ...NOBODY }, [])], [node.uuid], now)
}

// The message doesn't name the other node: it may belong to another project.
const instanceTaken = (instance: string) =>
  problem('metal_exists', { reason: `Instance ${instance} is already associated with another node or resource.` })

const consumerTaken = ({ consumer, type }: Pick<Claimant, 'consumer' | 'type'>) =>
  type === 'RESERVATION'
    ? problem('metal_exists', { reason: `UUID ${consumer} is in use already: a reservation needs one of its own.` })
    : instanceTaken(consumer)

/** Refuses an instance that has another node, or a hold on one. Requests for the same instance take turns. */
export function* requireFreeInstance(instance: string, self: string, now: number): Write<void> {
  yield* one(standInLine({ instance }))
  const other = yield* findInstance(instance)
  const [claimed, held, [allocation]] = yield* together(
    otherNodesOf({ instance, self }),
    otherHoldsFor({ instance, self }),
    allocationWithoutNode({ uuid: instance }),
  )
  const lapsed = held.filter(hold => hold.expires_at <= now)
  if ((other && other.uuid !== self) || claimed.length > 0 || held.length > lapsed.length) throw instanceTaken(instance)
  if (allocation) {
    throw problem('metal_exists', { reason: `${instance} is the UUID of an allocation, which has no node.` })
  }
  for (const { uuid } of lapsed) yield* claimBatch([{ kind: 'release', consumer: uuid, owner: OWNER }], now)
}

/** The consumer that claims a node. */
interface Claimant extends Principal {
  consumer: string
  type: 'INSTANCE' | 'ALLOCATION' | 'RESERVATION'
  /** What the client sees. Claims of other projects are not taken over. */
  view: View
  /** When the claim ends; never if left out. */
  until?: number
}

/**
 * Claims the node for an instance. If the instance claimed it through Placement before, we take that claim over.
 * A held node goes only to the instance that it is held for, and the hold ends.
 */
export function* claimInstance(
  node: NodeRow,
  instance: string,
  who: Principal & { view: View },
  now: number,
): Write<void> {
  yield* requireFreeInstance(instance, node.uuid, now)
  yield* claimNode(node, { consumer: instance, type: 'INSTANCE', ...who }, now)
  yield* mark({ kind: 'node', id: node.uuid, history: givenToInstance({ ...who, uuid: instance }, node) })
}

export function* claimNode(node: NodeRow, claimant: Claimant, now: number): Write<void> {
  const { consumer, until = null } = claimant
  if (!mayHaveUntil(node, until)) throw promised(node)
  if (node.provision_state === 'available') requireNotRetired(node)
  const hold = yield* holdOn(node.id, now)
  const isRedeemed = hold && hold.instance_uuid === consumer && isSeen(hold.owner, claimant.view)
  if (hold && !isRedeemed) throw heldBy(node, hold, claimant.view)
  const releasing: ClaimRequest[] = hold ? [{ kind: 'release', consumer: hold.uuid, owner: OWNER }] : []
  yield* lockInvolved([replacing(claimant, []), ...releasing], [node.uuid], now)
  const has = yield* consumerClaims(consumer)
  if ((yield* all(otherNodesOf({ instance: consumer, self: node.uuid }))).length > 0) throw consumerTaken(claimant)
  const isThere = has.some(claim => claim.provider === node.uuid)
  if (!isThere) requireOwn(claimant, has)
  const more = { provider: node.uuid, resource_class: node.placement_class, used: 1 }
  const who = has.length > 0 ? ownerOf(has) : claimant
  // A new consumer is ours from the start; one that Placement's clients made becomes ours below.
  const owner = has.length > 0 ? null : OWNER
  const adding = isThere ? [] : [{ ...replacing({ ...claimant, ...who }, [...has, more]), owner }]
  const claiming = claimBatch([...releasing, ...adding], now)
  const refusal = (yield* whileUnblocked(node.provider_id, !isUsable(node), claiming)).find(verdict => verdict !== null)
  // The hold ended before we locked it: a retry will see the node without it.
  if (refusal?.kind === 'consumer_without_claims') throw new StoreConflict('hold_ended')
  if (refusal?.kind === 'claim_exceeds_capacity') throw claimed(node, yield* holderOf(node, now), consumer)
  if (refusal) throw refusal
  if (hold) yield* mark(holdBecame(hold, 'redeemed', node))
  yield* ownConsumer(consumer, null, OWNER)
  if (isThere && claimant.type === 'ALLOCATION') {
    yield* claimBatch([{ ...replacing({ ...claimant, ...who }, has), owner: OWNER }], now)
  }
}

/** We take over all claims of the consumer, so they must be the client's. A hold may have no other claims. */
function requireOwn(claimant: Claimant, has: readonly ConsumerClaim[]): void {
  const { type, view } = claimant
  const isForeign = !view.all && has.some(claim => claim.project_id !== view.project)
  if (isForeign || (type === 'RESERVATION' && has.length > 0)) throw consumerTaken(claimant)
}

/** Claims an open node without a hold. For leases, which promised the node themselves. */
export function* takeNode(node: NodeRow, claimant: Claimant, now: number): Write<void> {
  const one = { provider: node.uuid, resource_class: node.placement_class, used: 1 }
  const [refusal] = yield* claimBatch([{ ...replacing(claimant, [one]), owner: OWNER }], now)
  if (refusal) throw claimed(node, yield* holderOf(node, now), claimant.consumer)
}

export function requireNotRetired(node: NodeRow): void {
  if (!node.retired) return
  throw problem('node_refuses', { reason: `Node ${called(node)} is retired and can not be given to anyone.` })
}

export const promised = ({ uuid, name, pledged_at }: NodeRow) =>
  problem('node_refuses', {
    reason:
      `Node ${name ?? uuid} is enrolled for leasing: it can only be had for a while` +
      `${pledged_at === null ? '' : `, until ${new Date(pledged_at).toISOString()} at the longest`}.`,
  })
/** The uuid of a hold proves ownership, so only clients that may see the hold are told it. */
export const heldBy = (node: NodeRow, hold: Hold, view: View) =>
  problem('node_refuses', {
    reason: isSeen(hold.owner, view)
      ? `Node ${called(node)} is reserved by ${hold.uuid} for instance ${hold.instance_uuid}; name that as reservation_uuid to deploy it.`
      : `Node ${called(node)} is reserved for someone else.`,
  })
const claimed = (node: NodeRow, holder: string | null, consumer: string) =>
  problem('node_refuses', {
    reason: `Node ${called(node)} is claimed by consumer ${holder ?? '(unknown)'} and can not be given to ${consumer}.`,
  })

/**
 * Why an allocation ended: a client deleted it, its time was over, the lease that gave it is over or moved, the machine
 * was torn down, someone took `instance_uuid` away from the node, or the node was deleted.
 */
type EndReason = 'deleted' | 'expired' | 'lease' | 'torn_down' | 'instance_removed' | 'node_deleted'

/**
 * Ends the instance's claim on the node, and its allocation. Its other claims go back to Placement's clients. All who
 * take a node from someone come through here, so a kept one is refused unless the caller has settled that.
 */
export function* releaseInstance(
  node: NodeRow,
  instance: string,
  reason: EndReason,
  now: number,
  { evenIfKept = false } = {},
): Write<void> {
  if (!evenIfKept) yield* requireNotKept(node.id, now)
  const has = yield* consumerClaims(instance)
  const rest = has.filter(claim => claim.provider !== node.uuid)
  const request: ClaimRequest =
    rest.length === 0
      ? { kind: 'release', consumer: instance, owner: OWNER }
      : { ...replacing({ consumer: instance, type: 'INSTANCE', ...ownerOf(rest) }, rest), owner: OWNER }
  const [refusal] = yield* claimBatch([request], now)
  if (refusal && refusal.kind !== 'consumer_without_claims') throw refusal
  if (rest.length > 0) yield* ownConsumer(instance, OWNER, null)
  const ended = yield* all(removeAllocationOf({ node: node.id }))
  yield* noteUses(ended, now)
  if (ended.length === 0) {
    yield* mark({ kind: 'node', id: node.uuid, history: takenFromInstance(instance, node, reason) })
    return
  }
  yield* mark(
    ...ended.map(row => {
      const isExpired = reason === 'torn_down' && row.expires_at !== null && row.expires_at <= now
      const why = isExpired ? 'expired' : reason
      const data = { from: row.state, reason: why, node: nameOf(node) }
      return allocationBecame(row, 'ended', data, takenBack(row, node, why))
    }),
  )
}

/** Ends the hold on the node, if there is one, expired or not. */
export function* releaseHold(node: NodeRow, now: number): Write<void> {
  const hold = yield* holdOn(node.id, 0)
  if (!hold) return
  yield* claimBatch([{ kind: 'release', consumer: hold.uuid, owner: OWNER }], now)
  if (hold.expires_at > now) yield* mark(holdBecame(hold, 'released', node))
}

/** An expired hold must not block anyone, even before the sweep removes it. */
export function* releaseLapsedHold(node: Node, now: number): Write<void> {
  if (node.reserved_until !== null && node.reserved_until <= now) yield* releaseHold(node, now)
}

/** instance_info without the traits that an allocation set. */
export function withoutAllocatedTraits({ instance_info }: Pick<NodeRow, 'instance_info'>): NodeRow['instance_info'] {
  const { traits: _, ...rest } = jsonIn(instance_info, MEMBERS)
  return jsonText(rest)
}

type Has = Pick<ConsumerClaim, 'provider' | 'resource_class' | 'used'>

const ownerOf = ([claim]: readonly ConsumerClaim[]): Principal => ({ project: claim!.project_id, user: claim!.user_id })

function replacing(
  { consumer, type, project, user }: Omit<Claimant, 'view'>,
  has: readonly Has[],
): ClaimRequest & { kind: 'replace' } {
  const resources = new Map<string, Map<string, number>>()
  for (const { provider, resource_class, used } of has) {
    resources.getOrInsertComputed(provider, () => new Map()).set(resource_class, used)
  }
  const claims: ConsumerClaims = { consumer, projectId: project, userId: user, type, generation: undefined, resources }
  return { kind: 'replace', consumers: [claims], owner: null }
}
