// Wakes duties that wait for work: in this process at once, in others by PostgreSQL's notifications. A ring may be
// lost, so listeners also poll.
import { Listeners } from '../shared/listeners.ts'
import type { Ear } from './listener.ts'
import { PostgresStore } from './postgres.ts'
import type { Store } from './store.ts'

const CHANNEL = 'holdfast_work'

/** What there may be work on. A ring without a topic is 'any' and wakes everyone. */
export type Topic = 'nodes' | 'allocations' | 'expiry' | 'servers' | 'leases' | 'healing' | 'any'

export class Bell {
  readonly #store: Store
  readonly #listeners: Listeners<Topic>
  #ear: Ear | null = null
  readonly #ringing = new Set<Topic>()
  #isStopped = false

  constructor(store: Store, failed: (error: unknown) => void = () => {}) {
    this.#store = store
    this.#listeners = new Listeners(failed)
  }

  ring(topic: Topic = 'any'): void {
    this.#tell(topic)
    if (!(this.#store instanceof PostgresStore) || this.#ringing.has(topic)) return
    this.#ringing.add(topic)
    // One notification for all rings of this topic in this turn of the event loop.
    const { pool } = this.#store
    setImmediate(() => {
      this.#ringing.delete(topic)
      void pool.query(`notify ${CHANNEL}, '${topic}'`).catch(() => {})
    })
  }

  /** Any number may listen. After each connect all listeners get 'any', because rings may have been missed. */
  async listen(listener: (topic: Topic) => void): Promise<void> {
    this.#listeners.add(listener)
    if (!(this.#store instanceof PostgresStore) || this.#ear) return
    this.#ear = {
      channel: CHANNEL,
      heard: payload => this.#tell((payload as Topic | undefined) ?? 'any'),
      connected: () => this.#tell('any'),
    }
    await this.#store.listener.listen(this.#ear)
  }

  stop(): void {
    this.#isStopped = true
    if (this.#ear && this.#store instanceof PostgresStore) this.#store.listener.forget(this.#ear)
  }

  #tell(topic: Topic): void {
    if (!this.#isStopped) this.#listeners.tell(topic)
  }
}
