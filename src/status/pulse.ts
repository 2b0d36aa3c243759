// Brings the board up to date for all who follow it: once for all of them, soon after something was committed anywhere,
// and when time changes a row. Nobody follows, nothing is done.
import { setTimeout as sleep } from 'node:timers/promises'
import { endOf } from '../events/event.ts'
import { type EventKind, KINDS } from '../events/kinds.ts'
import type { Publisher } from '../events/publisher.ts'
import { limits } from '../shared/limits.ts'
import type { Board } from './board.ts'

/** Any entry of the log may change a row, the quiet ones too. */
const ALL: ReadonlySet<EventKind> = new Set(Object.keys(KINDS) as EventKind[])

interface PulseOptions {
  board: Board
  publisher: Pick<Publisher, 'changed'>
  now: () => number
  failed: (error: unknown) => void
}

export class Pulse {
  readonly #options: PulseOptions
  readonly #waiting = new Set<() => void>()
  #followers = 0
  #isBeating = false
  #round = 0
  #sequence = 0
  #isFailing = false
  /** The versions of what those who follow were woken for. */
  #shown = ''

  constructor(options: PulseOptions) {
    this.#options = options
  }

  /** Grows when the board may show more. */
  get round(): number {
    return this.#round
  }

  /** The place in the log up to which the board is true. */
  get sequence(): number {
    return this.#sequence
  }

  /** Whether the board couldn't be read the last time. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** One more follows, and has seen the board up to this place. Returns how to stop. */
  follow(sequence: number): () => void {
    this.#followers++
    this.#sequence = Math.max(this.#sequence, sequence)
    if (!this.#isBeating) {
      this.#isFailing = false
      this.#shown = ''
      void this.#beat()
    }
    return () => void this.#followers--
  }

  /** Resolves when there is another round, or the signal is aborted. */
  async after(round: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#round !== round) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    this.#waiting.add(wake)
    signal.addEventListener('abort', wake)
    await promise
    this.#waiting.delete(wake)
    signal.removeEventListener('abort', wake)
  }

  async #beat(): Promise<void> {
    const { publisher, board, now } = this.#options
    this.#isBeating = true
    while (this.#followers > 0) {
      await this.#look()
      const shown = this.#isFailing ? '' : [board.version, board.hostsVersion, board.waitingVersion].join()
      const isNews = shown !== this.#shown
      this.#shown = shown
      if (isNews) this.#wake()
      // What comes next waits only where something came just now.
      await sleep(isNews || this.#isFailing ? limits.statusBundleMs : limits.statusPauseMs, null, { ref: false })
      const ms = Math.ceil(Math.min(limits.statusLookMs, Math.max(0, board.nextChange - now())))
      await publisher.changed(endOf(this.#sequence), ALL, AbortSignal.timeout(ms))
    }
    this.#isBeating = false
  }

  async #look(): Promise<void> {
    try {
      this.#sequence = await this.#options.board.fresh()
      this.#isFailing = false
    } catch (error) {
      this.#isFailing = true
      this.#options.failed(error)
    }
  }

  #wake(): void {
    this.#round++
    for (const wake of this.#waiting) wake()
  }
}
