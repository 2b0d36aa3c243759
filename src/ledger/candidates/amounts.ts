// Which other amounts of a class could fit: the largest below what was asked for, or the next allowed above it.
import type { Row } from './bitset.ts'
import { accepts, compile } from './plan.ts'
import type { Plan, Slot } from './plan.ts'
import type { CandidateRequest } from './request.ts'
import type { CandidateTable } from './table.ts'

/** Bounds the sums of other groups' amounts on one provider; further groups are left out. */
const SUMS_MAX = 64
/** Rows looked at between two breaths. */
const ROWS_A_BREATH = 4096

interface Amounts {
  /** Descending. The largest amount that gives a candidate is among them. */
  below: number[]
  /** Ascending: the next amounts that min_unit and step_size allow. */
  above: number[]
}

// The largest possible amount fills its provider, up to its room or max_unit, except for what other groups take there
// and what step_size leaves over. So only `room - others`, rounded down to a step, can be the largest.
export function* amounts(
  table: CandidateTable,
  request: CandidateRequest,
  at: number,
  resourceClass: string,
): Generator<undefined, Amounts, void> {
  const plan = compile(table, request)
  if (plan === null) return { below: [], above: [] }
  const column = table.column(resourceClass)!
  const index = plan.columns.indexOf(column)
  const slot = plan.slots.find(one => one.group === plan.groups[at] && one.needs.some(need => need.column === index))!
  const asked = slot.needs.find(need => need.column === index)!.amount
  const open: Slot = { ...slot, needs: slot.needs.filter(need => need.column !== index) }
  const sums = othersSums(plan, slot, index)
  const below = new Set<number>()
  const above = new Set<number>()
  for (const [i, row] of column.holders.rows().entries()) {
    if (i % ROWS_A_BREATH === ROWS_A_BREATH - 1) yield
    const entry = column.at(row)
    if (entry < 0 || !mayStand(table, plan, open, row)) continue
    const most = Math.min(column.room[entry]!, column.maxUnit[entry]!)
    const step = column.stepSize[entry]!
    const least = column.minUnit[entry]!
    for (const sum of sums) {
      const fits = Math.floor(Math.min(most - sum, asked - 1) / step) * step
      if (fits >= least && fits > 0) below.add(fits)
    }
    const next = Math.ceil(Math.max(asked + 1, least) / step) * step
    if (next <= most) above.add(next)
  }
  return { below: [...below].sort((a, b) => b - a), above: [...above].sort((a, b) => a - b) }
}

/** Whether the slot accepts the row under its own root, or as a shared one. The search checks the exact anchor. */
function mayStand(table: CandidateTable, plan: Plan, slot: Slot, row: Row): boolean {
  return (
    accepts(table, plan, slot, row, table.rootRow(row), true) ||
    accepts(table, plan, slot, row, table.rootRow(row), false)
  )
}

function othersSums(plan: Plan, slot: Slot, column: number): number[] {
  const sums = new Set([0])
  for (const other of plan.slots) {
    if (other === slot || sums.size > SUMS_MAX / 2) continue
    const amount = other.needs.find(need => need.column === column)?.amount
    if (amount === undefined) continue
    const before = [...sums]
    for (const sum of before) sums.add(sum + amount)
  }
  return [...sums]
}
