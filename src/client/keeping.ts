// What it takes to keep a node for a piece of work: a term, a proof, and letting go of it in the end.
import { countdown } from '../clock/countdown.ts'
import { plainClock } from '../clock/plain.ts'
import { ApiError, isAway } from './errors.ts'
import type { Holdfast } from './index.ts'
import type { Held, Term } from './renewal.ts'
import { waitFor } from './waiting.ts'

/** How long the work may take to end when it must. */
export const GRACE_MAX_MS = 10_000
/** For a busy machine, and for clocks that differ: the work is over this long before the node may be another's. */
const MARGIN_MAX_MS = 2_000
/** Two renewals may fail before the node is lost. */
const RENEWALS_PER_TERM = 3
const KEEPER_NAME_MAX = 100
const KEEPER_PROOF_BYTES = 18
/** Long enough for a server that just starts again, short enough for someone who wants to leave. */
export const CANCEL_MAX_MS = 5_000

export function termOf(everyMs: number, warn: Term['warn']): Term {
  const graceMs = Math.min(GRACE_MAX_MS, everyMs / 2)
  const marginMs = Math.min(MARGIN_MAX_MS, graceMs / 2)
  return { everyMs, lastsMs: everyMs * RENEWALS_PER_TERM, graceMs, marginMs, now: plainClock.now, countdown, warn }
}

/** Who works there, for others to read, and a proof that nobody else can give. */
export function newKeeper(name: string): string {
  const shown = name.replaceAll(/[/\p{C}]/gu, '-').slice(0, KEEPER_NAME_MAX)
  return `${shown}/${plainClock.newSecret(KEEPER_PROOF_BYTES)}`
}

/**
 * Gives the node back. Returns the reason if it can't: then the allocation expires by itself. If the allocation was made
 * for sure, a server that is away for a moment is asked again.
 */
export async function givenBack(server: Holdfast, held: Held, isMade: boolean): Promise<string | null> {
  const once = (signal: AbortSignal) => released(server.within(signal), held)
  try {
    if (!isMade) return await once(AbortSignal.timeout(CANCEL_MAX_MS))
    return await waitFor(async signal => ({ done: await once(signal) }), { timeoutMs: CANCEL_MAX_MS })
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
    // 409: the work has deployed the node. It is torn down when its allocation ends, so that ends now.
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
