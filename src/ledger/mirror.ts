// Keeps the candidate table equal to the ledger: loaded at the start, then changed with every commit.
import type { Change, UseChange } from '../store/change.ts'
import type { Store } from '../store/store.ts'
import type { ProviderSnapshot } from './candidates/snapshot.ts'
import { CandidateTable } from './candidates/table.ts'
import { allSnapshots, type RevisedSnapshot, snapshotsOf } from './snapshot.ts'

const RETRY_MS = 200

export class Mirror {
  readonly table = new CandidateTable()
  readonly #store: Store
  readonly #failed: (error: unknown) => void
  readonly #revisions = new Map<number, number>()
  #wanted = new Set<number>()
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  constructor(store: Store, failed: (error: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  async load(): Promise<void> {
    const snapshots = await this.#store.read(allSnapshots)
    const known = new Set(snapshots.map(snapshot => snapshot.id))
    const removes = [...this.#revisions.keys()].filter(id => !known.has(id))
    if (this.table.size > 0) return this.#take(snapshots, removes)
    this.table.load(snapshots)
    for (const { id, revision } of snapshots) this.#revisions.set(id, revision)
  }

  /** Takes in what was committed here; a promise when that needs a look at the database. */
  absorb(changes: readonly Change[]): void | Promise<void> {
    const unclear = changes.filter(change => !('uses' in change && this.#use(change))).map(change => change.provider)
    if (unclear.length > 0) return this.refresh(unclear)
  }

  /** Reads these providers again. Resolves when a reading that began after this call has been taken in. */
  refresh(providers: Iterable<number>): Promise<void> {
    for (const provider of providers) this.#wanted.add(provider)
    // One at a time: then each reading is newer than the last, and none can undo it.
    this.#next ??= this.#running = this.#running.then(() => this.#refreshWanted())
    return this.#next
  }

  async #refreshWanted(): Promise<void> {
    const ids = [...this.#wanted]
    this.#wanted = new Set()
    this.#next = null
    let snapshots: RevisedSnapshot[]
    try {
      snapshots = await this.#store.read(() => snapshotsOf(ids))
    } catch (error) {
      // What was committed stays committed; the copy catches up as soon as the database answers again.
      for (const id of ids) this.#wanted.add(id)
      setTimeout(() => void this.refresh([]), RETRY_MS).unref()
      this.#failed(error)
      return
    }
    const found = new Set(snapshots.map(snapshot => snapshot.id))
    this.#take(
      snapshots,
      ids.filter(id => !found.has(id)),
    )
  }

  #take(snapshots: readonly RevisedSnapshot[], removes: readonly number[]): void {
    this.table.apply({ puts: snapshots.map(snapshot => this.#withNewerUse(snapshot)), removes })
    for (const id of removes) this.#revisions.delete(id)
    for (const { id, revision } of snapshots) this.#revisions.set(id, Math.max(revision, this.#revisions.get(id) ?? 0))
  }

  /** Claims made after the reading may have been taken in before it; in everything else a reading is never behind. */
  #withNewerUse(snapshot: RevisedSnapshot): ProviderSnapshot {
    if (snapshot.revision >= (this.#revisions.get(snapshot.id) ?? 0)) return snapshot
    const row = this.table.rowOfId(snapshot.id)
    const inventories = snapshot.inventories.map(inventory => ({
      ...inventory,
      used: this.table.column(inventory.resourceClass)?.usedAt(row) ?? inventory.used,
    }))
    return { ...snapshot, generation: this.table.generation[row]!, inventories }
  }

  /** False when the table has no such inventory, and only the database knows more. */
  #use({ provider, revision, generation, uses }: UseChange): boolean {
    const known = this.#revisions.get(provider)
    if (known === undefined) return false
    if (revision <= known) return true
    this.#revisions.set(provider, revision)
    return uses.every(([resourceClass, used]) => this.table.use(provider, resourceClass, used, generation))
  }
}
