// Polls the server until something has happened, and shows what it waits for.
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../clock/clock.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { visible } from './output.ts'
import { terminal } from './terminal.ts'

type Look<T> = { done: T } | { waitingFor: string }

const FIRST_PAUSE_MS = 100
const PAUSE_MAX_MS = 2_000

export interface WaitOptions {
  /** null for no limit. */
  timeoutMs: number | null
  signal?: AbortSignal
  now?: () => number
  /** Shows what it waits for; by default on its own line. */
  progress?: { show: (text: string, waitedMs: number) => void; clear: () => void }
}

export async function waitFor<T>(look: () => Promise<Look<T>>, options: WaitOptions): Promise<T> {
  const { timeoutMs, signal, now = () => systemClock.now(), progress = new Progress() } = options
  const started = now()
  try {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, PAUSE_MAX_MS)) {
      signal?.throwIfAborted()
      const seen = await look()
      if ('done' in seen) return seen.done
      const waited = now() - started
      if (timeoutMs !== null && waited >= timeoutMs) {
        throw new CommandFailure(EXIT.failed, `gave up after ${seconds(waited)}: ${seen.waitingFor}`)
      }
      progress.show(seen.waitingFor, waited)
      const left = timeoutMs === null ? pause : Math.max(timeoutMs - waited, 1)
      await sleep(Math.min(pause, left), undefined, signal && { signal })
    }
  } finally {
    progress.clear()
  }
}

/** On a terminal one line that changes, else a new line for each new text. */
export class Progress {
  readonly #stderr = terminal().stderr
  #said = ''

  show(text: string, waitedMs: number): void {
    const words = visible(text)
    if (this.#stderr.isTTY) {
      const line = `${words} (${seconds(waitedMs)})`.slice(0, (this.#stderr.columns || 80) - 1)
      this.#stderr.write(`\r\u001b[K${line}`)
    } else if (words !== this.#said) {
      this.#stderr.write(`${words}\n`)
    }
    this.#said = words
  }

  clear(): void {
    if (this.#stderr.isTTY && this.#said !== '') this.#stderr.write('\r\u001b[K')
  }
}

const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`
