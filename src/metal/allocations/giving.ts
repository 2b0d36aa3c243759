// Gives nodes to allocations, in one transaction: what every way from an allocation to its node shares.
import type { ClaimRequest } from '../../ledger/claims/claim.ts'
import { isReadable, jsonIn, MEMBERS, TEXTS } from '../../shared/json.ts'
import { GuardFailed } from '../../store/failure.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { bulk, type Command } from '../../store/statement.ts'
import { mark, runAll, type Subject, type Write } from '../../store/transaction.ts'
import type { Drivers } from '../drivers/registry.ts'
import { given } from '../history/lines.ts'
import { isOpen } from '../nodes/fleet.ts'
import { handOver } from '../nodes/hand-over.ts'
import { mayHaveUntil } from '../nodes/lease-promise.ts'
import { noteNode, type NodeRow, OWNER } from '../nodes/rows.ts'
import { nameOf, whatBecame } from '../nodes/what-became.ts'
import { isOf } from './matching.ts'
import { allocationBecame, type NewAllocation, withTraits } from './rows.ts'

interface Taking {
  id: NodeId
  instance: string
  info: NodeRow['instance_info']
  now: number
}
const takeNodes = bulk<Taking>({ id: 'bigint', instance: 'text', info: 'text', now: 'bigint' }, (db, r, on) =>
  on
    .update(db.updateTable('nodes'), 'nodes.id', r.id)
    .set(e => ({
      instance_uuid: r.instance,
      instance_info: r.info,
      updated_at: r.now,
      revision: e('nodes.revision', '+', 1),
    }))
    .where('nodes.instance_uuid', 'is', null),
)
/** An allocation and the node that it gets. */
export interface Pair<Allocation extends NewAllocation = NewAllocation> {
  /** As it was before, looking for a node. */
  allocation: Allocation
  node: NodeRow
}

/** Memory may have been stale, so this checks again that the node fits. The ledger checks whether it is claimed. */
export function isStillGood(node: NodeRow, has: readonly string[], allocation: NewAllocation): boolean {
  const { resource_class, owner } = allocation
  const candidates = jsonIn(allocation.candidate_nodes, TEXTS)
  const isWanted = candidates.length === 0 || candidates.includes(node.uuid)
  const isSuited =
    node.resource_class === resource_class && jsonIn(allocation.traits, TEXTS).every(one => has.includes(one))
  // Its traits go into it.
  const isFree =
    isReadable(node.instance_info, MEMBERS) &&
    isOpen(node) &&
    node.transition === null &&
    mayHaveUntil(node, allocation.expires_at)
  return isFree && isSuited && isWanted && isOf(owner, node)
}

export function claimFor(allocation: NewAllocation, node: NodeRow): ClaimRequest {
  const resources = new Map([[node.uuid, new Map([[node.placement_class, 1]])]])
  const { uuid: consumer, project_id: projectId, user_id: userId } = allocation
  return {
    kind: 'replace',
    consumers: [{ consumer, projectId, userId, type: 'ALLOCATION', generation: null, resources }],
    owner: OWNER,
  }
}

/** Writes down that allocations have their nodes. `allocated` is the command that says so in the allocations' rows. */
export function* giveNodes(pairs: readonly Pair[], allocated: Command, drivers: Drivers, now: number): Write<void> {
  const taken = pairs.map(({ allocation, node }) => ({
    ...node,
    instance_uuid: allocation.uuid,
    instance_info: withTraits(node, jsonIn(allocation.traits, TEXTS)),
    revision: node.revision + 1,
  }))
  const rows = taken.map(({ id, instance_uuid: instance, instance_info: info }) => ({ id, instance, info, now }))
  const counts = yield* runAll([allocated, takeNodes({ rows })])
  if (counts.some(count => count !== pairs.length)) throw new GuardFailed('an allocation changed under its lock')
  for (const [i, { allocation, node }] of pairs.entries()) {
    yield* mark(activated(allocation, node, now), ...whatBecame(node, taken[i]!))
    yield* noteNode(taken[i]!)
    yield* handOver(taken[i]!, drivers, allocation.request_id, now)
  }
}

/** Only an allocation that has waited has reasons: it is its turn now. */
function activated(allocation: NewAllocation, node: NodeRow, now: number): Subject {
  const since = allocation.updated_at ?? allocation.created_at
  const waited = allocation.reasons === null ? {} : { waited_seconds: Math.round((now - since) / 1_000) }
  const states = { from: allocation.state, to: 'active' }
  return allocationBecame(allocation, 'active', { ...states, node: nameOf(node), ...waited }, given(allocation, node))
}
