// A duty: work in the background that takes no input and may run twice. It runs when it is nudged, when its next work
// is due, and now and then, for nudges that were lost.
import type { Logger } from 'pino'

interface DutyOptions {
  name: string
  /** It looks at least this often. */
  pollMs: number
  /** Does all that is due; says in how many milliseconds more will be, null when nothing is known to come. */
  run: () => Promise<number | null>
  log: Logger
}

export class Duty {
  readonly #options: DutyOptions
  #running: Promise<void> | null = null
  #again = false
  #timer: NodeJS.Timeout | null = null
  #stopped = false

  constructor(options: DutyOptions) {
    this.#options = options
  }

  /** Resolves when a run that began after this call is over. */
  async wake(): Promise<void> {
    if (this.#stopped) return
    if (this.#running) {
      this.#again = true
      return this.#running
    }
    this.#running = this.#runUntilQuiet().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** Lets the present run finish; there will be no other. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#running
  }

  async #runUntilQuiet(): Promise<void> {
    let nextMs: number | null = null
    do {
      this.#again = false
      try {
        nextMs = await this.#options.run()
      } catch (error) {
        this.#options.log.warn({ err: error, duty: this.#options.name }, 'a duty failed; it will be tried again')
      }
    } while (this.#again && !this.#stopped)
    this.#wakeIn(Math.min(nextMs ?? this.#options.pollMs, this.#options.pollMs))
  }

  #wakeIn(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer)
    if (!this.#stopped) this.#timer = setTimeout(() => void this.wake(), Math.max(ms, 0)).unref()
  }
}
