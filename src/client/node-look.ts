// Looks whether an allocation has its node.
import type { Allocation, Allocations } from './allocations.ts'
import { NoFit } from './errors.ts'
import type { Look } from './waiting.ts'

/** Throws NoFit, with the reasons, if it ended without a node. */
export async function lookForNode(allocations: Allocations, ident: string): Promise<Look<Allocation>> {
  const seen = await allocations.show(ident)
  if (seen.state === 'active') return { done: seen }
  if (seen.state === 'allocating') return { waitingFor: `allocation ${ident} waits for a node` }
  const { decided, now } = await allocations.explain(ident)
  const reasons = (decided ?? now).causes.map(({ cause, count, traits }) => ({
    reason: traits ? `${cause} ${traits.join(' and ')}` : cause,
    count,
  }))
  throw new NoFit(seen.last_error ?? `allocation ${ident} got no node`, reasons)
}
