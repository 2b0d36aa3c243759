// The calendar in memory: loaded at the start and changed with every commit. On PostgreSQL the feed says what other
// processes did. It only proposes: what it has wrong costs another try, because the database decides.
import type { Change } from '../store/change.ts'
import type { Store } from '../store/store.ts'
import { allLeasables, leasablesOf, type RevisedLeasable } from './leasables.ts'

export class CalendarMirror {
  readonly #store: Store
  readonly #byId = new Map<number, RevisedLeasable>()
  #list: readonly RevisedLeasable[] | null = null
  readonly #catchUp: () => Promise<void>
  #turn: Promise<unknown> = Promise.resolve()

  constructor(store: Store, catchUp: () => Promise<void>) {
    this.#store = store
    this.#catchUp = catchUp
  }

  /** All that can be leased, by id. */
  get leasables(): readonly RevisedLeasable[] {
    return (this.#list ??= [...this.#byId.values()].sort((a, b) => a.id - b.id))
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

  async load(): Promise<void> {
    const found = await this.#store.read(allLeasables)
    const known = new Set(found.map(({ id }) => id))
    for (const id of this.#byId.keys()) if (!known.has(id)) this.#remove(id)
    this.learn(found)
  }

  /** Takes in what was committed here; a promise when that needs a look at the database. */
  absorb(changes: readonly Change[]): void | Promise<void> {
    const unclear: number[] = []
    for (const change of changes) {
      if ('attached' in change) {
        if (change.room !== 'leases') unclear.push(change.provider)
        else if (change.attached === null) this.#remove(change.provider)
        else this.learn([change.attached as RevisedLeasable])
      } else if (!('uses' in change) || this.#byId.get(change.provider)?.kind === 'node') {
        // What a host has may have changed, or who has a node: and so what fits on it.
        unclear.push(change.provider)
      }
    }
    const known = unclear.filter(provider => this.#byId.has(provider))
    if (known.length > 0) return this.refresh(known)
  }

  /** Reads these again, as far as they can be leased. */
  async refresh(providers: Iterable<number>): Promise<void> {
    const ids = [...new Set(providers)]
    const found = await this.#store.read(() => leasablesOf(ids))
    const there = new Set(found.map(({ id }) => id))
    for (const id of ids) if (!there.has(id)) this.#remove(id)
    this.learn(found)
  }

  /** Takes in what was read, unless something newer is known. */
  learn(found: readonly RevisedLeasable[]): void {
    for (const leasable of found) {
      const known = this.#byId.get(leasable.id)
      if (known && known.version > leasable.version) continue
      this.#byId.set(leasable.id, leasable)
      this.#list = null
    }
  }

  #remove(id: number): void {
    if (this.#byId.delete(id)) this.#list = null
  }
}
