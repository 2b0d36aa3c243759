// The ledger in memory: a dense row for each provider, a column for each resource class, a row set for each trait and
// aggregate, and the trees.
//
// A row keeps its place for as long as its provider lives, and a tree is a list of rows in depth-first order rather than a range of
// them: with ranges, one new child would move every row behind it in every column and bitset. A bulk load lays a tree's rows
// side by side all the same, so they mostly share cache lines.
import { type Row, RowSet, wordsFor } from './bitset.ts'
import { Classes, NO_CLASSES } from './classes.ts'
import type { Column } from './column.ts'
import { Labels } from './labels.ts'
import type { LabelSet } from './labels.ts'
import type { InventorySnapshot, ProviderSnapshot, SnapshotParts, TableBatch } from './snapshot.ts'
import { Tree } from './tree.ts'
import type { ProviderId } from '../../store/schema/ids.ts'

export type { InventorySnapshot, ProviderSnapshot, TableBatch } from './snapshot.ts'

export const SHARING_TRAIT = 'MISC_SHARES_VIA_AGGREGATE'
/** Takes the place of a parent's id: no provider has this id. */
export const NO_PARENT = -1 as ProviderId
const ROWS_FIRST = 64

export class CandidateTable {
  /** Grows with every change. */
  version = 0
  /** Follows `version` when trees, traits or aggregates change: the key for caches that depend on them alone. */
  shapeVersion = 0
  /** Follows `version` when anything but `used` changes: as long as it stays, rows differ only in `used`. */
  touchVersion = 0
  rowsMax = ROWS_FIRST
  readonly live = new RowSet()
  readonly roots = new RowSet()
  /** Roots without children. */
  readonly flat = new RowSet()
  /** Dedicated providers, see dedicated.ts. */
  readonly dedicated = new RowSet()
  readonly traits = new Labels()
  readonly aggregates = new Labels()
  readonly trees = new Map<ProviderId, Tree>()
  readonly #classes = new Classes()
  readonly classes: readonly Column[] = this.#classes.columns

  readonly uuid: string[] = []
  readonly name: string[] = []
  readonly managedBy: (string | null)[] = []
  readonly addedTraits: (readonly string[])[] = []
  readonly dedicatedTo: (string | null)[] = []
  readonly traitSet: LabelSet[] = []
  readonly aggregateSet: LabelSet[] = []
  readonly treeOf: (Tree | null)[] = []
  /** Columns in which a row has an entry; rows with the same classes share one list. */
  readonly classesOf: (readonly number[])[] = []
  /** A cache: answer.ts fills it, the table clears it. */
  readonly summaryText: (string | undefined)[] = []
  /** The version at which a row last changed in anything but `used`. */
  stamp = new Float64Array(ROWS_FIRST)
  id = newIds(ROWS_FIRST)
  generation = new Float64Array(ROWS_FIRST)
  parentId = newIds(ROWS_FIRST)
  rootId = newIds(ROWS_FIRST)

  #rowById = new Map<ProviderId, Row>()
  #rowByUuid = new Map<string, Row>()
  #free: Row[] = []
  #rowsEver = 0
  #torn = new Set<ProviderId>()

  get size(): number {
    return this.live.count
  }

  get wordCount(): number {
    return wordsFor(this.rowsMax)
  }

  rowOfId(id: ProviderId): Row {
    return this.#rowById.get(id) ?? -1
  }

  rowOfUuid(uuid: string): Row {
    return this.#rowByUuid.get(uuid) ?? -1
  }

  column(resourceClass: string): Column | null {
    return this.#classes.find(resourceClass)
  }

  parentRow(row: Row): Row {
    const parent = this.parentId[row]!
    return parent === NO_PARENT ? -1 : this.rowOfId(parent)
  }

  rootRow(row: Row): Row {
    const root = this.rootId[row]!
    return root === this.id[row] ? row : this.rowOfId(root)
  }

  load(snapshots: readonly ProviderSnapshot[]): void {
    this.#reserve(this.#rowsEver + snapshots.length)
    // Tree by tree, so that the rows of a tree lie side by side.
    const nested = snapshots.some(one => one.parentId !== null)
    const ordered = nested ? [...snapshots].sort((a, b) => a.rootId - b.rootId || a.id - b.id) : snapshots
    this.apply({ puts: ordered, removes: [] })
  }

  put(snapshot: ProviderSnapshot): void {
    this.apply({ puts: [snapshot], removes: [] })
  }

  remove(id: ProviderId): void {
    this.apply({ puts: [], removes: [id] })
  }

  /** Readers see none or all of it; trees are built once, at the end, so the order within a batch doesn't matter. */
  apply(batch: TableBatch): void {
    this.version++
    const staying = new Set<ProviderId>()
    if (batch.removes.length > 0) for (const one of batch.puts) staying.add(one.id)
    for (const id of batch.removes) if (!staying.has(id)) this.#remove(id)
    for (const snapshot of batch.puts) this.#put(snapshot)
    if (this.#torn.size > 0) this.#drawTrees()
  }

  /** A claim: the new absolute `used`. False when the provider or its inventory is unknown. */
  use(id: ProviderId, resourceClass: string, used: number, generation: number): boolean {
    const row = this.#rowById.get(id)
    if (row === undefined || !this.column(resourceClass)?.use(row, used)) return false
    this.generation[row] = generation
    this.summaryText[row] = undefined
    this.version++
    return true
  }

  /** Replaces parts of a provider. False when it is unknown. */
  replace(id: ProviderId, generation: number, { inventories, traits, aggregates }: SnapshotParts): boolean {
    const row = this.#rowById.get(id)
    if (row === undefined) return false
    this.version++
    this.generation[row] = generation
    this.summaryText[row] = undefined
    const isOther = this.#putLabels(row, { traits, aggregates })
    if (isOther) this.shapeVersion = this.version
    if ((inventories && this.#putInventories(row, inventories)) || isOther) this.#touch(row)
    return true
  }

  #put(snapshot: ProviderSnapshot): void {
    const known = this.#rowById.get(snapshot.id)
    const row = known ?? this.#enter(snapshot)
    let changed = known === undefined
    if (known !== undefined) changed = this.#rename(row, snapshot)
    this.generation[row] = snapshot.generation
    this.managedBy[row] = snapshot.managedBy ?? null
    this.addedTraits[row] = snapshot.addedTraits ?? NO_TRAITS
    if (this.#dedicate(row, snapshot.dedicatedTo ?? null)) changed = true
    this.summaryText[row] = undefined
    if (this.#putInventories(row, snapshot.inventories)) changed = true
    if (this.#putLabels(row, snapshot)) {
      this.shapeVersion = this.version
      changed = true
    }
    const parentId = snapshot.parentId ?? NO_PARENT
    if (known === undefined || this.parentId[row] !== parentId || this.rootId[row] !== snapshot.rootId) {
      if (known !== undefined) this.#unlink(row)
      this.parentId[row] = parentId
      this.rootId[row] = snapshot.rootId
      this.#link(row)
      this.shapeVersion = this.version
      changed = true
    }
    if (changed) this.#touch(row)
  }

  #dedicate(row: Row, to: string | null): boolean {
    if (this.dedicatedTo[row] === to) return false
    this.dedicatedTo[row] = to
    if (to === null) this.dedicated.delete(row)
    else this.dedicated.add(row, this.rowsMax)
    return true
  }

  #touch(row: Row): void {
    this.stamp[row] = this.version
    this.touchVersion = this.version
    this.summaryText[row] = undefined
  }

  #enter(snapshot: ProviderSnapshot): Row {
    const row = this.#free.pop() ?? this.#rowsEver++
    this.#reserve(row + 1)
    this.#rowById.set(snapshot.id, row)
    this.#rowByUuid.set(snapshot.uuid, row)
    this.live.add(row, this.rowsMax)
    this.id[row] = snapshot.id
    this.uuid[row] = snapshot.uuid
    this.name[row] = snapshot.name
    this.traitSet[row] = this.traits.none
    this.aggregateSet[row] = this.aggregates.none
    this.treeOf[row] = null
    this.dedicatedTo[row] = null
    this.classesOf[row] = NO_CLASSES
    return row
  }

  #rename(row: Row, snapshot: ProviderSnapshot): boolean {
    this.name[row] = snapshot.name
    if (this.uuid[row] === snapshot.uuid) return false
    this.#forgetUuid(row)
    this.#rowByUuid.set(snapshot.uuid, row)
    this.uuid[row] = snapshot.uuid
    return true
  }

  /** A uuid may have gone from one provider to another, which is put before this one. */
  #forgetUuid(row: Row): void {
    const uuid = this.uuid[row]!
    if (this.#rowByUuid.get(uuid) === row) this.#rowByUuid.delete(uuid)
  }

  #remove(id: ProviderId): void {
    const row = this.#rowById.get(id)
    if (row === undefined) return
    this.#unlink(row)
    this.#dedicate(row, null)
    this.#putInventories(row, [])
    this.traitSet[row] = this.traits.change(row, this.traitSet[row]!, [], this.rowsMax)
    this.aggregateSet[row] = this.aggregates.change(row, this.aggregateSet[row]!, [], this.rowsMax)
    this.#rowById.delete(id)
    this.#forgetUuid(row)
    this.live.delete(row)
    this.#free.push(row)
    this.shapeVersion = this.version
    this.#touch(row)
  }

  #putInventories(row: Row, inventories: readonly InventorySnapshot[]): boolean {
    let changed = false
    for (const one of inventories) {
      if (this.#classes.column(one.resourceClass).put(row, one, this.rowsMax)) changed = true
    }
    const before = this.classesOf[row]!
    const list = this.#classes.listOf(inventories)
    if (list === before) return changed
    for (const index of before) if (!list.includes(index)) this.classes[index]!.remove(row)
    this.classesOf[row] = list
    return true
  }

  #putLabels(row: Row, put: SnapshotParts): boolean {
    const [hadTraits, hadAggregates] = [this.traitSet[row]!, this.aggregateSet[row]!]
    if (put.traits) this.traitSet[row] = this.traits.change(row, hadTraits, put.traits, this.rowsMax)
    if (put.aggregates)
      this.aggregateSet[row] = this.aggregates.change(row, hadAggregates, put.aggregates, this.rowsMax)
    return this.traitSet[row] !== hadTraits || this.aggregateSet[row] !== hadAggregates
  }

  #link(row: Row): void {
    const rootId = this.rootId[row]!
    const isRoot = this.id[row] === rootId
    if (isRoot) this.roots.add(row, this.rowsMax)
    let tree = this.trees.get(rootId)
    if (tree === undefined && isRoot) {
      this.flat.add(row, this.rowsMax)
      return
    }
    if (tree === undefined) {
      tree = new Tree(rootId)
      this.trees.set(rootId, tree)
      const rootRow = this.#rowById.get(rootId)
      // A root that is just being moved below another one is no longer its own root.
      if (rootRow !== undefined && this.rootId[rootRow] === rootId) tree.members.add(rootRow)
    }
    tree.members.add(row)
    this.#torn.add(rootId)
  }

  #unlink(row: Row): void {
    this.roots.delete(row)
    this.flat.delete(row)
    const tree = this.trees.get(this.rootId[row]!)
    if (tree === undefined) return
    tree.members.delete(row)
    this.treeOf[row] = null
    this.#torn.add(tree.rootId)
  }

  #drawTrees(): void {
    for (const rootId of this.#torn) {
      const tree = this.trees.get(rootId)
      if (tree === undefined) continue
      const rootRow = this.rowOfId(rootId)
      const rooted = rootRow >= 0 && tree.members.has(rootRow)
      tree.shape(rooted ? rootRow : -1, row => this.parentRow(row))
      const alone = tree.members.size === 0 || (tree.members.size === 1 && rooted)
      if (alone) this.trees.delete(rootId)
      for (const row of tree.members) {
        this.treeOf[row] = alone ? null : tree
        this.#touch(row)
      }
      if (!rooted) continue
      if (alone) this.flat.add(rootRow, this.rowsMax)
      else this.flat.delete(rootRow)
    }
    this.#torn.clear()
  }

  #reserve(rows: number): void {
    if (rows <= this.rowsMax) return
    this.rowsMax = Math.max(rows, this.rowsMax * 2)
    this.stamp = grown(this.stamp, new Float64Array(this.rowsMax))
    this.id = grown(this.id, newIds(this.rowsMax))
    this.generation = grown(this.generation, new Float64Array(this.rowsMax))
    this.parentId = grown(this.parentId, newIds(this.rowsMax))
    this.rootId = grown(this.rootId, newIds(this.rowsMax))
  }
}

const NO_TRAITS: readonly string[] = []

/** A column of ids: a plain array of doubles, with a type that says that only ids are in it. */
type Ids = Float64Array<ArrayBuffer> & { [row: Row]: ProviderId }
const newIds = (length: number) => new Float64Array(length) as Ids

function grown<Numbers extends Float64Array>(old: Numbers, fresh: Numbers): Numbers {
  fresh.set(old)
  return fresh
}
