// Which wide roots are worth a walk: all of them, or only those that the rarest condition leaves.
import type { RowSet } from './bitset.ts'
import type { Plan } from './plan.ts'
import { addAnchors, isSharing, isWide, wideRoots } from './sharing.ts'
import type { CandidateTable } from './table.ts'

/** Roots that can anchor a candidate and need a walk, in row order. */
export function anchors(table: CandidateTable, plan: Plan): Int32Array {
  const wide = wideRoots(table)
  if (wide.length === 0) return wide
  for (const group of plan.groups) {
    // in_tree on the unsuffixed group shuts out sharing providers, so only the root of that tree can be the anchor.
    if (!group.suffixed && group.treeRoot >= 0)
      return Int32Array.from(isWide(table, group.treeRoot) ? [group.treeRoot] : [])
  }
  const pivot = rarest(table, plan, wide.length / 2)
  if (pivot === null || reach(table, pivot) > wide.length / 2) return wide
  const found = new Set<number>()
  for (const row of pivot) addAnchors(table, row, found)
  return Int32Array.from([...found].filter(root => root >= 0 && isWide(table, root))).sort()
}

/** An upper bound on the anchors: one for each row, and for a sharing row all members of its aggregates. */
function reach(table: CandidateTable, rows: readonly number[]): number {
  let sum = 0
  for (const row of rows) {
    sum++
    if (!isSharing(table, row)) continue
    for (const aggregate of table.aggregateSet[row]!.labels) sum += table.aggregates.rows[aggregate]!.count
  }
  return sum
}

// Every candidate has a provider (or, for an aggregate, a root) in each of these sets, from the anchor's tree or shared
// with it. So the anchors of the smallest set are enough. null when even the smallest set is large.
function rarest(table: CandidateTable, plan: Plan, most: number): readonly number[] | null {
  const sets: RowSet[] = plan.columns.map(column => column.holders)
  for (const group of plan.groups) {
    if (group.treeRoot >= 0) return table.treeOf[group.treeRoot]?.rows ?? [group.treeRoot]
    for (const any of group.requiredTraits) if (any.length === 1) sets.push(table.traits.rows[any[0]!]!)
    for (const any of group.members.required) if (any.length === 1) sets.push(table.aggregates.rows[any[0]!]!)
  }
  for (const any of plan.root.required) sets.push(table.traits.rows[any[0]!]!)
  const least = sets.reduce((a, b) => (b.count < a.count ? b : a))
  return least.count > most ? null : least.rows()
}
