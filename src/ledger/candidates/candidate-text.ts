// One candidate as JSON text.
import type { Plan } from './plan.ts'
import type { CandidateTable } from './table.ts'

export interface CandidateWords {
  /** 1.12: allocations as an object keyed by provider; a list before. */
  keyed: boolean
  /** 1.34 */
  mappings: boolean
}

/** The common case: one provider for everything, so only the uuid varies. */
export function onOneProvider(plan: Plan, words: CandidateWords): (uuid: string) => string {
  const totals = plan.columns.map((_, column) => total(plan, column))
  const resources = plan.columns.map(({ name }, i) => `"${name}":${totals[i]}`).join()
  if (!words.keyed) {
    return uuid => `{"allocations":[{"resource_provider":{"uuid":"${uuid}"},"resources":{${resources}}}]}`
  }
  const middle = `":{"resources":{${resources}}}}`
  if (!words.mappings) return uuid => `{"allocations":{"${uuid}${middle}}`
  const suffixes = plan.groups.map(group => group.suffix)
  if (suffixes.length === 1) {
    const mapping = `${middle},"mappings":{"${suffixes[0]}":["`
    return uuid => `{"allocations":{"${uuid}${mapping}${uuid}"]}}`
  }
  return uuid =>
    `{"allocations":{"${uuid}${middle},"mappings":{${suffixes.map(suffix => `"${suffix}":["${uuid}"]`).join()}}}`
}

function total(plan: Plan, column: number): number {
  let sum = 0
  for (const slot of plan.slots) for (const need of slot.needs) if (need.column === column) sum += need.amount
  return sum
}

export function spread(
  table: CandidateTable,
  plan: Plan,
  picks: Int32Array,
  at: number,
  words: CandidateWords,
): string {
  let allocations = ''
  for (let i = 0; i < plan.slots.length; i++) {
    const row = picks[at + i]!
    if (plan.slots[i]!.needs.length === 0 || givesBefore(plan, picks, at, i)) continue
    if (allocations !== '') allocations += ','
    const resources = given(plan, picks, at, i)
    allocations += words.keyed
      ? `"${table.uuid[row]}":{"resources":{${resources}}}`
      : `{"resource_provider":{"uuid":"${table.uuid[row]}"},"resources":{${resources}}}`
  }
  if (!words.keyed) return `{"allocations":[${allocations}]}`
  if (!words.mappings) return `{"allocations":{${allocations}}}`
  return `{"allocations":{${allocations}},"mappings":{${mappings(table, plan, picks, at)}}}`
}

function givesBefore(plan: Plan, picks: Int32Array, at: number, slot: number): boolean {
  for (let i = 0; i < slot; i++) if (picks[at + i] === picks[at + slot] && plan.slots[i]!.needs.length > 0) return true
  return false
}

/** What the provider of this slot gives to it and to every later slot. */
function given(plan: Plan, picks: Int32Array, at: number, slot: number): string {
  const sums = new Float64Array(plan.columns.length)
  for (let i = slot; i < plan.slots.length; i++) {
    if (picks[at + i] !== picks[at + slot]) continue
    for (const { column, amount } of plan.slots[i]!.needs) sums[column]! += amount
  }
  let out = ''
  for (let column = 0; column < sums.length; column++) {
    if (sums[column] === 0) continue
    out += `${out === '' ? '' : ','}"${plan.columns[column]!.name}":${sums[column]}`
  }
  return out
}

function mappings(table: CandidateTable, plan: Plan, picks: Int32Array, at: number): string {
  let out = ''
  for (let i = 0; i < plan.slots.length;) {
    const { group } = plan.slots[i]!
    const rows: number[] = []
    for (; i < plan.slots.length && plan.slots[i]!.group === group; i++) {
      if (!rows.includes(picks[at + i]!)) rows.push(picks[at + i]!)
    }
    out += `${out === '' ? '' : ','}"${group.suffix}":[${rows.map(row => `"${table.uuid[row]}"`).join()}]`
  }
  return out
}
