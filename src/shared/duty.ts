// A duty: work in the background that takes no input and may run twice. It runs when it is nudged, when its next work
// is due, and now and then, for nudges that were lost.
import type { Logger } from 'pino'
import { Runner } from './runner.ts'

interface DutyOptions {
  name: string
  /** It looks at least this often. */
  pollMs: number
  /**
   * Does all that is due; returns the milliseconds until more is due, or null when nothing is known to come. One that
   * runs for long asks whether it has to stop.
   */
  run: (isStopped: () => boolean) => Promise<number | null>
  log: Logger
}

export class Duty {
  readonly #options: DutyOptions
  readonly #runner: Runner
  #timer: NodeJS.Timeout | null = null
  #isStopped = false
  #isFailing = false
  /** By this process's stopwatch: when it runs next, and since when it runs. */
  #nextAt: number | null = null
  #runsSince: number | null = null

  constructor(options: DutyOptions) {
    const { name, log } = options
    this.#options = options
    this.#runner = new Runner(
      () => this.#run(),
      error => log.warn({ err: error, duty: name }, 'a duty failed; it will be tried again'),
    )
  }

  /** How it is: whether its last run failed, for how long it runs, or in how long it runs next. */
  look(): { name: string; isFailing: boolean; nextMs: number | null; runningMs: number | null } {
    const now = performance.now()
    const isRunning = this.#runsSince !== null
    return {
      name: this.#options.name,
      isFailing: this.#isFailing && !isRunning,
      nextMs: isRunning || this.#nextAt === null ? null : this.#nextAt - now,
      runningMs: this.#runsSince === null ? null : now - this.#runsSince,
    }
  }

  /** Resolves when a run that began after this call is over. */
  wake(): Promise<void> {
    return this.#runner.run()
  }

  /** For a duty that isn't urgent: the first run is after pollMs. */
  wakeLater(): void {
    this.#wakeIn(this.#options.pollMs)
  }

  /** Lets the present run finish; there will be no other. */
  stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer) clearTimeout(this.#timer)
    return this.#runner.stop()
  }

  async #run(): Promise<void> {
    const { run, pollMs } = this.#options
    let nextMs: number | null = null
    this.#runsSince = performance.now()
    this.#isFailing = true
    try {
      nextMs = await run(() => this.#isStopped)
      this.#isFailing = false
    } finally {
      this.#runsSince = null
      this.#wakeIn(Math.min(nextMs ?? pollMs, pollMs))
    }
  }

  #wakeIn(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#nextAt = performance.now() + ms
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.wake(), Math.max(ms, 0)).unref()
  }
}
