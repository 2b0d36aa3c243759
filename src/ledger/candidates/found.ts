// The candidates found so far, as numbers in one array, and whether they are still true.
import type { Row } from './bitset.ts'
import type { Plan } from './plan.ts'
import { isSharing } from './sharing.ts'
import type { CandidateTable } from './table.ts'
import type { Tree } from './tree.ts'
import type { Walk } from './walk.ts'

export class Found {
  count = 0
  #table: CandidateTable
  #width: number
  #picks: Int32Array
  #anchors: Int32Array
  #seen: Set<string> | null = null

  constructor(table: CandidateTable, plan: Plan) {
    this.#table = table
    this.#width = plan.slots.length
    this.#picks = new Int32Array(16 * this.#width)
    this.#anchors = new Int32Array(16)
  }

  get picks(): Int32Array {
    return this.#picks.subarray(0, this.count * this.#width)
  }

  get anchors(): Int32Array {
    return this.#anchors.subarray(0, this.count)
  }

  addFlat(row: Row): void {
    const at = this.#place(row)
    this.#picks.fill(row, at, at + this.#width)
    this.count++
  }

  /** False for a duplicate from another anchor. Only candidates made of sharing providers alone can have one. */
  addWalk(walk: Walk, twice: boolean): boolean {
    const at = this.#place(walk.anchor)
    walk.picks(this.#picks, at)
    const picks = this.#picks.subarray(at, at + this.#width)
    if (!twice && picks.every(row => isSharing(this.#table, row))) {
      this.#seen ??= new Set()
      const key = picks.join()
      if (this.#seen.has(key)) return false
      this.#seen.add(key)
    }
    this.count++
    return true
  }

  #place(anchor: number): number {
    if (this.count === this.#anchors.length) {
      this.#anchors = grown(this.#anchors)
      this.#picks = grown(this.#picks)
    }
    this.#anchors[this.count] = anchor
    return this.count * this.#width
  }
}

function grown(old: Int32Array): Int32Array {
  const larger = new Int32Array(old.length * 2)
  larger.set(old)
  return larger
}

interface Listed {
  picks: Int32Array
  anchors: Int32Array
  count: number
}

/** Drops, in place, the candidates that changes since version `began` made invalid; returns how many remain. */
export function keepTrue(table: CandidateTable, plan: Plan, { picks, anchors, count }: Listed, began: number): number {
  const width = plan.slots.length
  const isTrue = truth(table, plan, picks, anchors, began)
  let kept = 0
  for (let i = 0; i < count; i++) {
    if (!isTrue(i)) continue
    if (kept < i) {
      anchors[kept] = anchors[i]!
      picks.copyWithin(kept * width, i * width, (i + 1) * width)
    }
    kept++
  }
  return kept
}

/** Says of each candidate whether it holds in spite of the changes since version `began`. Use it before the next yield. */
export function truth(
  table: CandidateTable,
  plan: Plan,
  picks: Int32Array,
  anchors: Int32Array,
  began: number,
): (candidate: number) => boolean {
  const trees = new Map<Tree, boolean>()
  const treeStands = (anchor: Row): boolean => {
    const tree = table.treeOf[anchor]
    if (tree === null || tree === undefined) return table.stamp[anchor]! <= began
    return trees.getOrInsertComputed(tree, () => tree.rows.every(row => table.stamp[row]! <= began))
  }
  const width = plan.slots.length
  return i => treeStands(anchors[i]!) && stands(table, plan, picks, i * width, began)
}

// A million picks are checked in one go at the end of the longest search, so this makes no objects.
function stands(table: CandidateTable, plan: Plan, picks: Int32Array, at: number, began: number): boolean {
  for (let slot = 0; slot < plan.slots.length; slot++) {
    const row = picks[at + slot]!
    if (table.stamp[row]! > began) return false
    for (const { column } of plan.slots[slot]!.needs) {
      if (plan.columns[column]!.roomAt(row) < wanted(plan, picks, at, row, column)) return false
    }
  }
  return true
}

/** What the candidate takes of one class from one provider. */
function wanted(plan: Plan, picks: Int32Array, at: number, row: Row, column: number): number {
  let sum = 0
  for (let slot = 0; slot < plan.slots.length; slot++) {
    if (picks[at + slot] !== row) continue
    for (const need of plan.slots[slot]!.needs) if (need.column === column) sum += need.amount
  }
  return sum
}
