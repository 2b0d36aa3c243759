// Nodes that are handed out by a calendar: promised to someone from a day on, and free for others until then. While a
// lease has one, its project is the node's lessee.
import { problem } from '../../problems/problem.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Write } from '../../store/transaction.ts'
import { lockNodeById, type NodeRow, saveNode } from './rows.ts'
import { hasMachine } from './states.ts'

type LeasePromise = Pick<NodeRow, 'leasable' | 'pledged_at'>

/** Whether someone may have the node until then; null is for ever, and that is too long for a node of the calendar's. */
export function mayHaveUntil({ leasable, pledged_at }: LeasePromise, until: number | null): boolean {
  return leasable === 0 || (until !== null && (pledged_at === null || until <= pledged_at))
}

/** Writes down whether a calendar hands the node out, and from when on it is promised. */
export function* promiseNode(id: NodeId, promise: LeasePromise): Write<void> {
  const node = yield* lockNodeById(id)
  if (!node || (node.leasable === promise.leasable && node.pledged_at === promise.pledged_at)) return
  yield* saveNode({ ...node, ...promise })
}

type Lessee = Pick<NodeRow, 'leased_to' | 'lessee' | 'lessee_before'>

/** What changes when a lease of this project gets the node. */
export const leasedTo = (node: Lessee, project: string): Lessee => ({
  leased_to: project,
  lessee: project,
  lessee_before: unleased(node).lessee,
})

/** What changes when the lease is over: the lessee from before comes back, unless someone has named another meanwhile. */
export const unleased = ({ leased_to, lessee, lessee_before }: Lessee): Lessee => ({
  leased_to: null,
  lessee: leased_to !== null && lessee === leased_to ? lessee_before : lessee,
  lessee_before: null,
})

/** What a lease gives ends with the lease, so nobody else may end it; but what needs repair may be let go. */
export function requireOwnEnd({ uuid, leased_to, maintenance }: NodeRow): void {
  if (leased_to === null || maintenance === 1) return
  throw problem('node_refuses', {
    reason: `Node ${uuid} is leased, and its allocation ends with the lease. In maintenance it may be let go.`,
  })
}

/** Of a leased node that is let go: the machine on it has to be torn down one day. */
export const letGo = (node: NodeRow): Pick<NodeRow, 'leftover'> => ({
  leftover: node.leased_to !== null && hasMachine(node) ? 1 : node.leftover,
})

/** Leases count on what a node is: while it is booked that may change only in maintenance, where they move away. */
export function requireUnbooked({ uuid, pledged_at, maintenance }: NodeRow, what: string): void {
  if (pledged_at === null || maintenance === 1) return
  throw problem('node_refuses', {
    reason: `Node ${uuid} is booked by a lease, so it keeps its ${what}. In maintenance they can be changed.`,
  })
}
