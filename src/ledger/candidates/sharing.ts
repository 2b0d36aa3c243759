// Sharing providers: which of them a tree can reach through its aggregates, and which trees one of them can serve.
import { eachBit, orInto, type Row } from './bitset.ts'
import { SHARING_TRAIT } from './table.ts'
import type { CandidateTable } from './table.ts'

interface Sharing {
  at: number
  byAggregate: Map<number, number[]>
  /** Rows in an aggregate that has a sharing provider. */
  touched: Int32Array | null
  wide: Int32Array | null
}

// A cache beside the table: the data is derived, and rebuilt only when trees, traits or aggregates change.
const kept = new WeakMap<CandidateTable, Sharing>()

function sharing(table: CandidateTable): Sharing {
  const known = kept.get(table)
  if (known !== undefined && known.at === table.shapeVersion) return known
  const fresh: Sharing = { at: table.shapeVersion, byAggregate: new Map(), touched: null, wide: null }
  table.traits.rowsOf(SHARING_TRAIT)?.forEach(row => {
    for (const aggregate of table.aggregateSet[row]!.labels) {
      const rows = fresh.byAggregate.get(aggregate)
      if (rows === undefined) fresh.byAggregate.set(aggregate, [row])
      else rows.push(row)
    }
  })
  if (fresh.byAggregate.size > 0) {
    fresh.touched = new Int32Array(table.wordCount)
    for (const aggregate of fresh.byAggregate.keys()) {
      orInto(fresh.touched, table.aggregates.rows[aggregate]!.words(table.wordCount))
    }
  }
  kept.set(table, fresh)
  return fresh
}

export function touched(table: CandidateTable): Int32Array | null {
  return sharing(table).touched
}

/** Sharing providers with an aggregate in common with this row, itself included if it is one. */
function sharersOf(table: CandidateTable, row: Row): readonly number[] {
  const { at, byAggregate } = sharing(table)
  if (byAggregate.size === 0) return NONE
  const set = table.aggregateSet[row]!
  if (set.sharers.at === at) return set.sharers.rows
  const rows = new Set<number>()
  for (const aggregate of set.labels) for (const one of byAggregate.get(aggregate) ?? NONE) rows.add(one)
  set.sharers = { at, rows: [...rows].sort((a, b) => a - b) }
  return set.sharers.rows
}

const NONE: readonly number[] = []

/** Sharing providers of other trees that a tree can use. */
export function sharersOfTree(table: CandidateTable, treeRows: readonly number[]): readonly number[] {
  if (sharing(table).byAggregate.size === 0) return NONE
  const out = new Set<number>()
  for (const row of treeRows) for (const one of sharersOf(table, row)) out.add(one)
  if (out.size === 0) return NONE
  for (const row of treeRows) out.delete(row)
  return [...out].sort((a, b) => a - b)
}

/** Adds the roots that a provider can serve: its own and, if it shares, those of every tree in its aggregates. */
export function addAnchors(table: CandidateTable, row: Row, anchors: Set<number>): void {
  anchors.add(table.rootRow(row))
  if (!isSharing(table, row)) return
  for (const aggregate of table.aggregateSet[row]!.labels) {
    table.aggregates.rows[aggregate]!.forEach(member => anchors.add(table.rootRow(member)))
  }
}

export function isSharing(table: CandidateTable, row: Row): boolean {
  return table.traits.rowsOf(SHARING_TRAIT)?.has(row) ?? false
}

/** Roots whose candidates may use more than the root itself: those with children, and those that a sharing provider serves. */
export function wideRoots(table: CandidateTable): Int32Array {
  const state = sharing(table)
  if (state.wide !== null) return state.wide
  const out: number[] = []
  for (const tree of table.trees.values()) if (tree.rows.length > 0) out.push(tree.rows[0]!)
  if (state.touched !== null) {
    eachBit(state.touched, row => {
      if (table.flat.has(row)) out.push(row)
    })
  }
  state.wide = Int32Array.from(out).sort()
  return state.wide
}

export function isWide(table: CandidateTable, root: Row): boolean {
  if (table.treeOf[root] !== null) return true
  const reached = touched(table)
  return reached !== null && (reached[root >>> 5]! & (1 << (root & 31))) !== 0
}
