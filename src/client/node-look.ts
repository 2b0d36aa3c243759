// Looks whether an allocation has its node, and can use it.
import type { Allocation, Allocations } from './allocations.ts'
import { ApiError, NoFit } from './errors.ts'
import type { Look } from './waiting.ts'

/** Some machines are handed over before they can be used. Throws an ApiError if that failed. */
export async function lookAtHandOver(allocations: Allocations, seen: Allocation): Promise<Look<Allocation>> {
  const node = await allocations.nodeOf(seen)
  const { provision_state: state, name = null, last_error } = node ?? {}
  if (state === 'deploying' || state === 'wait call-back')
    return { waitingFor: `${name ?? seen.node_uuid} is being handed over` }
  if (state !== 'deploy failed') return { done: seen }
  throw new ApiError(409, `${name ?? seen.node_uuid} could not be handed over: ${String(last_error)}`)
}

/** Throws NoFit, with the reasons, if it ended without a node. */
export async function lookForNode(allocations: Allocations, ident: string): Promise<Look<Allocation>> {
  const seen = await allocations.show(ident)
  if (seen.state === 'active') return lookAtHandOver(allocations, seen)
  if (seen.state === 'allocating') return { waitingFor: `allocation ${ident} waits for a node` }
  const { decided, now } = await allocations.explain(ident)
  const reasons = (decided ?? now).causes.map(({ cause, count, traits }) => ({
    reason: traits ? `${cause} ${traits.join(' and ')}` : cause,
    count,
  }))
  throw new NoFit(seen.last_error ?? `allocation ${ident} got no node`, reasons)
}
