// What a process keeps in memory for searches: the ledger's table, the fleet and the calendar. They are loaded at the
// start and updated with each commit before the client gets its answer; on PostgreSQL a feed adds what others commit.
import type { Logger } from 'pino'
import { CalendarMirror } from '../leases/calendar/mirror.ts'
import { Mirror } from '../ledger/mirror.ts'
import { Fleet } from '../metal/nodes/fleet.ts'
import { Listeners } from '../shared/listeners.ts'
import type { Change } from '../store/change.ts'
import { Feed } from '../store/feed.ts'
import type { Topic } from '../store/log.ts'
import { PostgresStore } from '../store/postgres.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import type { Store } from '../store/store.ts'

interface MemoryOptions {
  store: Store
  log: Logger
  /** Is told how far memory was behind other processes. */
  lagged: (seconds: number) => void
  /** Is told what other processes made work on. */
  woken: (topics: readonly Topic[]) => void
  /** Is told that the database has lost the end of the log, which was seen before. */
  fellBack?: () => void
}

export class Memory {
  readonly mirror: Mirror
  readonly fleet: Fleet
  readonly calendar: CalendarMirror
  readonly #options: MemoryOptions
  #feed: Feed | null = null
  readonly #watchers: Listeners<readonly ProviderId[]>
  readonly #loaded: Listeners<void>

  constructor(options: MemoryOptions) {
    const { store, log } = options
    this.#options = options
    const failed = (error: unknown) => log.warn({ err: error }, 'the copy in memory could not be refreshed')
    this.#watchers = new Listeners(error => log.error({ err: error }, 'a watcher of changes failed'))
    this.#loaded = new Listeners(error => log.error({ err: error }, 'a watcher of memory failed'))
    this.mirror = new Mirror(store, failed)
    this.fleet = new Fleet(store)
    this.calendar = new CalendarMirror(store, () => this.catchUp(), failed)
  }

  async start(): Promise<void> {
    const { store, log, lagged, woken, fellBack } = this.#options
    store.onCommit(({ changes }) => this.#absorb(changes))
    if (!(store instanceof PostgresStore)) return this.#load(false)
    this.#feed = new Feed(store, {
      load: isAnew => this.#load(isAnew),
      refresh: providers => this.#refresh([...providers]),
      lagged,
      woken,
      fellBack: places => {
        log.error(
          places,
          'the database has lost the end of its log: what was answered since is gone, unless it comes back',
        )
        fellBack?.()
      },
      failed: error => log.warn({ err: error }, 'the feed of changes could not be read'),
    })
    await this.#feed.start()
  }

  async stop(): Promise<void> {
    await this.#feed?.stop()
  }

  /** The feed of other processes' changes; null on SQLite, where there are no others. */
  get feed(): Feed | null {
    return this.#feed
  }

  /** Tells the watcher which providers changed, in any process, once memory has the change. Returns how to stop. */
  watch(watcher: (providers: readonly ProviderId[]) => void): () => void {
    return this.#watchers.add(watcher)
  }

  /** Tells the listener to forget what it has made of memory, which may have missed something. Returns how to stop. */
  onLoad(listener: () => void): () => void {
    return this.#loaded.add(listener)
  }

  /**
   * Resolves when memory has everything that is committed now. Throws if what others have committed could not be heard of:
   * nobody may be refused on memory that lacks it.
   */
  async catchUp(): Promise<void> {
    await this.#options.store.settled()
    await this.#feed?.pollSurely()
  }

  /** Whether memory surely has everything that was committed before this call. If not, the database must be asked. */
  async isFresh(): Promise<boolean> {
    const [isFresh] = await Promise.all([this.#feed?.isFresh(), this.#options.store.settled()])
    return isFresh ?? true
  }

  /** `isAnew`: the database may have lost what is known here. So nothing of it counts, and what was made of it goes first. */
  async #load(isAnew: boolean): Promise<void> {
    if (isAnew) this.#loaded.tell()
    await Promise.all([this.mirror.load(isAnew), this.fleet.load(isAnew), this.calendar.load()])
    this.#loaded.tell()
  }

  async #refresh(providers: readonly ProviderId[]): Promise<void> {
    const { mirror, fleet, calendar } = this
    await Promise.all([mirror.refresh(providers), fleet.refresh(providers), calendar.refresh(providers)])
    this.#watchers.tell(providers)
  }

  #absorb(changes: readonly Change[]): void | Promise<void> {
    const absorbed = [this.fleet, this.mirror, this.calendar].map(copy => copy.absorb(changes))
    const readings = absorbed.filter(reading => reading !== undefined)
    const tell = () => this.#watchers.tell(changes.map(change => change.provider))
    if (readings.length === 0) return tell()
    return Promise.all(readings).then(tell)
  }
}
