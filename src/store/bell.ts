// Wakes those who wait for work: in this process at once, in others by PostgreSQL's notifications. A ring may be lost;
// whoever listens looks by itself now and then.
import { Listener } from './listener.ts'
import { PostgresStore } from './postgres.ts'
import type { Store } from './store.ts'

const CHANNEL = 'holdfast_work'

/** What there may be work on; whoever doesn't say wakes everyone. */
export type Topic = 'nodes' | 'allocations' | 'expiry' | 'servers' | 'leases' | 'healing' | 'any'

export class Bell {
  readonly #store: Store
  #listener: (topic: Topic) => void = () => {}
  #ear: Listener | null = null
  readonly #ringing = new Set<Topic>()

  constructor(store: Store) {
    this.#store = store
  }

  ring(topic: Topic = 'any'): void {
    this.#listener(topic)
    if (!(this.#store instanceof PostgresStore) || this.#ringing.has(topic)) return
    this.#ringing.add(topic)
    // One notification for all that rings for this in this turn of the loop.
    const { pool } = this.#store
    setImmediate(() => {
      this.#ringing.delete(topic)
      void pool.query(`notify ${CHANNEL}, '${topic}'`).catch(() => {})
    })
  }

  async listen(listener: (topic: Topic) => void): Promise<void> {
    this.#listener = listener
    if (!(this.#store instanceof PostgresStore)) return
    this.#ear = new Listener({
      store: this.#store,
      channel: CHANNEL,
      name: 'holdfast bell',
      heard: payload => this.#listener((payload as Topic | undefined) ?? 'any'),
      connected: () => this.#listener('any'),
    })
    await this.#ear.start()
  }

  stop(): void {
    this.#listener = () => {}
    this.#ear?.stop()
  }
}
