// What the end of a hook means.
import { limits } from '../../../shared/limits.ts'
import { plainText } from '../../../shared/plain-text.ts'

/** How a hook ended. */
export type End =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: string }
  | { kind: 'answer'; status: number; retryAfterMs: number | null }
  | { kind: 'late'; ms: number }
  | { kind: 'broken'; why: string }

export interface Ran {
  end: End
  /** What it printed, from the end. */
  output: string
  /** The last line of what it says. */
  said: string
}

export type Verdict =
  | { kind: 'done'; said: string }
  | { kind: 'later'; said: string; retryAfterMs: number | null }
  | { kind: 'failed'; why: string }

/** As in sysexits.h: a temporary failure, try again later. */
const TRY_AGAIN = 75
const OK = 0

export function verdictOn({ end, said }: Ran): Verdict {
  const because = said === '' ? '' : `: ${said}`
  if (end.kind === 'answer') return verdictOnAnswer(end, said, because)
  if (end.kind === 'broken') return { kind: 'failed', why: end.why }
  if (end.kind === 'signal') return { kind: 'failed', why: `was ended by ${end.signal}${because}` }
  if (end.kind === 'late')
    return { kind: 'failed', why: `took longer than ${end.ms / 1_000} seconds and was ended${because}` }
  if (end.code === OK) return { kind: 'done', said }
  if (end.code === TRY_AGAIN) return { kind: 'later', said, retryAfterMs: null }
  return { kind: 'failed', why: `failed with exit code ${end.code}${because}` }
}

function verdictOnAnswer({ status, retryAfterMs }: End & { kind: 'answer' }, said: string, because: string): Verdict {
  if (status === 202 || (status === 503 && retryAfterMs !== null)) return { kind: 'later', said, retryAfterMs }
  if (status >= 200 && status < 300) return { kind: 'done', said }
  if (status >= 300 && status < 400)
    return { kind: 'failed', why: `was answered with ${status}, and redirects are not followed` }
  return { kind: 'failed', why: `was answered with ${status}${because}` }
}

/** When to ask a hook again that needs more time, after it was asked so often; null when it was asked often enough. */
export function pauseMs(asked: number, retryAfterMs: number | null): number | null {
  if (asked >= limits.hookAsksMax) return null
  const { hookPauseMs, hookPauseMsMax } = limits
  if (retryAfterMs !== null) return Math.min(Math.max(retryAfterMs, hookPauseMs), hookPauseMsMax)
  return Math.min(hookPauseMs * 2 ** Math.min(asked - 1, 20), hookPauseMsMax)
}

/** The last line that says something, so that a message can repeat it. */
export function lastLine(text: string): string {
  const line = plainText(text).trimEnd().split('\n').at(-1)!.trim()
  const { hookReasonCharsMax: most } = limits
  return line.length > most ? `${line.slice(0, most - 3)}...` : line
}
