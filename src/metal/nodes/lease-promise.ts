// Leasable nodes: the calendar promises a node to a lease from a date on, and others may have it until then. While a
// lease has the node, its project is the node's lessee.
import { problem } from '../../problems/problem.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Write } from '../../store/transaction.ts'
import { lockNodeById, type NodeRow, saveNode } from './rows.ts'
import { hasMachine } from './states.ts'
import { called } from '../called.ts'

type LeasePromise = Pick<NodeRow, 'leasable' | 'pledged_at'>

/** Whether the node may be given out until then. Null means without end, which a leasable node never allows. */
export function mayHaveUntil({ leasable, pledged_at }: LeasePromise, until: number | null): boolean {
  return leasable === 0 || (until !== null && (pledged_at === null || until <= pledged_at))
}

/** Saves whether the node is leasable, and from when on it is promised to a lease. */
export function* promiseNode(id: NodeId, promise: LeasePromise): Write<void> {
  const node = yield* lockNodeById(id)
  if (!node || (node.leasable === promise.leasable && node.pledged_at === promise.pledged_at)) return
  yield* saveNode(node, { ...node, ...promise })
}

type Lessee = Pick<NodeRow, 'leased_to' | 'lessee' | 'lessee_before'>

/** The columns that change when a lease of this project gets the node. */
export const leasedTo = (node: Lessee, project: string): Lessee => ({
  leased_to: project,
  lessee: project,
  lessee_before: unleased(node).lessee,
})

/** The columns that change when the lease ends: the former lessee returns, unless someone set another meanwhile. */
export const unleased = ({ leased_to, lessee, lessee_before }: Lessee): Lessee => ({
  leased_to: null,
  lessee: leased_to !== null && lessee === leased_to ? lessee_before : lessee,
  lessee_before: null,
})

/** Refuses to end the allocation of a leased node: only the lease ends it. In maintenance the node may be let go. */
export function requireOwnEnd(node: NodeRow): void {
  const { leased_to, maintenance } = node
  if (leased_to === null || maintenance === 1) return
  throw problem('node_refuses', {
    reason: `Node ${called(node)} is leased, and its allocation ends with the lease. In maintenance it may be let go.`,
  })
}

/**
 * Marks a node that is let go with a machine on it: the machine must be torn down later. In maintenance that a person
 * set, only where a lease had it.
 */
export const letGo = (node: NodeRow): Pick<NodeRow, 'leftover'> => ({
  leftover: (node.leased_to !== null || node.fault !== null) && hasMachine(node) ? 1 : node.leftover,
})

/** Refuses to change what leases booked. In maintenance the node may change, because its leases move away. */
export function requireUnbooked(node: NodeRow, what: string): void {
  if (!countsForBooking(node)) return
  throw problem('node_refuses', {
    reason: `Node ${called(node)} is booked by a lease, so it keeps its ${what}. In maintenance they can be changed.`,
  })
}

/** A lease counts on what the node has. */
export const countsForBooking = ({ pledged_at, maintenance }: NodeRow) => pledged_at !== null && maintenance !== 1
