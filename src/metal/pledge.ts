// Nodes that are handed out by a calendar: promised to someone from a day on, and free for others until then.
import type { Write } from '../store/transaction.ts'
import { lockNodeById, type NodeRow, saveNode } from './nodes.ts'

export type Pledge = Pick<NodeRow, 'leasable' | 'pledged_at'>

/** Whether someone may have the node until then; null is for ever, and that is too long for a node of the calendar's. */
export function mayHaveUntil({ leasable, pledged_at }: Pledge, until: number | null): boolean {
  return leasable === 0 || (until !== null && (pledged_at === null || until <= pledged_at))
}

/** Writes down whether a calendar hands the node out, and from when on it is promised. */
export function* pledgeNode(id: number, pledge: Pledge): Write<void> {
  const node = yield* lockNodeById(id)
  if (!node || (node.leasable === pledge.leasable && node.pledged_at === pledge.pledged_at)) return
  yield* saveNode({ ...node, ...pledge })
}
