// same_subtree: of the providers chosen for some groups, one must be ancestor-or-self of all the others.
import type { Row } from './bitset.ts'
import type { CandidateTable } from './table.ts'
import type { Walk } from './walk.ts'

const NOTHING_YET = -1
const NO_COMMON = -2

export class Subtrees {
  /** By depth and set: the lowest common ancestor of what is chosen so far, and whether it is itself chosen. */
  readonly lowest: Int32Array
  readonly top: Uint8Array
  readonly sets: readonly (readonly number[])[]
  /** By set: the depth of its last slot. */
  readonly lastDepth: readonly number[]
  #walk: Walk
  #parent = new Map<number, number>()
  #inner = new Set<number>()
  #reachable = new Map<string, boolean>()

  constructor(table: CandidateTable, walk: Walk) {
    this.#walk = walk
    this.sets = walk.plan.subtrees
    this.lowest = new Int32Array((walk.order.length + 1) * this.sets.length).fill(NOTHING_YET)
    this.top = new Uint8Array(this.lowest.length)
    this.lastDepth = this.sets.map(slots => Math.max(...slots.map(slot => walk.order.indexOf(slot))))
    for (const row of walk.rows) this.#climb(table, row)
  }

  /** Leaves below one parent are interchangeable; no other providers are. */
  place(row: Row): string {
    return this.#inner.has(row) || this.#parent.get(row) === -1 ? `=${row}` : `<${this.#parent.get(row)!}`
  }

  isLeaf(row: Row): boolean {
    return !this.#inner.has(row)
  }

  promising(depth: number, row: Row): boolean {
    const slot = this.#walk.order[depth]!
    const width = this.sets.length
    for (let set = 0; set < width; set++) {
      const before = this.lowest[depth * width + set]!
      const after = (depth + 1) * width + set
      if (!this.sets[set]!.includes(slot)) {
        this.lowest[after] = before
        this.top[after] = this.top[depth * width + set]!
        continue
      }
      const lowest = before === NOTHING_YET ? row : this.#common(before, row)
      if (lowest === NO_COMMON) return false
      const chosen = lowest === row || (lowest === before && this.top[depth * width + set] === 1)
      this.lowest[after] = lowest
      this.top[after] = chosen ? 1 : 0
      if (!chosen && !this.#topMayCome(set, depth, lowest)) return false
    }
    return true
  }

  /** Whether a later slot of the set can still choose an ancestor-or-self of `lowest`. */
  #topMayCome(set: number, depth: number, lowest: number): boolean {
    if (depth >= this.lastDepth[set]!) return false
    const key = `${set},${depth},${lowest}`
    const known = this.#reachable.get(key)
    if (known !== undefined) return known
    let may = false
    for (let later = depth + 1; later < this.#walk.order.length && !may; later++) {
      if (!this.sets[set]!.includes(this.#walk.order[later]!)) continue
      may = this.#walk.options[later]!.some(position => this.#isAbove(this.#walk.rows[position]!, lowest))
    }
    this.#reachable.set(key, may)
    return may
  }

  #isAbove(row: Row, below: number): boolean {
    for (let at = below; at >= 0; at = this.#parent.get(at) ?? -1) if (at === row) return true
    return false
  }

  #common(a: number, b: number): number {
    for (let at = a; at >= 0; at = this.#parent.get(at) ?? -1) if (this.#isAbove(at, b)) return at
    return NO_COMMON
  }

  #climb(table: CandidateTable, row: Row): void {
    for (let at = row; at >= 0 && !this.#parent.has(at);) {
      const parent = table.parentRow(at)
      this.#parent.set(at, parent)
      if (parent >= 0) this.#inner.add(parent)
      at = parent
    }
  }
}
