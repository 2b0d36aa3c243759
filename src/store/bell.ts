// Wakes the duties of all processes when there is work. A transaction that makes work says so (`wake`), and the log
// carries it to the others. A ring may be lost with the process that should hear it, so duties also poll.
import { Listeners } from '../shared/listeners.ts'
import type { Topic } from './log.ts'
import type { Store } from './store.ts'
import { wake } from './transaction.ts'

export class Bell {
  readonly #store: Store
  readonly #listeners: Listeners<Topic>
  readonly #failed: (error: unknown) => void
  readonly #stop: () => void
  #isStopped = false

  constructor(store: Store, failed: (error: unknown) => void = () => {}) {
    this.#store = store
    this.#failed = failed
    this.#listeners = new Listeners(failed)
    this.#stop = store.onCommit(({ topics }) => this.heard([...topics]))
  }

  /** For work that no transaction of ours has made. */
  ring(topic: Topic = 'any'): void {
    void this.#store.write(() => wake(topic)).catch(this.#failed)
  }

  /** Any number may listen. */
  listen(listener: (topic: Topic) => void): void {
    this.#listeners.add(listener)
  }

  /** Takes what another process has told. */
  heard(topics: readonly Topic[]): void {
    if (!this.#isStopped) for (const topic of topics) this.#listeners.tell(topic)
  }

  stop(): void {
    this.#isStopped = true
    this.#stop()
  }
}
