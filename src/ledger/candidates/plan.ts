// A request made ready for one table: names become indexes, groups become slots that each take exactly one provider.
//
// A suffixed group is one slot; the unsuffixed group is one slot for each of its classes. The providers chosen for the
// slots determine a candidate: two different choices never give the same allocations and mappings.
import type { Row } from './bitset.ts'
import type { Column } from './column.ts'
import type { Labels, LabelSet } from './labels.ts'
import type { CandidateRequest, Group } from './request.ts'
import type { CandidateTable } from './table.ts'

interface Need {
  /** Index into Plan.columns. */
  column: number
  amount: number
}

export interface Slot {
  group: GroupPlan
  needs: readonly Need[]
}

export interface Plan {
  request: CandidateRequest
  /** Every class that is asked for, once. */
  columns: Column[]
  groups: GroupPlan[]
  slots: Slot[]
  /** Slots that must lie in one subtree, for each same_subtree. */
  subtrees: number[][]
  isolate: boolean
  root: Judge
}

/** Judges label sets and remembers the verdict: there are far fewer sets than providers. */
class Judge {
  readonly required: readonly (readonly number[])[]
  readonly forbidden: readonly number[]
  #verdicts = new Map<LabelSet, boolean>()

  constructor(required: readonly (readonly number[])[], forbidden: readonly number[]) {
    this.required = required
    this.forbidden = forbidden
  }

  fits(set: LabelSet): boolean {
    const known = this.#verdicts.get(set)
    if (known !== undefined) return known
    const verdict =
      this.required.every(any => any.some(label => set.labels.includes(label))) &&
      !this.forbidden.some(label => set.labels.includes(label))
    this.#verdicts.set(set, verdict)
    return verdict
  }
}

export interface GroupPlan {
  suffix: string
  suffixed: boolean
  /** In the unsuffixed group only the forbidden ones; the required ones are covered together, see `together`. */
  traits: Judge
  together: readonly (readonly number[])[]
  /** All required lists, also those covered together. */
  requiredTraits: readonly (readonly number[])[]
  members: Judge
  strangers: Judge
  /** Row of the root that in_tree means, or -1. */
  treeRoot: number
}

/** null: a name the table has never seen, so nothing can match. */
export function compile(table: CandidateTable, request: CandidateRequest): Plan | null {
  const rootRequired = anyOf(
    table.traits,
    request.rootRequired.map(name => [name]),
  )
  if (rootRequired === null) return null
  const root = new Judge(rootRequired, known(table.traits, request.rootForbidden))
  const plan: Plan = { request, columns: [], groups: [], slots: [], subtrees: [], isolate: false, root }
  plan.isolate = request.groupPolicy === 'isolate'
  for (const group of request.groups) {
    const compiled = compileGroup(table, group)
    if (compiled === null || !addSlots(table, plan, compiled, group)) return null
    plan.groups.push(compiled)
  }
  for (const suffixes of request.sameSubtree) {
    const slots = plan.slots.flatMap((slot, i) =>
      slot.group.suffixed && suffixes.includes(slot.group.suffix) ? [i] : [],
    )
    if (slots.length > 1) plan.subtrees.push(slots)
  }
  // The API refuses a request without any resources.
  return plan.columns.length === 0 ? null : plan
}

function compileGroup(table: CandidateTable, group: Group): GroupPlan | null {
  const required = anyOf(table.traits, group.required)
  const memberOf = anyOf(table.aggregates, group.memberOf)
  if (required === null || memberOf === null) return null
  const suffixed = group.suffix !== ''
  const resourceless = group.resources.length === 0
  // Upstream finds no provider for a group that asks for nothing, or that only forbids something.
  if (resourceless && (!suffixed || (required.length === 0 && memberOf.length === 0))) return null
  const inTree = group.inTree === null ? -1 : table.rowOfUuid(group.inTree)
  const treeRoot = inTree < 0 ? -1 : table.rootRow(inTree)
  if (group.inTree !== null && treeRoot < 0) return null
  const forbidden = known(table.traits, group.forbidden)
  return {
    suffix: group.suffix,
    suffixed,
    traits: new Judge(suffixed ? required : [], forbidden),
    together: suffixed ? [] : required,
    requiredTraits: required,
    members: new Judge(memberOf, []),
    strangers: new Judge([], known(table.aggregates, group.forbiddenAggregates)),
    // Upstream reads in_tree together with the inventories, so it doesn't bind a group without resources.
    treeRoot: resourceless ? -1 : treeRoot,
  }
}

function addSlots(table: CandidateTable, plan: Plan, compiled: GroupPlan, group: Group): boolean {
  const needs: Need[] = []
  for (const { resourceClass, amount } of group.resources) {
    const column = table.column(resourceClass)
    if (column === null) return false
    let index = plan.columns.indexOf(column)
    if (index < 0) index = plan.columns.push(column) - 1
    needs.push({ column: index, amount })
  }
  if (compiled.suffixed) plan.slots.push({ group: compiled, needs })
  else for (const need of needs) plan.slots.push({ group: compiled, needs: [need] })
  return true
}

/** Indexes of the names that are known; null when a list has none left. */
function anyOf(labels: Labels, lists: readonly (readonly string[])[]): number[][] | null {
  const out: number[][] = []
  for (const names of lists) {
    const some = known(labels, names)
    if (some.length === 0) return null
    out.push(some)
  }
  return out
}

function known(labels: Labels, names: readonly string[]): number[] {
  return names.map(name => labels.find(name)).filter(index => index >= 0)
}

/** Whether a provider fits a slot, before anything else is chosen. */
export function accepts(
  table: CandidateTable,
  plan: Plan,
  slot: Slot,
  row: Row,
  anchor: number,
  own: boolean,
): boolean {
  for (const { column, amount } of slot.needs) if (!plan.columns[column]!.fits(row, amount)) return false
  const { group } = slot
  if (!group.traits.fits(table.traitSet[row]!)) return false
  const aggregates = table.aggregateSet[row]!
  if (group.suffixed) {
    if (!group.members.fits(aggregates) || !group.strangers.fits(aggregates)) return false
    return group.treeRoot < 0 || table.rootRow(row) === group.treeRoot
  }
  if (group.treeRoot >= 0 && (!own || anchor !== group.treeRoot)) return false
  // An aggregate of the root counts for its tree, but not for a sharing provider from elsewhere.
  const ofRoot = table.aggregateSet[anchor]!
  if (!group.members.fits(aggregates) && !(own && group.members.fits(ofRoot))) return false
  return group.strangers.fits(aggregates) && group.strangers.fits(ofRoot)
}
