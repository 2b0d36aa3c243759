// Keeps the candidate table equal to the ledger: loaded at the start, then changed with every commit.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { limits } from '../shared/limits.ts'
import type { Change, PartChange, UseChange, UseGrowth } from '../store/change.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all, type Read } from '../store/transaction.ts'
import type { ProviderSnapshot } from './candidates/snapshot.ts'
import { CandidateTable, NO_PARENT } from './candidates/table.ts'
import { isShown } from './candidates/shown.ts'
import { loadAll } from './load.ts'
import { type RevisedSnapshot, snapshotsOf } from './snapshot.ts'

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
  /** Reads that are on their way. */
  #readings = 0
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  constructor(store: Store, failed: (error: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  /** The newest revision of the provider that the table has. */
  revisionOf(provider: ProviderId): number | undefined {
    return this.#revisions.get(provider)
  }

  /** `isAnew`: the database may have lost what the table has, so nothing that is known counts against what is read. */
  load(isAnew = false): Promise<void> {
    // One read at a time: otherwise a slow load could overwrite a newer read.
    const loading = this.#running.then(() => this.#reading(() => this.#loadAll(isAnew)))
    this.#running = loading.catch(() => {})
    return loading
  }

  /**
   * Page by page, with turns for others between them. An empty table is filled as the pages come. Of a table in use only
   * what differs is kept until the end, and then applied at once: readers see none or all of it.
   */
  async #loadAll(isAnew: boolean): Promise<void> {
    const isFirst = this.table.size === 0
    // Without a revision no commit is followed from what is known: it is read instead.
    if (isAnew) this.#revisions.clear()
    const { known, changed } = await this.#store.read(() => this.#readAll(isFirst), { isLoad: true })
    const removes: ProviderId[] = []
    for (const [at, row] of this.table.live.rows().entries()) {
      const id = this.table.id[row]!
      if (!known.has(id)) removes.push(id)
      if (at % limits.loadPageProviders === 0) await nextTurn()
    }
    if (changed.length + removes.length > 0) this.#take(changed, removes)
    let seen = 0
    for (const [id, revision] of known) {
      this.#raise(id, revision)
      if (++seen % limits.loadPageProviders === 0) await nextTurn()
    }
  }

  *#readAll(isFirst: boolean): Read<{ known: Map<ProviderId, number>; changed: RevisedSnapshot[] }> {
    const known = new Map<ProviderId, number>()
    const changed: RevisedSnapshot[] = []
    yield* loadAll(page => {
      for (const { id, revision } of page) known.set(id, revision)
      if (isFirst) this.#take(page, [])
      else changed.push(...page.filter(snapshot => !isShown(this.table, this.#withNewerUse(snapshot))))
    })
    return { known, changed }
  }

  /** Counts a read until it is applied. */
  async #reading(read: () => Promise<void>): Promise<void> {
    this.#readings++
    try {
      await read()
    } finally {
      this.#readings--
    }
  }

  /** Applies what this process committed. Returns a promise when it must read from the database. */
  absorb(changes: readonly Change[]): void | Promise<void> {
    try {
      const unclear = changes.filter(change => !this.#follow(change)).map(change => change.provider)
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
    this.#next ??= this.#running = this.#running.then(() => this.#reading(() => this.#refreshWanted()))
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
    for (const { id, revision } of snapshots) this.#raise(id, revision)
  }

  #raise(id: ProviderId, revision: number): void {
    this.#revisions.set(id, Math.max(revision, this.#revisions.get(id) ?? 0))
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

  /** False when the provider must be read. */
  #follow(change: Change): boolean {
    if ('attached' in change) return true
    if ('uses' in change) return this.#use(change)
    if ('grown' in change) return this.#grow(change)
    return 'parts' in change && this.#replace(change)
  }

  /** Only on what it follows: a commit between may be unknown, and a read that is on its way may be older. */
  #replace({ provider, revision, generation, parts }: PartChange): boolean {
    if (this.#readings > 0) return false
    const known = this.#revisions.get(provider)
    if (known === undefined && 'uuid' in parts) this.table.put(parts as ProviderSnapshot)
    else if (known !== revision - 1 || !this.table.replace(provider, generation, parts)) return false
    this.#revisions.set(provider, revision)
    return true
  }

  /** False unless the table has the revision before: only then the sums are right. */
  #grow({ provider, revision, bumps, grown }: UseGrowth): boolean {
    const known = this.#revisions.get(provider)
    if (known !== undefined && revision <= known) return true
    if (known !== revision - 1) return false
    this.#revisions.set(provider, revision)
    const row = this.table.rowOfId(provider)
    const generation = this.table.generation[row]! + bumps
    return grown.every(([resourceClass, by]) => {
      const used = this.table.column(resourceClass)?.usedAt(row)
      return used !== undefined && this.table.use(provider, resourceClass, used + by, generation)
    })
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
