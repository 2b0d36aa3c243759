// The calendar in memory: loaded at the start and changed with every commit. On PostgreSQL the feed says what other
// processes did. It only proposes: what it has wrong costs another try, because the database decides.
import type { Change } from '../../store/change.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Store } from '../../store/store.ts'
import { allLeasables, leasablesOf, type RevisedLeasable } from './resources.ts'

const RETRY_MS = 200

export class CalendarMirror {
  readonly #store: Store
  readonly #byId = new Map<ProviderId, RevisedLeasable>()
  /** The same by id, and where in it each is; made anew when one comes or goes. */
  #list: RevisedLeasable[] | null = null
  readonly #places = new Map<ProviderId, number>()
  readonly #catchUp: () => Promise<void>
  readonly #failed: (error: unknown) => void
  #turn: Promise<unknown> = Promise.resolve()
  #wanted = new Set<ProviderId>()
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  /** What commits have changed since the reading began that is under way. */
  readonly #noted = new Set<ProviderId>()

  constructor(store: Store, catchUp: () => Promise<void>, failed: (error: unknown) => void) {
    this.#store = store
    this.#catchUp = catchUp
    this.#failed = failed
  }

  /** All that can be leased, by id. */
  get leasables(): readonly RevisedLeasable[] {
    if (this.#list === null) {
      this.#list = [...this.#byId.values()].sort((a, b) => a.id - b.id)
      this.#list.forEach(({ id }, place) => this.#places.set(id, place))
    }
    return this.#list
  }

  /** Where this process follows others, this brings in all that they had committed when it was called. */
  catchUp(): Promise<void> {
    return this.#catchUp()
  }

  /** One decision at a time: each then knows of the one before it, instead of being in its way. */
  inTurn<T>(decide: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(decide)
    this.#turn = turn.catch(() => {})
    return turn
  }

  load(): Promise<void> {
    return this.#afterOthers(() => this.#read(null))
  }

  /** Takes in what was committed here; a promise when that needs a look at the database. */
  absorb(changes: readonly Change[]): void | Promise<void> {
    const unclear = changes.filter(change => !this.#follow(change)).map(change => change.provider)
    // What is committed must be answered as such: a reading that fails is tried again.
    if (unclear.length > 0) return this.refresh(unclear).catch(() => {})
  }

  /** Reads these again, as far as they can be leased. Resolves when a reading that began after this call is taken in. */
  refresh(providers: Iterable<ProviderId>): Promise<void> {
    for (const id of providers) this.#wanted.add(id)
    this.#next ??= this.#afterOthers(() => this.#readWanted())
    return this.#next
  }

  /** False when only the database knows more. Whether something can be leased at all is left to readings. */
  #follow(change: Change): boolean {
    const known = this.#byId.get(change.provider)
    if ('attached' in change && change.room === 'leases') {
      const leasable = change.attached as RevisedLeasable | null
      // Of the same version it may be older than what was read: not every change makes the version grow.
      if (!known || !leasable || leasable.version <= known.version) return false
      this.#put(leasable)
      this.#noted.add(leasable.id)
      return true
    }
    // What a host has may have changed, or who has a node: and so what fits on it.
    return !known || ('uses' in change && known.kind === 'host')
  }

  /** One at a time: then each reading is newer than the last, and none can undo it. */
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
      // The copy catches up as soon as the database answers again.
      for (const id of ids) this.#wanted.add(id)
      setTimeout(() => void this.refresh([]).catch(() => {}), RETRY_MS).unref()
      this.#failed(error)
      throw error
    }
  }

  /** Reads these, or all; what is not found can't be leased any more. */
  async #read(ids: readonly ProviderId[] | null): Promise<void> {
    this.#noted.clear()
    const found = await this.#store.read(() => (ids ? leasablesOf(ids) : allLeasables()))
    const there = new Set(found.map(({ id }) => id))
    for (const id of ids ?? [...this.#byId.keys()]) if (!there.has(id)) this.#remove(id)
    for (const leasable of found) {
      // Committed since the reading began, and so perhaps newer than it.
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
