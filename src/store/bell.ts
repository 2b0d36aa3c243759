// Wakes the duties of all processes when there is work. A transaction that makes work says so (`wake`), and the log
// carries it to the others. A ring may be lost with the process that should hear it, so duties also poll.
import { Listeners } from '../shared/listeners.ts'
import type { Topic } from './log.ts'
import type { Store } from './store.ts'

export class Bell {
  readonly #store: Store
  readonly #listeners: Listeners<Topic>
  readonly #stop: () => void
  #isStopped = false

  constructor(store: Store, failed: (error: unknown) => void = () => {}) {
    this.#store = store
    this.#listeners = new Listeners(failed)
    this.#stop = store.onCommit(({ topics }) => {
      if (topics.size > 0) void this.#heardHere([...topics])
    })
  }

  /** Any number may listen. */
  listen(listener: (topic: Topic) => void): void {
    this.#listeners.add(listener)
  }

  /** Takes what another process has told. */
  heard(topics: readonly Topic[]): void {
    if (!this.#isStopped) for (const topic of topics) this.#listeners.tell(topic)
  }

  /** Duties search in memory, which must have the commit first. */
  async #heardHere(topics: readonly Topic[]): Promise<void> {
    await Promise.resolve()
    await this.#store.settled()
    this.heard(topics)
  }

  stop(): void {
    this.#isStopped = true
    this.#stop()
  }
}
