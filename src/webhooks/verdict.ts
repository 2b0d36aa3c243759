// Decides what becomes of a delivery after a try.
import { limits } from '../shared/limits.ts'

/** What came back from a receiver. */
export interface Reply {
  /** Null when nothing came back. */
  readonly status: number | null
  readonly ms: number
  /** The beginning of the answer. */
  readonly text: string
  /** Why there is no answer, or why it isn't good. */
  readonly error: string | null
  /** How long it asks us to wait. */
  readonly retryAfterMs: number | null
}

/** The process had to stop before the answer came. */
export const INTERRUPTED = 'interrupted'

export type Verdict =
  | { readonly kind: 'delivered' }
  /** Tried again then; `isForAll` when the receiver asked for rest, from all that is sent there. */
  | { readonly kind: 'retry'; readonly at: number; readonly isForAll: boolean }
  /** Put back, as if it had not been taken. */
  | { readonly kind: 'put back' }
  | { readonly kind: 'pause'; readonly reason: string }
  | { readonly kind: 'disable'; readonly reason: string }

const DAY_MS = 24 * 3_600_000

/** `failures` were before this try; `firstAt` is when the first of them was begun. */
export function verdictOn(
  reply: Reply,
  { failures, firstAt }: { failures: number; firstAt: number },
  now: number,
): Verdict {
  const { status, error, retryAfterMs } = reply
  if (error === INTERRUPTED) return { kind: 'put back' }
  if (error === null) return { kind: 'delivered' }
  if (status === 410) return { kind: 'disable', reason: 'Its receiver answered 410: it wants no more.' }
  const last = firstAt + limits.deliveryTriesMs
  if (now >= last) {
    const days = Math.round(limits.deliveryTriesMs / DAY_MS)
    const time = days === 1 ? 'a day' : `${days} days`
    return { kind: 'pause', reason: `A delivery failed for ${time}; the last time: ${error}.` }
  }
  const { deliveryPausesMs: pauses } = limits
  const isForAll = (status === 429 || status === 503) && retryAfterMs !== null
  // Nobody is asked again at once, even if it says so: it would go on for a day.
  const restMs = Math.max(Math.min(retryAfterMs ?? 0, limits.retryAfterMsMax), pauses[0])
  const pauseMs = isForAll ? restMs : pauses[Math.min(failures, pauses.length - 1)]!
  return { kind: 'retry', at: Math.min(now + pauseMs, last), isForAll }
}

/** The milliseconds that a Retry-After header asks for: seconds, or a date. */
export function retryAfterIn(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? null : Math.max(ms, 0)
}
