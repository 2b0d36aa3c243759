// Runs work that takes no input: one run at a time, and one more if asked during a run.
import { ownWork } from './line.ts'

export class Runner {
  readonly #work: () => Promise<void>
  readonly #failed: (error: unknown) => void
  /** The last run that was asked for; it is over when all are. */
  #last: Promise<void> = Promise.resolve()
  /** The run that has not begun yet, if one was asked for. */
  #next: Promise<void> | null = null
  #isStopped = false

  constructor(work: () => Promise<void>, failed: (error: unknown) => void) {
    this.#work = work
    this.#failed = failed
  }

  /** Resolves when a run that began after this call is over, also when it failed. */
  run(): Promise<void> {
    this.#next ??= this.#last = this.#last.then(() => this.#runOnce())
    return this.#next
  }

  /** Lets the present run finish; there will be no other. */
  stop(): Promise<void> {
    this.#isStopped = true
    return this.#last
  }

  async #runOnce(): Promise<void> {
    this.#next = null
    if (this.#isStopped) return
    try {
      await ownWork(this.#work)
    } catch (error) {
      this.#failed(error)
    }
  }
}
