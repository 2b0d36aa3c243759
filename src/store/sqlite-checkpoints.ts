// Copies the log of a database file into the file while clients go on, so that the log stays small.
import { limits } from '../shared/limits.ts'
import type { Checkpointed, CheckpointMode } from './sqlite-connection.ts'

export class Checkpoints {
  readonly #copy: (mode: CheckpointMode) => Promise<Checkpointed>
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #wroteAt = -Infinity
  #isClosed = false

  constructor(copy: (mode: CheckpointMode) => Promise<Checkpointed>) {
    this.#copy = copy
  }

  /** Something was committed. */
  wrote(): void {
    this.#wroteAt = performance.now()
    // The last long transaction may end in the middle of a close.
    if (!this.#isClosed) this.#timer ??= this.#later()
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => void (this.#running = this.#run()), limits.walCheckpointMs).unref()
  }

  /** Once there are no more writes, and all is copied, a log that is too large is emptied. */
  async #run(): Promise<void> {
    const isQuiet = performance.now() - this.#wroteAt >= limits.walIdleCheckpointMs
    let isDone = false
    try {
      // Busy when someone outside copies it just now: then nothing is known of its pages.
      const { isBusy, pages, copied } = await this.#copy('passive')
      const isCopied = !isBusy && pages === copied
      const isSmall = pages <= limits.walPagesKept
      isDone = isQuiet && isCopied && (isSmall || !(await this.#copy('truncate')).isBusy)
    } catch {
      // A full or failing disk. Nothing is lost: the log stays, and the next write reports the error.
    }
    // Meanwhile more may have been written.
    const isStill = performance.now() - this.#wroteAt >= limits.walIdleCheckpointMs
    this.#timer = this.#isClosed || (isDone && isStill) ? null : this.#later()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#running
  }
}
