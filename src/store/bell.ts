// Wakes those who wait for work: in this process at once, in others by PostgreSQL's notifications. A ring may be lost;
// whoever listens looks by itself now and then.
import pg from 'pg'
import { limits } from '../limits.ts'
import { PostgresStore } from './postgres.ts'
import type { Store } from './store.ts'

const CHANNEL = 'holdfast_work'

/** What there may be work on; whoever doesn't say wakes everyone. */
export type Topic = 'nodes' | 'allocations' | 'expiry' | 'servers' | 'leases' | 'healing' | 'any'

export class Bell {
  readonly #store: Store
  readonly #url: string
  #listener: (topic: Topic) => void = () => {}
  #client: pg.Client | null = null
  #timer: NodeJS.Timeout | null = null
  readonly #ringing = new Set<Topic>()

  constructor(store: Store, url: string) {
    this.#store = store
    this.#url = url
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
    await this.#connect()
    this.#timer = setInterval(() => void (this.#client ?? this.#connect()), limits.conductorPollMs).unref()
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url, application_name: 'holdfast bell' })
    const drop = () => {
      if (this.#client === client) this.#client = null
    }
    client.on('error', drop)
    client.on('end', drop)
    client.on('notification', ({ payload }) => this.#listener((payload as Topic | undefined) ?? 'any'))
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      this.#client = client
      this.#listener('any')
    } catch {
      await client.end().catch(() => {})
    }
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    this.#listener = () => {}
    await this.#client?.end().catch(() => {})
  }
}
