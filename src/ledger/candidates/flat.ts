// The fast path: roots that stand alone (no children, no sharing provider in reach) must supply every group by themselves, so
// one pass over bitset words and then capacity columns finds them, 32 rows at a time.
import { lowestBit } from './bitset.ts'
import type { Row, RowSet } from './bitset.ts'
import type { Column } from './column.ts'
import type { Labels } from './labels.ts'
import type { GroupPlan, Plan } from './plan.ts'
import { touched } from './sharing.ts'
import type { CandidateTable } from './table.ts'
import type { Meter } from './walk.ts'

interface Sum {
  column: Column
  total: number
  /** Each group's own amount: min_unit and step_size hold for these, not for the sum. */
  amounts: number[]
}

export class FlatScan {
  #table: CandidateTable
  #plan: Plan
  #all: Int32Array[] = []
  #none: Int32Array[] = []
  #sums: Sum[]
  #words: number
  #at = 0
  #only = -1
  #impossible = false

  constructor(table: CandidateTable, plan: Plan) {
    this.#table = table
    this.#plan = plan
    this.#words = table.wordCount
    this.#sums = plan.columns.map((column, index) => {
      const amounts = plan.slots.flatMap(slot =>
        slot.needs.filter(need => need.column === index).map(need => need.amount),
      )
      return { column, amounts, total: amounts.reduce((a, b) => a + b, 0) }
    })
    this.#impossible = plan.isolate && plan.groups.filter(group => group.suffixed).length > 1
    if (!this.#impossible) this.#prepare()
  }

  /** Passes every row that supplies everything to `take`, until that returns false or a breath is due. */
  run(meter: Meter, take: (row: Row) => boolean): 'done' | 'breath' | 'enough' {
    if (this.#impossible) return 'done'
    const all = this.#all
    const none = this.#none
    // Fetched anew after each breath: a column that grows gets new arrays.
    const first = this.#sums[0]!
    const room = first.column.room
    // A rare class isn't indexed by row; -Infinity lets every row through to the full check.
    const least = first.column.dense ? first.total : -Infinity
    const lead = all[0]!
    let steps = meter.steps
    while (this.#at < this.#words) {
      if (steps >= meter.stop) {
        meter.steps = steps
        return 'breath'
      }
      const w = this.#at++
      let word = lead[w]!
      for (let i = 1; i < all.length && word !== 0; i++) word &= all[i]![w]!
      for (let i = 0; i < none.length && word !== 0; i++) word &= ~none[i]![w]!
      for (steps++; word !== 0; word &= word - 1) {
        const row = (w << 5) + lowestBit(word)
        steps++
        // One compare on a local array turns most rows away before the full check is even called.
        if (room[row]! < least || !this.#fits(row) || take(row)) continue
        meter.steps = steps
        return 'enough'
      }
    }
    meter.steps = steps
    return 'done'
  }

  #fits(row: Row): boolean {
    for (const { column, total, amounts } of this.#sums) {
      const entry = column.at(row)
      if (entry < 0 || column.room[entry]! < total || column.maxUnit[entry]! < total) return false
      for (let i = 0; i < amounts.length; i++) if (!column.unitsFit(entry, amounts[i]!)) return false
    }
    return this.#only < 0 || row === this.#only
  }

  #prepare(): void {
    const { traits, aggregates, flat, dedicated } = this.#table
    this.#must(flat)
    const reached = touched(this.#table)
    if (reached !== null) this.#none.push(reached)
    // A dedicated provider needs a child that hands it out, and these rows have no children.
    if (dedicated.count > 0) this.#none.push(dedicated.words(this.#table.wordCount))
    for (const { column } of this.#sums) this.#must(column.holders)
    this.#labels(traits, this.#plan.root.required, this.#plan.root.forbidden)
    for (const group of this.#plan.groups) {
      this.#labels(traits, group.requiredTraits, group.traits.forbidden)
      this.#labels(aggregates, group.members.required, group.strangers.forbidden)
      this.#tree(group)
    }
  }

  #tree(group: GroupPlan): void {
    if (group.treeRoot < 0) return
    if (this.#only >= 0 && this.#only !== group.treeRoot) this.#impossible = true
    this.#only = group.treeRoot
    // One row is meant: no need to look at any other word.
    this.#at = group.treeRoot >>> 5
    this.#words = this.#at + 1
  }

  #must(set: RowSet): void {
    if (set.count === 0) this.#impossible = true
    else this.#all.push(set.words(this.#table.wordCount))
  }

  #labels(labels: Labels, required: readonly (readonly number[])[], forbidden: readonly number[]): void {
    for (const any of required) {
      if (any.length === 1) {
        this.#must(labels.rows[any[0]!]!)
        continue
      }
      const union = new Int32Array(this.#table.wordCount)
      for (const label of any) {
        const words = labels.rows[label]!.words(this.#table.wordCount)
        for (let w = 0; w < union.length; w++) union[w]! |= words[w]!
      }
      this.#all.push(union)
    }
    for (const label of forbidden) this.#none.push(labels.rows[label]!.words(this.#table.wordCount))
  }
}
