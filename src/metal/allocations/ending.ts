// Ends allocations: frees the node, asks its keeper to let go, or has the machine taken back.
import { problem } from '../../problems/problem.ts'
import { StoreConflict } from '../../store/failure.ts'
import type { AllocationId, NodeId } from '../../store/schema/ids.ts'
import { command } from '../../store/statement.ts'
import { mark, one, run, wake, type Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import { called } from '../called.ts'
import type { Drivers } from '../drivers/registry.ts'
import { isTakenBack, takingBack } from '../nodes/hand-over.ts'
import { letGo, requireOwnEnd } from '../nodes/lease-promise.ts'
import { releaseInstance, withoutAllocatedTraits } from '../nodes/provider.ts'
import { lockNodeById, type NodeRow, saveNode } from '../nodes/rows.ts'
import { mayDeallocate } from '../nodes/states.ts'
import { type Farewell, letGoOfLeased, mayEnd } from './keeping.ts'
import {
  type Allocation,
  allocationBecame,
  allocationNotFound,
  allocationOfNode,
  type AllocationRow,
  findAllocation,
  lockAllocation,
} from './rows.ts'

const remove = command((db, a: { id: AllocationId }) => db.deleteFrom('allocations').where('id', '=', a.id))

/** The allocation may get a node before we lock it. Only a retry locks that node too, in the right order. */
export function requireUnmoved(row: Pick<AllocationRow, 'node_id'>, node: NodeId | null): void {
  if (row.node_id !== node) throw new StoreConflict('allocation_moved')
}

/** Ends an allocation and frees its node; or asks its keeper to. Returns the allocation if it isn't over yet. */
export function* deleteAllocation(
  ident: string,
  access: Access,
  farewell: Farewell,
  drivers: Drivers,
  now: number,
): Write<Allocation | null> {
  return yield* endOrAsk(yield* findAllocation(ident, access), farewell, drivers, now)
}

export function* deleteAllocationOfNode(
  ident: string,
  access: Access,
  farewell: Farewell,
  drivers: Drivers,
  now: number,
): Write<Allocation | null> {
  return yield* endOrAsk(yield* allocationOfNode(ident, access), farewell, drivers, now)
}

function* endOrAsk(found: Allocation, farewell: Farewell, drivers: Drivers, now: number): Write<Allocation | null> {
  const { node, row } = yield* lockedWithNode(found)
  const isLeased = node !== undefined && node.leased_to !== null
  // The keeper has let go already, and didn't hear the answer.
  if (isLeased && row.keeper === null && farewell.keeper !== null) return null
  if (isLeased && farewell.keeper === null) requireOwnEnd(node)
  if (yield* mayEnd(row, farewell, now)) {
    if (isLeased && farewell.keeper !== null) yield* letGoOfLeased(row, now)
    else yield* endLocked(row, node, 'deleted', drivers, now)
    return null
  }
  return { ...found, ...(yield* one(lockAllocation({ id: row.id })))! }
}

/** For an allocation whose time is over. */
export function* endAllocation(
  found: Allocation,
  reason: 'deleted' | 'expired',
  drivers: Drivers,
  now: number,
): Write<void> {
  const { node, row } = yield* lockedWithNode(found)
  yield* endLocked(row, node, reason, drivers, now)
}

export function* lockedWithNode(found: Allocation): Write<{ node: NodeRow | undefined; row: AllocationRow }> {
  const node = found.node_id === null ? undefined : yield* lockNodeById(found.node_id)
  const row = yield* one(lockAllocation({ id: found.id }))
  if (!row) throw allocationNotFound(found.uuid)
  requireUnmoved(row, found.node_id)
  return { node, row }
}

/** Refuses to end the allocation in the node's state; `DELETE` and a `PATCH` of the node agree. */
export function requireDeallocatable(row: Pick<AllocationRow, 'uuid' | 'name'>, node: NodeRow): void {
  if (mayDeallocate(node)) return
  const why = `the node is in state "${node.provision_state}" and not in maintenance`
  throw problem('node_refuses', {
    reason: `Cannot remove allocation ${called(row)} for node ${called(node)}, because ${why}. Undeploy the node, or set its maintenance first.`,
  })
}

function* endLocked(
  row: AllocationRow,
  node: NodeRow | undefined,
  reason: 'deleted' | 'expired',
  drivers: Drivers,
  now: number,
): Write<void> {
  if (node) {
    const isBack = isTakenBack(node, drivers)
    if (!isBack) requireDeallocatable(row, node)
    requireOwnEnd(node)
    const left = isBack ? yield* takingBack(node, drivers, now) : node
    yield* releaseInstance(node, row.uuid, reason, now, { evenIfKept: true })
    const instance_info = withoutAllocatedTraits(node)
    yield* saveNode(node, { ...left, ...letGo(node), instance_uuid: null, instance_info, updated_at: now })
    if (isBack) yield* wake('nodes')
  } else {
    yield* run(remove({ id: row.id }))
    yield* mark(allocationBecame(row, 'ended', { from: row.state, reason }))
  }
}
