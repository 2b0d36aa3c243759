// How holdfast run gives its node back.
import { ApiError, type Holdfast, isAway } from '../client/index.ts'
import { CANCEL_MAX_MS } from './interrupt.ts'
import type { Held } from './renewal.ts'
import { waitFor } from './waiting.ts'

/**
 * Returns the reason if it can't: then the allocation expires by itself. If it is there for sure, a server that is away
 * for a moment is asked again.
 */
export async function givenBack(server: Holdfast, held: Held, isMade: boolean): Promise<string | null> {
  const once = (signal: AbortSignal) => released(server.within(signal), held)
  try {
    if (!isMade) return await once(AbortSignal.timeout(CANCEL_MAX_MS))
    const progress = { show: () => {}, clear: () => {} }
    return await waitFor(async signal => ({ done: await once(signal) }), { timeoutMs: CANCEL_MAX_MS, progress })
  } catch (error) {
    return (error as Error).message
  }
}

/** Throws if the server can't be asked. */
async function released({ allocations }: Holdfast, { uuid, keeper }: Held): Promise<string | null> {
  try {
    await allocations.delete(uuid, { keeper })
    return null
  } catch (error) {
    if (isAway(error) || !(error instanceof ApiError)) throw error
    if (error.status === 404) return null
    // 409: the command has deployed the node. It is torn down when its allocation ends, so that ends now.
    const isEnding = error.status === 409 && (await endsNow(allocations, { uuid, keeper }))
    return isEnding ? null : error.message
  }
}

async function endsNow(allocations: Holdfast['allocations'], { uuid, keeper }: Held): Promise<boolean> {
  try {
    await allocations.renew(uuid, '1s', { keeper })
    return true
  } catch {
    return false
  }
}
