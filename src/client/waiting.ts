// Polls the server until something has happened, and shows what it waits for. A server that is away for a while, as in
// a restart or a fail-over, doesn't end the wait.
import { plainClock } from '../clock/plain.ts'
import { type ApiError, isAway, Unreachable, WaitedTooLong } from './errors.ts'
import { sleep } from './timers.ts'

/** What `isBrief` is likely over at the next look, and is said only if it lasts. */
export type Look<T> = { done: T } | { waitingFor: string; isBrief?: boolean }

const FIRST_PAUSE_MS = 100
const PAUSE_MAX_MS = 2_000
/** For so long a server that is about to do it needs no words. */
const BRIEF_MS = 5_000
/** A server that asks for a longer pause is asked again after this one. */
const ASKED_PAUSE_MAX_MS = 30_000
/** A look without an answer is given up after so long: the connection may be dead, and a new one is alive. */
export const LOOK_MAX_MS = 15_000
/** The last look may take so long beyond the end, so that a busy server isn't taken for one that is away. */
const LAST_LOOK_MS = 10_000
/** Without a limit a wait ends when the server was away for so long: longer than a restart or a fail-over takes. */
const SILENCE_MAX_MS = 10 * 60_000

export interface WaitOptions {
  /** null for no limit. */
  timeoutMs: number | null
  /** The server counts the same time. If it answers, it may take so much longer to say how that ended. */
  graceMs?: number
  /** From when the time counts; now if it isn't given. */
  startedAt?: number
  signal?: AbortSignal
  now?: () => number
  /** Shows what it waits for. `topic` is the text without what changes at each look. */
  progress?: { show: (text: string, waitedMs: number, topic?: string) => void; clear: () => void }
  /** Rests between looks: for `ms`, or until there is reason to look, but no longer than `leftMs`. */
  rest?: ((ms: number, signal: AbortSignal | undefined, leftMs: number) => Promise<void>) | undefined
  /** What is left when the wait gives up, and how to end it. `isSure` if the server has just said that it is there. */
  left?: (isSure: boolean) => string
}

/** `look` must pass its signal on to the server. */
export async function waitFor<T>(look: (signal: AbortSignal) => Promise<Look<T>>, options: WaitOptions): Promise<T> {
  const { timeoutMs, graceMs = 0, signal, now = plainClock.now, progress, rest = sleep } = options
  const startedAt = options.startedAt ?? now()
  let heardAt = now()
  let briefSince: number | null = null
  let [pause, wasAway] = [FIRST_PAUSE_MS, false]
  try {
    for (;;) {
      const left = timeoutMs === null ? Infinity : startedAt + timeoutMs - now()
      const seen = await looked(look, Math.min(LOOK_MAX_MS, Math.max(left, LAST_LOOK_MS)), signal)
      signal?.throwIfAborted()
      if ('done' in seen) return seen.done
      const at = now()
      const isGone = 'away' in seen
      if (!isGone) heardAt = at
      const endsAt = timeoutMs === null ? Infinity : startedAt + timeoutMs + (isGone ? 0 : graceMs)
      if (at >= endsAt || (timeoutMs === null && at - heardAt >= SILENCE_MAX_MS)) {
        throw gaveUp(seen, at - startedAt, options.left?.(!isGone) ?? null)
      }
      briefSince = 'isBrief' in seen && seen.isBrief ? (briefSince ?? at) : null
      const isSaid = briefSince === null || at - briefSince >= BRIEF_MS
      if (progress && isSaid) show(progress, seen, at - startedAt, endsAt - at)
      if (isGone !== wasAway) pause = FIRST_PAUSE_MS
      wasAway = isGone
      const asked =
        isGone && 'retryAfterMs' in seen.away ? Math.min(seen.away.retryAfterMs ?? 0, ASKED_PAUSE_MAX_MS) : 0
      const leftMs = Math.max(endsAt - at, 1)
      await rest(Math.min(Math.max(pause, asked), leftMs), signal, leftMs)
      pause = Math.min(pause * 1.5, PAUSE_MAX_MS)
    }
  } finally {
    progress?.clear()
  }
}

type Seen<T> = Look<T> | { away: ApiError | Unreachable }

async function looked<T>(
  look: (signal: AbortSignal) => Promise<Look<T>>,
  lookMs: number,
  signal: AbortSignal | undefined,
): Promise<Seen<T>> {
  signal?.throwIfAborted()
  const late = AbortSignal.timeout(lookMs)
  try {
    return await look(signal ? AbortSignal.any([signal, late]) : late)
  } catch (error) {
    if (isAway(error)) return { away: error }
    throw error
  }
}

type Unfinished = Exclude<Seen<never>, { done: never }>

function show(progress: NonNullable<WaitOptions['progress']>, seen: Unfinished, waitedMs: number, leftMs: number) {
  if ('waitingFor' in seen) return progress.show(seen.waitingFor, waitedMs)
  const topic = `${wordsOn(seen.away)}; waiting goes on`
  progress.show(leftMs === Infinity ? topic : `${topic}, ${seconds(leftMs)} left`, waitedMs, topic)
}

const wordsOn = (error: ApiError | Unreachable) =>
  error instanceof Unreachable
    ? `the server does not answer (${error.reason})`
    : `the server can't answer now (${error.status}: ${error.message})`

function gaveUp(seen: Unfinished, waitedMs: number, hint: string | null): WaitedTooLong {
  const why = 'away' in seen ? wordsOn(seen.away) : seen.waitingFor
  return new WaitedTooLong(`gave up after ${seconds(waitedMs)}: ${why}`, { isAway: 'away' in seen, hint })
}

export const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`
