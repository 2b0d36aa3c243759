// Reads what other processes changed, so that this process's copy of the ledger follows. Polling suffices;
// notifications only make it quicker.
import { limits } from '../limits.ts'
import { Listener } from './listener.ts'
import { NUDGE_CHANNEL, type PostgresStore } from './postgres.ts'

export interface FeedReader {
  /** Reads these providers again. */
  refresh(providers: Iterable<number>): Promise<void>
  /** Reads everything again: entries were pruned that this process had not seen. */
  load(): Promise<void>
  /** How old the oldest entry was when it was taken in. */
  lagged(seconds: number): void
  failed(error: unknown): void
}

interface Entry {
  xid: string
  provider_id: number
  origin: string
  /** Its transaction is not older than all that are running: it may be read again, and others before it may appear. */
  open: boolean
  age: number
}

const keyOf = ({ xid, provider_id }: Entry) => `${xid} ${provider_id}`

interface State {
  xmin: string
  xmax: string
  behind: boolean
}

const STATE = `select pg_snapshot_xmin(pg_current_snapshot())::text as xmin,
  pg_snapshot_xmax(pg_current_snapshot())::text as xmax, (select xid > $1::xid8 from changes_horizon) as behind`
const ENTRIES = `select xid::text, provider_id, origin, xid >= pg_snapshot_xmin(pg_current_snapshot()) as open,
  extract(epoch from clock_timestamp() - made_at)::float8 as age from changes where xid >= $1::xid8`
const PRUNE = `with old as (
    delete from changes where made_at < now() - $1 * interval '1 millisecond'
      and xid < pg_snapshot_xmin(pg_current_snapshot()) returning xid)
  update changes_horizon set xid = greatest(xid, (select max(xid::text::numeric) + 1 from old)::text::xid8)
  where exists (select 1 from old)`
// In a database that was restored into another server, transactions count from elsewhere: what lies ahead of all that this
// server has begun is not its own. Left there, everyone would be behind until it has caught up with those numbers.
const FORGET = `with foreign_entries as (delete from changes where xid >= pg_snapshot_xmax(pg_current_snapshot()))
  update changes_horizon set xid = '0' where xid > pg_snapshot_xmax(pg_current_snapshot())`

export class Feed {
  readonly #store: PostgresStore
  readonly #reader: FeedReader
  #cursor = '0'
  /** Entries of transactions that were still open to others at the last poll, by transaction and provider. */
  #seen = new Set<string>()
  /** How often a transaction of ours may have been committed without our having heard of it or taken it in. */
  #doubts = 0
  #doubtsNoted = 0
  /** What was in doubt is decided once all transactions before this one are over. */
  #decidedAt: string | null = null
  readonly #listener: Listener
  #timer: NodeJS.Timeout | null = null
  #polling: Promise<void> | null = null
  #again = false
  #stopped = false
  #prunedAt = 0

  constructor(store: PostgresStore, reader: FeedReader) {
    this.#store = store
    this.#reader = reader
    this.#listener = new Listener({
      store,
      channel: NUDGE_CHANNEL,
      name: 'holdfast feed',
      heard: () => void this.poll(),
      // The server may have crashed, or another one is in its place: then what was read may be undone.
      lost: () => this.#doubts++,
      failed: error => reader.failed(error),
    })
    store.onDoubt(error => {
      this.#doubts++
      reader.failed(error)
    })
  }

  /** Notes where the feed is, loads, and follows from there: what is committed meanwhile is read twice, never missed. */
  async start(): Promise<void> {
    await this.#store.pool.query(FORGET)
    this.#cursor = (await this.#store.pool.query<{ xmin: string }>(STATE, ['0'])).rows[0]!.xmin
    await this.#reader.load()
    await this.#listener.start()
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#polling
    this.#listener.stop()
  }

  /** Takes in all that is there now; one poll at a time, and one more when asked meanwhile. */
  poll(): Promise<void> {
    if (this.#polling) {
      this.#again = true
      return this.#polling
    }
    this.#polling = this.#pollOnce()
      .catch(error => this.#reader.failed(error))
      .finally(() => {
        this.#polling = null
        if (this.#again && !this.#stopped) {
          this.#again = false
          void this.poll()
        }
      })
    return this.#polling
  }

  /** Resolves when everything is taken in that is committed now. */
  async catchUp(): Promise<void> {
    // A poll that is under way may have begun too early.
    await this.#polling
    await this.poll()
  }

  async #pollOnce(): Promise<void> {
    const doubts = this.#doubts
    const { xmin, xmax, behind, entries } = await this.#read()
    if (doubts > this.#doubtsNoted) {
      this.#doubtsNoted = doubts
      this.#decidedAt = xmax
    }
    const isDecided = this.#decidedAt !== null && BigInt(xmin) >= BigInt(this.#decidedAt)
    if (behind || isDecided) {
      await this.#reader.load()
      if (isDecided) this.#decidedAt = null
    } else {
      const fresh = entries.filter(entry => !this.#seen.has(keyOf(entry)) && entry.origin !== this.#store.origin)
      if (fresh.length > 0) {
        await this.#reader.refresh(fresh.map(entry => entry.provider_id))
        // Not spread into Math.max: after a pause there may be more entries than a call takes arguments.
        this.#reader.lagged(fresh.reduce((oldest, { age }) => Math.max(oldest, age), 0))
      }
    }
    this.#cursor = xmin
    this.#seen = new Set(entries.filter(entry => entry.open).map(keyOf))
  }

  async #read(): Promise<State & { entries: Entry[] }> {
    const client = await this.#store.pool.connect()
    try {
      const [, state, entries] = await Promise.all([
        client.query('begin isolation level repeatable read read only'),
        client.query<State>({ name: 'feed_state', text: STATE, values: [this.#cursor] }),
        client.query<Entry>({ name: 'feed_entries', text: ENTRIES, values: [this.#cursor] }),
        client.query('commit'),
      ])
      return { ...state.rows[0]!, entries: entries.rows }
    } finally {
      client.release()
    }
  }

  #schedule(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      void this.#tick().finally(() => this.#schedule())
    }, limits.feedPollMs).unref()
  }

  async #tick(): Promise<void> {
    await this.poll()
    const now = performance.now()
    if (now - this.#prunedAt < limits.feedPruneMs) return
    this.#prunedAt = now
    await this.#store.pool.query(PRUNE, [limits.feedKeepMs]).catch(error => this.#reader.failed(error))
  }
}
