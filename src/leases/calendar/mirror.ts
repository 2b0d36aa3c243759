// The calendar in memory: loaded at the start and updated with every commit; on PostgreSQL the feed brings the commits
// of other processes. It only proposes: a stale entry costs a retry, because the database decides.
import { Gate } from '../../shared/gate.ts'
import type { Change } from '../../store/change.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Store } from '../../store/store.ts'
import { allLeasables, leasablesOf, type RevisedLeasable } from './resources.ts'

const RETRY_MS = 200

export class CalendarMirror {
  readonly #store: Store
  readonly #byId = new Map<ProviderId, RevisedLeasable>()
  /** The same, sorted by id, and the index of each; rebuilt when a leasable is added or removed. */
  #list: RevisedLeasable[] | null = null
  readonly #places = new Map<ProviderId, number>()
  readonly #catchUp: () => Promise<void>
  readonly #failed: (error: unknown) => void
  readonly #decisions = new Gate({ places: 1 })
  #wanted = new Set<ProviderId>()
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  /** Leasables that commits changed since the current read began. */
  readonly #noted = new Set<ProviderId>()

  constructor(store: Store, catchUp: () => Promise<void>, failed: (error: unknown) => void) {
    this.#store = store
    this.#catchUp = catchUp
    this.#failed = failed
  }

  /** All leasables, sorted by id. */
  get leasables(): readonly RevisedLeasable[] {
    if (this.#list === null) {
      this.#list = [...this.#byId.values()].sort((a, b) => a.id - b.id)
      this.#list.forEach(({ id }, place) => this.#places.set(id, place))
    }
    return this.#list
  }

  /** The leasable with this id, as memory has it. */
  get(id: ProviderId): RevisedLeasable | undefined {
    return this.#byId.get(id)
  }

  /** Resolves when everything that other processes committed before the call is included. */
  catchUp(): Promise<void> {
    return this.#catchUp()
  }

  /** Runs one decision at a time, so that each sees the result of the one before it instead of conflicting with it. */
  inTurn<T>(decide: () => Promise<T>): Promise<T> {
    return this.#decisions.pass(decide)
  }

  load(): Promise<void> {
    return this.#afterOthers(() => this.#read(null))
  }

  /** Applies the changes of a commit; returns a promise when it has to read the database. */
  absorb(changes: readonly Change[]): void | Promise<void> {
    const unclear = changes.filter(change => !this.#follow(change)).map(change => change.provider)
    // The commit has succeeded, so a failed read must not fail the request. The read is retried.
    if (unclear.length > 0) return this.refresh(unclear).catch(() => {})
  }

  /** Reads these again, if they are leasables. Resolves after a read that began after this call. */
  refresh(providers: Iterable<ProviderId>): Promise<void> {
    for (const id of providers) this.#wanted.add(id)
    this.#next ??= this.#afterOthers(() => this.#readWanted())
    return this.#next
  }

  /** False when the database has to be read. Only reads add or remove leasables. */
  #follow(change: Change): boolean {
    const known = this.#byId.get(change.provider)
    if ('attached' in change && change.room === 'leases') {
      const leasable = change.attached as RevisedLeasable | null
      // With the same version it may be older than what was read: not every change raises the version.
      if (!known || !leasable || leasable.version <= known.version) return false
      this.#put(leasable)
      this.#noted.add(leasable.id)
      return true
    }
    // The inventory of a host may have changed, or the user of a node, and so what fits on it.
    return !known || (('uses' in change || 'grown' in change) && known.kind === 'host')
  }

  /** Runs one read at a time, so that an older read can't overwrite a newer one. */
  #afterOthers(read: () => Promise<void>): Promise<void> {
    const reading = this.#running.then(read)
    this.#running = reading.catch(() => {})
    return reading
  }

  async #readWanted(): Promise<void> {
    const ids = this.#wanted
    this.#wanted = new Set()
    this.#next = null
    try {
      await this.#read([...ids])
    } catch (error) {
      // Retry until the database answers again.
      for (const id of ids) this.#wanted.add(id)
      setTimeout(() => void this.refresh([]).catch(() => {}), RETRY_MS).unref()
      this.#failed(error)
      throw error
    }
  }

  /** Reads these, or all. What is not found is no longer a leasable. */
  async #read(ids: readonly ProviderId[] | null): Promise<void> {
    this.#noted.clear()
    const found = await this.#store.read(() => (ids ? leasablesOf(ids) : allLeasables()), { isLoad: !ids })
    const there = new Set(found.map(({ id }) => id))
    for (const id of ids ?? [...this.#byId.keys()]) if (!there.has(id)) this.#remove(id)
    for (const leasable of found) {
      // A commit since the read began may be newer than the read.
      const isOlder = this.#noted.has(leasable.id) && this.#byId.get(leasable.id)!.version > leasable.version
      if (!isOlder) this.#put(leasable)
    }
  }

  #put(leasable: RevisedLeasable): void {
    if (!this.#byId.has(leasable.id)) this.#list = null
    this.#byId.set(leasable.id, leasable)
    if (this.#list) this.#list[this.#places.get(leasable.id)!] = leasable
  }

  #remove(id: ProviderId): void {
    if (this.#byId.delete(id)) this.#list = null
  }
}
