// Why a group finds nothing: how many providers each of its conditions leaves, and who came closest.
import type { Row } from './bitset.ts'
import { isSetAside } from './dedicated.ts'
import type { CandidateRequest, Group, ResourceAmount } from './request.ts'
import type { CandidateTable } from './table.ts'

interface FunnelStep {
  condition: string
  /** Providers that meet this and everything above it. */
  left: number
}

interface NearMiss {
  uuid: string
  name: string
  lacks: string[]
}

export interface Funnel {
  suffix: string
  /** The unsuffixed group has a funnel for each class, because each may come from another provider. Else null. */
  resourceClass: string | null
  providers: number
  steps: FunnelStep[]
  /** The condition that left nobody. */
  removedBy: string | null
  nearest: NearMiss[]
}

interface Condition {
  text: string
  holds(row: Row): boolean
  lack(row: Row): string
}

const NEAREST_MAX = 5
/** Rows looked at between two breaths. */
const ROWS_A_BREATH = 4096

export function* funnels(table: CandidateTable, request: CandidateRequest): Generator<undefined, Funnel[], void> {
  const out: Funnel[] = []
  for (const group of request.groups) {
    const closed = ofDedication(table, request)
    if (group.suffix !== '') out.push(yield* funnel(table, group, group.resources, null, closed))
    else for (const one of group.resources) out.push(yield* funnel(table, group, [one], one.resourceClass, closed))
  }
  return out
}

function* funnel(
  table: CandidateTable,
  group: Group,
  resources: readonly ResourceAmount[],
  resourceClass: string | null,
  closed: readonly Condition[],
): Generator<undefined, Funnel, void> {
  const conditions = [
    ...resources.flatMap(one => ofInventory(table, one)),
    ...(resources.length > 0 ? closed : []),
    ...ofTraits(table, group),
    ...ofAggregates(table, group),
    ...ofTree(table, group, resources.length > 0),
  ]
  const left = conditions.map(() => 0)
  const misses = new Misses(conditions)
  let seen = 0
  for (const row of table.live.rows()) {
    if (++seen % ROWS_A_BREATH === 0) yield
    const first = conditions.findIndex(one => !one.holds(row))
    const passed = first < 0 ? conditions.length : first
    for (let i = 0; i < passed; i++) left[i]!++
    if (first >= 0) misses.offer(row, first)
  }
  const steps = conditions.map(({ text }, i) => ({ condition: text, left: left[i]! }))
  const removedBy = steps.find(step => step.left === 0)?.condition ?? null
  const nearest = removedBy === null ? [] : misses.nearest(table)
  return { suffix: group.suffix, resourceClass, providers: seen, steps, removedBy, nearest }
}

/** The rows that miss the fewest conditions; among equals, those whose first miss comes latest. */
class Misses {
  #conditions: readonly Condition[]
  #best: { row: Row; lacks: number; first: number }[] = []

  constructor(conditions: readonly Condition[]) {
    this.#conditions = conditions
  }

  offer(row: Row, first: number): void {
    const worst = this.#best.at(-1)
    const full = this.#best.length === NEAREST_MAX
    let lacks = 0
    for (let i = first; i < this.#conditions.length; i++) {
      if (!this.#conditions[i]!.holds(row)) lacks++
      if (full && lacks > worst!.lacks) return
    }
    if (full && lacks === worst!.lacks && first <= worst!.first) return
    this.#best.push({ row, lacks, first })
    this.#best.sort((a, b) => a.lacks - b.lacks || b.first - a.first)
    this.#best.length = Math.min(this.#best.length, NEAREST_MAX)
  }

  nearest(table: CandidateTable): NearMiss[] {
    return this.#best
      .filter(({ row }) => table.live.has(row))
      .map(({ row }) => ({
        uuid: table.uuid[row]!,
        name: table.name[row]!,
        lacks: this.#conditions.filter(one => !one.holds(row)).map(one => one.lack(row)),
      }))
  }
}

function ofInventory(table: CandidateTable, { resourceClass, amount }: ResourceAmount): Condition[] {
  const column = table.column(resourceClass)
  const entry = (row: Row) => column?.at(row) ?? -1
  return [
    {
      text: `has ${resourceClass}`,
      holds: row => entry(row) >= 0,
      lack: () => `no inventory of ${resourceClass}`,
    },
    {
      text: `room for ${amount} ${resourceClass}`,
      holds: row => entry(row) >= 0 && column!.room[entry(row)]! >= amount,
      lack(row) {
        if (entry(row) < 0) return `no room for ${resourceClass}`
        if (column!.blockedAt(row)) return `${resourceClass} is blocked`
        return `${Math.max(0, column!.room[entry(row)]!)} of ${amount} ${resourceClass} free`
      },
    },
    {
      text: `units allow ${amount} ${resourceClass}`,
      holds: row => entry(row) >= 0 && column!.unitsFit(entry(row), amount),
      lack(row) {
        if (entry(row) < 0) return `no units of ${resourceClass}`
        const at = entry(row)
        return `${resourceClass} comes in ${column!.minUnit[at]} to ${column!.maxUnit[at]} by ${column!.stepSize[at]}`
      },
    },
  ]
}

/** Empty when no provider is dedicated. */
function ofDedication(table: CandidateTable, request: CandidateRequest): Condition[] {
  const owners = new Set(table.dedicated.rows().map(row => table.dedicatedTo[row]))
  if (owners.size === 0) return []
  const classes = new Set(request.groups.flatMap(group => group.resources.map(one => one.resourceClass)))
  const asked = [...classes].flatMap(name => table.column(name) ?? [])
  return [
    {
      text: `not set aside for ${[...owners].join(' or ')}`,
      holds: row => !isSetAside(table, row, asked),
      lack: row => `set aside for ${table.dedicatedTo[row]}`,
    },
  ]
}

function ofTraits(table: CandidateTable, group: Group): Condition[] {
  const has = (row: Row, name: string) => table.traits.rowsOf(name)?.has(row) ?? false
  // The unsuffixed group's required traits are met together, so no provider fails by lacking one.
  const required = group.suffix === '' ? [] : group.required
  return [
    ...required.map(any => ({
      text: `trait ${any.join(' or ')}`,
      holds: (row: Row) => any.some(name => has(row, name)),
      lack: () => `lacks trait ${any.join(' or ')}`,
    })),
    ...group.forbidden.map(name => ({
      text: `not trait ${name}`,
      holds: (row: Row) => !has(row, name),
      lack: () => `has forbidden trait ${name}`,
    })),
  ]
}

function ofAggregates(table: CandidateTable, group: Group): Condition[] {
  const isIn = (row: Row, names: readonly string[]) =>
    names.some(name => table.aggregates.rowsOf(name)?.has(row) ?? false)
  const rootToo = group.suffix === ''
  const any = (row: Row, names: readonly string[]) => isIn(row, names) || (rootToo && isIn(table.rootRow(row), names))
  // The root must be in all of them by itself: being in one while the child is in another isn't enough.
  const member = (row: Row) => group.memberOf.every(names => isIn(row, names))
  const all = group.memberOf.map(names => names.join(' or ')).join(' and ')
  const out: Condition[] = []
  if (all !== '') {
    out.push({
      text: `in aggregate ${all}`,
      holds: row => member(row) || (rootToo && member(table.rootRow(row))),
      lack: () => `not in aggregate ${all}`,
    })
  }
  if (group.forbiddenAggregates.length > 0) {
    const names = group.forbiddenAggregates.join(' or ')
    out.push({
      text: `not in aggregate ${names}`,
      holds: row => !any(row, group.forbiddenAggregates),
      lack: () => `in forbidden aggregate ${names}`,
    })
  }
  return out
}

function ofTree(table: CandidateTable, group: Group, binding: boolean): Condition[] {
  if (group.inTree === null || !binding) return []
  const named = table.rowOfUuid(group.inTree)
  return [
    {
      text: `in the tree of ${group.inTree}`,
      holds: row => named >= 0 && table.rootId[row] === table.rootId[named],
      lack: () => `not in the tree of ${group.inTree}`,
    },
  ]
}
