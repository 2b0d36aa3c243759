// Ctrl-C while a command waits: takes back what was asked for, or says what is left and how to end it.
import { AsyncLocalStorage } from 'node:async_hooks'
import { constants } from 'node:os'
import { ApiError } from '../client/errors.ts'
import { CANCEL_MAX_MS } from '../client/keeping.ts'
import { verdictOn } from './failures.ts'
import { visible } from './output.ts'
import { type Terminal, terminal } from './terminal.ts'
import { Progress, waitFor } from './progress.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const codeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal]

/** The first signal aborts what waits. A second one ends the command at once, with a word on what is left. */
export class Interrupts {
  first: NodeJS.Signals | null = null
  readonly #abort = new AbortController()
  readonly #terminal: Terminal = terminal()
  readonly #listen: (signal: NodeJS.Signals) => void

  constructor(left: () => string) {
    const said = AsyncLocalStorage.bind(left)
    this.#listen = signal => {
      const isSecond = this.first !== null
      this.first ??= signal
      this.#abort.abort()
      if (!isSecond) return
      report(said(), this.#terminal)
      this.#terminal.exit(codeOf(this.first))
    }
    for (const signal of SIGNALS) this.#terminal.on(signal, this.#listen)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  stop(): void {
    for (const signal of SIGNALS) this.#terminal.off(signal, this.#listen)
  }
}

/** What a command has asked for, in words for its user. */
export interface Asked {
  /** Such as `allocation job-17`. */
  what: string
  /** Takes it back; null to leave it. */
  cancel: ((signal: AbortSignal) => Promise<unknown>) | null
  /** Whether the server has answered the request. Before that, one that isn't there may still arrive. */
  isMade: () => boolean
  /** If it is left on purpose: what it goes on doing, how to look at it and how to end it. */
  kept: () => string
  /** If it couldn't be taken back: what may be left, and how to end it. */
  left: () => string
}

/** Runs work that waits, until it is done or interrupted. */
export async function interruptible(asked: Asked, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interrupts = new Interrupts(asked.left)
  try {
    await work(interrupts.signal)
  } catch (error) {
    if (interrupts.first === null) throw error
    report(await endingOf(asked))
    terminal().exitCode = codeOf(interrupts.first)
  } finally {
    interrupts.stop()
  }
}

/** Takes back what was asked for, if that is wanted. Returns what to say. */
async function endingOf({ what, cancel, isMade, kept, left }: Asked): Promise<string> {
  if (cancel === null) return kept()
  try {
    await cancelled(cancel)
    return `cancelled: ${what} is deleted`
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return isMade() ? `${what} is gone` : left()
    const verdict = verdictOn(error)
    if (verdict === null) throw error
    return `${left()} (${verdict.message})`
  }
}

/** Takes it back, also if the server is away for a moment. */
export async function cancelled(cancel: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const line = new Progress()
  const show = (_: string, waitedMs: number) =>
    line.show('the server is away; trying to take it back, Ctrl-C again leaves at once', waitedMs)
  const progress = { show, clear: () => line.clear() }
  await waitFor(async signal => ({ done: await cancel(signal) }), { timeoutMs: CANCEL_MAX_MS, progress })
}

export const report = (words: string, { stderr } = terminal()) => void stderr.write(`holdfast: ${visible(words)}\n`)
