// Keeps the candidate table equal to the ledger: loaded at the start, then changed with every commit.
import type { Change, UseChange } from '../store/change.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all, type Read } from '../store/transaction.ts'
import type { ProviderSnapshot } from './candidates/snapshot.ts'
import { CandidateTable, NO_PARENT } from './candidates/table.ts'
import { allSnapshots, type RevisedSnapshot, snapshotsOf } from './snapshot.ts'

const RETRY_MS = 200

const membersOf = query((db, a: { roots: readonly ProviderId[] }, on) =>
  db
    .selectFrom('providers')
    .select('id')
    .where(on.isIn('root_id', a.roots, 'bigint')),
)

export class Mirror {
  readonly table = new CandidateTable()
  readonly #store: Store
  readonly #failed: (error: unknown) => void
  readonly #revisions = new Map<ProviderId, number>()
  #wanted = new Set<ProviderId>()
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  constructor(store: Store, failed: (error: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  load(): Promise<void> {
    // One read at a time: otherwise a slow load could overwrite a newer read.
    const loading = this.#running.then(() => this.#loadAll())
    this.#running = loading.catch(() => {})
    return loading
  }

  async #loadAll(): Promise<void> {
    const snapshots = await this.#store.read(allSnapshots)
    const known = new Set(snapshots.map(snapshot => snapshot.id))
    const removes = [...this.#revisions.keys()].filter(id => !known.has(id))
    if (this.table.size > 0) return this.#take(snapshots, removes)
    this.table.load(snapshots)
    for (const { id, revision } of snapshots) this.#revisions.set(id, revision)
  }

  /** Applies what this process committed. Returns a promise when it must read from the database. */
  absorb(changes: readonly Change[]): void | Promise<void> {
    try {
      const unclear = changes
        .filter(change => !('attached' in change) && !('uses' in change && this.#use(change)))
        .map(change => change.provider)
      if (unclear.length > 0) return this.refresh(unclear)
    } catch (error) {
      // The commit stands and must be answered, even when the copy fails to follow.
      this.#failed(error)
      return this.refresh(changes.map(change => change.provider))
    }
  }

  /** Reads these providers again. Resolves when a read that began after this call is applied or has failed. */
  refresh(providers: Iterable<ProviderId>): Promise<void> {
    for (const provider of providers) this.#wanted.add(provider)
    // One at a time: each read is then newer than the last, and never overwrites newer data.
    this.#next ??= this.#running = this.#running.then(() => this.#refreshWanted())
    return this.#next
  }

  async #refreshWanted(): Promise<void> {
    const ids = this.#wanted
    this.#wanted = new Set()
    this.#next = null
    let read: { ids: Set<ProviderId>; snapshots: RevisedSnapshot[] }
    try {
      read = await this.#store.read(() => this.#readTrees(ids))
    } catch (error) {
      // The copy catches up as soon as the database answers again.
      for (const id of ids) this.#wanted.add(id)
      setTimeout(() => void this.refresh([]), RETRY_MS).unref()
      this.#failed(error)
      return
    }
    for (const { id } of read.snapshots) read.ids.delete(id)
    this.#take(read.snapshots, [...read.ids])
  }

  /** Reads these providers, and every tree that one of them has left or joined: half a move would break a tree. */
  *#readTrees(ids: ReadonlySet<ProviderId>): Read<{ ids: Set<ProviderId>; snapshots: RevisedSnapshot[] }> {
    const wanted = new Set(ids)
    for (;;) {
      const before = wanted.size
      const snapshots = yield* snapshotsOf([...wanted])
      const roots = this.#rootsTorn(wanted, snapshots)
      if (roots.length === 0) return { ids: wanted, snapshots }
      for (const root of roots) for (const id of this.#membersKnown(root)) wanted.add(id)
      for (const { id } of yield* all(membersOf({ roots }))) wanted.add(id)
      if (wanted.size === before) return { ids: wanted, snapshots }
    }
  }

  /** The roots of the trees that would break if only these providers were applied. */
  #rootsTorn(wanted: ReadonlySet<ProviderId>, snapshots: readonly RevisedSnapshot[]): ProviderId[] {
    const { table } = this
    const found = new Map(snapshots.map(snapshot => [snapshot.id, snapshot]))
    const roots = new Set<ProviderId>()
    for (const id of wanted) {
      const row = table.rowOfId(id)
      const snapshot = found.get(id)
      if (snapshot && row >= 0) {
        const { rootId, parentId } = snapshot
        const stays = table.rootId[row] === rootId && table.parentId[row] === (parentId ?? NO_PARENT)
        if (!stays) roots.add(table.rootId[row]!).add(rootId)
      } else if (snapshot && snapshot.parentId !== null && !found.has(snapshot.parentId)) {
        const parent = table.rowOfId(snapshot.parentId)
        if (parent < 0 || table.rootId[parent] !== snapshot.rootId) roots.add(snapshot.rootId)
      } else if (!snapshot && row >= 0) {
        const root = table.rootId[row]!
        const orphaned = (member: ProviderId) => !wanted.has(member) && table.parentRow(table.rowOfId(member)) === row
        if (this.#membersKnown(root).some(orphaned)) roots.add(root)
      }
    }
    return [...roots]
  }

  #membersKnown(root: ProviderId): ProviderId[] {
    return Array.from(this.table.trees.get(root)?.members ?? [], row => this.table.id[row]!)
  }

  #take(snapshots: readonly RevisedSnapshot[], removes: readonly ProviderId[]): void {
    this.table.apply({ puts: snapshots.map(snapshot => this.#withNewerUse(snapshot)), removes })
    for (const id of removes) this.#revisions.delete(id)
    for (const { id, revision } of snapshots) this.#revisions.set(id, Math.max(revision, this.#revisions.get(id) ?? 0))
  }

  /** A claim made after the read may be applied before it: then its `used` is kept. All else in the read is newest. */
  #withNewerUse(snapshot: RevisedSnapshot): ProviderSnapshot {
    if (snapshot.revision >= (this.#revisions.get(snapshot.id) ?? 0)) return snapshot
    const row = this.table.rowOfId(snapshot.id)
    const inventories = snapshot.inventories.map(inventory => ({
      ...inventory,
      used: this.table.column(inventory.resourceClass)?.usedAt(row) ?? inventory.used,
    }))
    return { ...snapshot, generation: this.table.generation[row]!, inventories }
  }

  /** False when the table lacks the inventory, which must then be read from the database. */
  #use({ provider, revision, generation, uses }: UseChange): boolean {
    const known = this.#revisions.get(provider)
    if (known === undefined) return false
    if (revision <= known) return true
    this.#revisions.set(provider, revision)
    return uses.every(([resourceClass, used]) => this.table.use(provider, resourceClass, used, generation))
  }
}
