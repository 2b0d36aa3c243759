// What a process keeps in memory to search in: the ledger's table, the fleet and the calendar. Loaded at the start, changed with each
// commit before the client is answered, and on PostgreSQL kept up with what other processes do.
import type { Logger } from 'pino'
import { CalendarMirror } from '../leases/calendar/mirror.ts'
import { Mirror } from '../ledger/mirror.ts'
import { Fleet } from '../metal/nodes/fleet.ts'
import { Listeners } from '../shared/listeners.ts'
import type { Change } from '../store/change.ts'
import { Feed } from '../store/feed.ts'
import { PostgresStore } from '../store/postgres.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import type { Store } from '../store/store.ts'

interface MemoryOptions {
  store: Store
  log: Logger
  /** How far behind other processes it was. */
  lagged: (seconds: number) => void
}

export class Memory {
  readonly mirror: Mirror
  readonly fleet: Fleet
  readonly calendar: CalendarMirror
  readonly #options: MemoryOptions
  #feed: Feed | null = null
  readonly #watchers: Listeners<readonly ProviderId[]>

  constructor(options: MemoryOptions) {
    const { store, log } = options
    this.#options = options
    const failed = (error: unknown) => log.warn({ err: error }, 'the copy in memory could not be refreshed')
    this.#watchers = new Listeners(error => log.error({ err: error }, 'a watcher of changes failed'))
    this.mirror = new Mirror(store, failed)
    this.fleet = new Fleet(store)
    this.calendar = new CalendarMirror(store, () => this.catchUp(), failed)
  }

  async start(): Promise<void> {
    const { store, log, lagged } = this.#options
    store.onCommit(changes => this.#absorb(changes))
    if (!(store instanceof PostgresStore)) return this.#load()
    this.#feed = new Feed(store, {
      load: () => this.#load(),
      refresh: providers => this.#refresh([...providers]),
      lagged,
      failed: error => log.warn({ err: error }, 'the feed of changes could not be read'),
    })
    await this.#feed.start()
  }

  async stop(): Promise<void> {
    await this.#feed?.stop()
  }

  /** What brings in the changes of others; null where there are none. */
  get feed(): Feed | null {
    return this.#feed
  }

  /** Is told which providers changed, here or elsewhere, once memory knows. Any number may watch; answers how to stop that. */
  watch(watcher: (providers: readonly ProviderId[]) => void): () => void {
    return this.#watchers.add(watcher)
  }

  /** Resolves when memory has everything that is committed now. */
  async catchUp(): Promise<void> {
    await this.#options.store.settled()
    await this.#feed?.poll()
  }

  async #load(): Promise<void> {
    await Promise.all([this.mirror.load(), this.fleet.load(), this.calendar.load()])
  }

  async #refresh(providers: readonly ProviderId[]): Promise<void> {
    const { mirror, fleet, calendar } = this
    await Promise.all([mirror.refresh(providers), fleet.refresh(providers), calendar.refresh(providers)])
    this.#watchers.tell(providers)
  }

  #absorb(changes: readonly Change[]): void | Promise<void> {
    this.fleet.absorb(changes)
    const readings = [this.mirror.absorb(changes), this.calendar.absorb(changes)].filter(
      reading => reading !== undefined,
    )
    const tell = () => this.#watchers.tell(changes.map(change => change.provider))
    if (readings.length === 0) return tell()
    return Promise.all(readings).then(tell)
  }
}
