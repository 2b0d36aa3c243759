// Sends a request whose answer may get lost, without having it done twice.
import { plainClock } from '../clock/plain.ts'
import { ApiError, isAway, Unreachable } from './errors.ts'
import { LOOK_MAX_MS, waitFor, type WaitOptions } from './waiting.ts'

interface Request<T> {
  /** `leftMs` is what is left of the wait; null without a limit. */
  send: (signal: AbortSignal, leftMs: number | null) => Promise<T>
  /** What the request has made, if it has arrived; else null. */
  find: (signal: AbortSignal) => Promise<T | null>
}

/**
 * Sends the request until the server has answered it. After a lost answer it asks first what became of the request.
 * Without a limit, a server that isn't there at all is an error at once.
 */
export async function answered<T>({ send, find }: Request<T>, options: WaitOptions): Promise<T> {
  const { timeoutMs, startedAt = plainClock.now() } = options
  // Ctrl-C doesn't end the request: it might arrive after we have said that nothing is left.
  const patience = () => AbortSignal.timeout(LOOK_MAX_MS)
  const sent = () => {
    const left = timeoutMs === null ? null : Math.max(startedAt + timeoutMs - plainClock.now(), 1)
    return send(patience(), left)
  }
  try {
    return await sent()
  } catch (error) {
    const isHopeless = timeoutMs === null && error instanceof Unreachable && error.isUnsent
    if (!isAway(error) || isHopeless) throw error
  }
  const look = async () => {
    const arrived = await find(patience())
    if (arrived !== null) return { done: arrived }
    try {
      return { done: await sent() }
    } catch (error) {
      // A request that seemed lost may have arrived meanwhile, and is what refuses this one.
      const late = isAway(error) ? null : await find(patience())
      if (late === null) throw error
      return { done: late }
    }
  }
  return waitFor(look, { ...options, startedAt })
}

/** null for what isn't there. */
export async function ifThere<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}
