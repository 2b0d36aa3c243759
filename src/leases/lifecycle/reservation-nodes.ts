// Gives a lease its nodes and takes them back: each is an allocation of the lease's project, which is the node's lessee
// until the lease ends. Each step is idempotent.
import { giveNode, takeNodeBack } from '../../metal/allocations/backfill.ts'
import { askKeeper, keptOn } from '../../metal/allocations/keeping.ts'
import type { Drivers } from '../../metal/drivers/registry.ts'
import { emptyNode } from '../../metal/expiry.ts'
import { isOpen } from '../../metal/nodes/fleet.ts'
import { holdOn } from '../../metal/holds/lookup.ts'
import { lockNodeById, type NodeRow, saveNode } from '../../metal/nodes/rows.ts'
import { holderOf } from '../../metal/nodes/provider.ts'
import { unleased } from '../../metal/nodes/lease-promise.ts'
import { traitsOfProviders } from '../../metal/nodes/traits.ts'
import type { NodeId, ProviderId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { all, type Read, run, type Write } from '../../store/transaction.ts'
import { type StoredLease, withReservation } from './rows.ts'
import type { NodeTerms } from '../types.ts'

const nodeBookings = query((db, a: { lease: string }) =>
  db
    .selectFrom('bookings')
    .innerJoin('nodes', 'nodes.provider_id', 'bookings.provider_id')
    .select(['bookings.reservation_id', 'bookings.provider_id', 'bookings.allocation', 'nodes.id as node_id'])
    .where('bookings.lease_id', '=', a.lease)
    .orderBy('nodes.id'),
)
const setAllocation = command((db, a: { reservation: string; provider: ProviderId; allocation: string | null }) =>
  db
    .updateTable('bookings')
    .set({ allocation: a.allocation })
    .where('reservation_id', '=', a.reservation)
    .where('provider_id', '=', a.provider),
)

/** Why a lease waits for those who keep its nodes. */
export const COMMANDS_RUN = 'Commands still run on its nodes.'

/** Gives the lease those of its booked nodes that are available, and marks its reservations that lack some. */
export function* completeNodes(
  lease: StoredLease,
  drivers: Drivers,
  newUuid: () => string,
  now: number,
): Write<{ lease: StoredLease; isEnough: boolean }> {
  const bookings = Map.groupBy(yield* all(nodeBookings({ lease: lease.id })), row => row.reservation_id)
  let [after, isEnough] = [lease, true]
  for (const reservation of lease.reservations) {
    const { id, terms } = reservation
    if (terms.resource_type !== 'physical:node') continue
    const booked = bookings.get(id) ?? []
    let given = 0
    for (const { provider_id, node_id, allocation } of booked) {
      const node = yield* lockNodeById(node_id)
      if (!node) continue
      const isGiven = allocation !== null && node.instance_uuid === allocation
      if (!isGiven && !(yield* isReady(node, terms, now))) continue
      given++
      if (isGiven) continue
      const uuid = newUuid()
      const gift = { uuid, owner: lease.project_id, user: lease.user_id, traits: terms.traits }
      yield* giveNode(node, gift, drivers, now)
      yield* run(setAllocation({ reservation: id, provider: provider_id, allocation: uuid }))
    }
    isEnough &&= given >= terms.min
    after = withReservation(after, { ...reservation, missing_resources: given < Math.max(booked.length, terms.min) })
  }
  return { lease: after, isEnough }
}

/** The node is not in maintenance, is clean after the last lease, and still has the booked class and traits. */
function* isReady(node: NodeRow, terms: NodeTerms, now: number): Read<boolean> {
  if (!isOpen(node) || node.retired || node.transition !== null || node.resource_class !== terms.resource_class)
    return false
  if ((yield* holdOn(node.id, now)) || (yield* holderOf(node, now)) !== null) return false
  const traits = (yield* traitsOfProviders([node.provider_id])).get(node.provider_id) ?? []
  return terms.traits.every(trait => traits.includes(trait))
}

/**
 * Takes the lease's nodes back. Its project loses access at once; a machine on a node is torn down first, even if it is
 * running. A node that someone keeps is taken when they let go, or when the time is over that they were promised. Returns
 * why some are not back yet.
 */
export function* takeNodesBack(lease: StoredLease, drivers: Drivers, by: string, now: number): Write<Set<string>> {
  const left = new Set<string>()
  for (const { reservation_id, provider_id, allocation, node_id } of yield* all(nodeBookings({ lease: lease.id }))) {
    if (allocation === null) continue
    const node = yield* lockNodeById(node_id)
    // Without an instance it was freed or already torn down; with another instance it belongs to somebody else now.
    if (node && (node.instance_uuid === null || node.instance_uuid === allocation)) {
      const kept = yield* keptOn(node_id, now)
      if (kept) {
        yield* askKeeper(kept, { by, message: `lease ${lease.name} ends` }, now)
        left.add(COMMANDS_RUN)
        continue
      }
      const closed = yield* closeNode(node)
      if ((yield* emptyNode(closed, drivers, now)) !== 'empty') {
        left.add('Nodes are being torn down.')
        continue
      }
      if (closed.instance_uuid !== null) yield* takeNodeBack(closed, now)
    }
    yield* run(setAllocation({ reservation: reservation_id, provider: provider_id, allocation: null }))
  }
  return left
}

function* closeNode(node: NodeRow): Write<NodeRow> {
  if (node.leased_to === null) return node
  const after = { ...node, ...unleased(node) }
  yield* saveNode(node, after)
  return { ...after, revision: node.revision + 1 }
}

/** Takes back one node that has no machine of the lease on it. */
export function* withdrawGiven(nodeId: NodeId, allocation: string, now: number): Write<void> {
  const node = yield* lockNodeById(nodeId)
  if (!node) return
  if (node.instance_uuid === allocation) yield* takeNodeBack(node, now)
  else if (node.instance_uuid === null) yield* closeNode(node)
}
