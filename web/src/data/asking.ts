// Asks the server while someone is still changing the question: a moment after the last change, and only the newest
// answer counts. What changes elsewhere makes it ask again, but not too often.
import { isAway } from '../../../src/client/errors.ts'
import { plainClock } from '../../../src/clock/plain.ts'

/** After so long a server that was away is asked again. */
const AWAY_MS = 2_000

interface Timers {
  now: () => number
  /** Calls back after so long; returns what undoes it. */
  later: (ms: number, act: () => void) => () => void
}

interface AskingOptions<Question, Answer> {
  ask: (question: Question, signal: AbortSignal) => Promise<Answer>
  /** The newest question has its answer. */
  answered: (answer: Answer, question: Question) => void
  failed: (error: unknown, question: Question) => void
  /** Whether an answer is awaited. */
  asking: (isAsking: boolean) => void
  /** How long after the last change. */
  calmMs: number
  /** At most once in so long for what changes elsewhere. */
  againMs: number
  timers: Timers
}

interface Asking<Question> {
  /** The question is another one. */
  change: (question: Question) => void
  /** The same question may have another answer. */
  again: () => void
  drop: () => void
}

export function createAsking<Question, Answer>(options: AskingOptions<Question, Answer>): Asking<Question> {
  const { ask, answered, failed, asking, calmMs, againMs, timers } = options
  let current: { question: Question } | null = null
  let sent: AbortController | null = null
  let sentAt = -Infinity
  let cancelTimer: (() => void) | null = null
  let isDueAgain = false

  const calm = () => {
    cancelTimer?.()
    cancelTimer = null
    isDueAgain = false
  }
  const send = async () => {
    calm()
    if (current === null) return
    const { question } = current
    sent?.abort()
    const own = new AbortController()
    sent = own
    sentAt = timers.now()
    asking(true)
    try {
      const answer = await ask(question, own.signal)
      if (sent !== own) return
      answered(answer, question)
    } catch (error) {
      if (sent !== own) return
      // No answer is no refusal: the question stays open until the server is back.
      if (isAway(error)) {
        sent = null
        cancelTimer ??= timers.later(AWAY_MS, () => void send())
        return
      }
      failed(error, question)
    }
    sent = null
    asking(false)
  }
  return {
    change(question) {
      calm()
      current = { question }
      sent?.abort()
      sent = null
      asking(true)
      cancelTimer = timers.later(calmMs, () => void send())
    },
    again() {
      if (current === null || isDueAgain || cancelTimer !== null) return
      isDueAgain = true
      // A clock that was set must not make it wait.
      const waitMs = Math.max(0, Math.min(againMs, sentAt + againMs - timers.now()))
      cancelTimer = timers.later(waitMs, () => void send())
    },
    drop() {
      calm()
      current = null
      sent?.abort()
      sent = null
      asking(false)
    },
  }
}

export const browserTimers: Timers = {
  now: plainClock.now,
  later: (ms, act) => {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
}
