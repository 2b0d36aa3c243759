// Wakes those who wait for work: in this process at once, in others by PostgreSQL's notifications. A ring may be lost;
// whoever listens looks by itself now and then.
import pg from 'pg'
import { limits } from '../limits.ts'
import { PostgresStore } from './postgres.ts'
import type { Store } from './store.ts'

const CHANNEL = 'holdfast_work'

export class Bell {
  readonly #store: Store
  readonly #url: string
  #listener: () => void = () => {}
  #client: pg.Client | null = null
  #timer: NodeJS.Timeout | null = null
  #ringing = false

  constructor(store: Store, url: string) {
    this.#store = store
    this.#url = url
  }

  ring(): void {
    this.#listener()
    if (!(this.#store instanceof PostgresStore) || this.#ringing) return
    this.#ringing = true
    // One notification for all that rings in this turn of the loop.
    const { pool } = this.#store
    setImmediate(() => {
      this.#ringing = false
      void pool.query(`notify ${CHANNEL}`).catch(() => {})
    })
  }

  async listen(listener: () => void): Promise<void> {
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
    client.on('notification', () => this.#listener())
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      this.#client = client
      this.#listener()
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
