// The search for allocation candidates: one candidate at a time, each root in turn, up to the limit or the budget.
//
// The table may change at each breath (a yield to other work). A walk copies its numbers when it begins, so no
// candidate mixes two states of a tree. If the table has changed by the end of the search, every candidate is checked
// again, and dropped if one of its providers changed shape or lost the room. If any was dropped, the search starts
// again, at most RESTARTS times, within the same budget. So an answer is true of the table when it is given.
import type { Row } from './bitset.ts'
import { anchors } from './anchors.ts'
import { FlatScan } from './flat.ts'
import { Found, keepTrue } from './found.ts'
import { compile } from './plan.ts'
import type { Plan } from './plan.ts'
import type { CandidateRequest } from './request.ts'
import { dealt, seeded, shuffled } from '../../clock/chance.ts'
import type { Random } from '../../clock/chance.ts'
import type { CandidateTable } from './table.ts'
import { Walk } from './walk.ts'
import type { Meter, Shuffle } from './walk.ts'

export interface SearchBudget {
  /** Steps in all. One is a provider looked at, about 20 to 200 ns. */
  workMax: number
  /** Steps between two breaths. */
  breathEvery: number
  /** For counting roots: one candidate for each root is enough, and several roots may have the same one. */
  perRoot?: boolean
  /** The most candidates × slots that are kept; reaching it counts as an exhausted budget. */
  picksMax?: number
  /** Steps within one tree after which dead ends are remembered. */
  hardAfter?: number
}

export interface SearchResult {
  /** null when nothing can match. */
  plan: Plan | null
  count: number
  /** A row for each slot of the plan, candidate after candidate. */
  picks: Int32Array
  /** The root that each candidate belongs to. */
  anchors: Int32Array
  /** The budget ended the search, so there may be more. */
  exhausted: boolean
  steps: number
}

const RESTARTS = 2
const HARD_AFTER = 256
// A question without a limit can have billions of answers. A million picks are 330,000 flat candidates of three classes, or an
// answer of about 100 MB; more would neither fit a string nor help anyone.
const PICKS_MAX = 1_000_000
const NOTHING = new Int32Array(0)

type Search = Generator<undefined, SearchResult, void>

/** Yields a breath now and then; returns the result. */
export function* search(table: CandidateTable, request: CandidateRequest, budget: SearchBudget): Search {
  const meter: Meter = { steps: 0, stop: 0, max: budget.workMax, hardAfter: budget.hardAfter ?? HARD_AFTER }
  for (let restarts = 0; ; restarts++) {
    const began = table.version
    const plan = compile(table, request)
    if (plan === null) {
      return { plan, count: 0, picks: NOTHING, anchors: NOTHING, exhausted: false, steps: meter.steps }
    }
    const found = new Found(table, plan)
    const exhausted = yield* collect(table, plan, found, meter, budget)
    const { picks, anchors } = found
    const count = table.version === began ? found.count : keepTrue(table, plan, found, began)
    if (count === found.count || exhausted || restarts === RESTARTS) {
      return { plan, count, picks, anchors, exhausted, steps: meter.steps }
    }
  }
}

/** Runs a search to its end without a yield. */
export function searchNow(
  table: CandidateTable,
  request: CandidateRequest,
  workMax: number,
  perRoot = false,
): SearchResult {
  const running = search(table, request, { workMax, breathEvery: workMax, perRoot })
  for (;;) {
    const turn = running.next()
    if (turn.done) return turn.value
  }
}

type Collecting = Generator<undefined, boolean, void>

/** True when the budget ended it. */
function* collect(table: CandidateTable, plan: Plan, found: Found, meter: Meter, budget: SearchBudget): Collecting {
  const { seed } = plan.request
  const most = countMax(plan, budget)
  const random = seed === null ? null : seeded(seed)
  const alone: number[] = []
  const flat = new FlatScan(table, plan)
  const take = (row: Row) => {
    if (random !== null) return alone.push(row) > 0
    found.addFlat(row)
    return found.count < most
  }
  nextBreath(meter, budget)
  for (;;) {
    const event = flat.run(meter, take)
    if (event === 'enough') return isFull(plan, found)
    if (event === 'done') break
    if (meter.steps >= meter.max) return true
    yield
    nextBreath(meter, budget)
  }
  // Roots that stand alone are written as -1 - row, so that both kinds are dealt as one pack.
  const wide = anchors(table, plan)
  const pack = random === null ? wide : dealt(packOf(alone, wide), random)
  return yield* roundRobin(table, plan, pack, found, meter, { ...budget, random })
}

function packOf(alone: readonly number[], wide: Int32Array): Int32Array {
  const pack = new Int32Array(alone.length + wide.length)
  for (let i = 0; i < alone.length; i++) pack[i] = -1 - alone[i]!
  pack.set(wide, alone.length)
  return pack
}

interface Pace extends SearchBudget {
  random: Random | null
}

/** One candidate of each root, then a second one of each, and so on. */
function* roundRobin(
  table: CandidateTable,
  plan: Plan,
  pack: Iterable<number>,
  found: Found,
  meter: Meter,
  pace: Pace,
): Collecting {
  const { random } = pace
  const most = countMax(plan, pace)
  const shuffle: Shuffle | null = random === null ? null : rows => shuffled(rows, random)
  let waiting: Iterable<number | Walk> = pack
  for (;;) {
    const again: Walk[] = []
    for (const turn of waiting) {
      if (meter.steps >= meter.stop) {
        if (meter.steps >= meter.max) return true
        yield
        nextBreath(meter, pace)
      }
      meter.steps++
      if (typeof turn === 'number' && turn < 0) {
        found.addFlat(-1 - turn)
      } else {
        const walk = typeof turn === 'number' ? Walk.start(table, plan, turn, meter, shuffle) : turn
        if (walk === null) continue
        if (yield* advance(walk, found, meter, pace)) {
          if (!pace.perRoot) again.push(walk)
        } else if (meter.steps >= meter.max) {
          return true
        }
      }
      if (found.count >= most) return isFull(plan, found)
    }
    if (again.length === 0) return false
    waiting = again
  }
}

/** Takes a walk to its next new candidate; false when there is none, or the budget is used up. */
function* advance(walk: Walk, found: Found, meter: Meter, pace: Pace): Collecting {
  // Without a limit all candidates are wanted, so the root is finished at once and no walk waits in memory.
  const finish = walk.plan.request.limit === null && !pace.perRoot
  for (;;) {
    const event = walk.next(meter)
    if (event === 'done') return false
    if (event === 'found') {
      const fresh = found.addWalk(walk, pace.perRoot ?? false)
      if (found.count >= countMax(walk.plan, pace) || (fresh && !finish)) return true
    } else {
      if (meter.steps >= meter.max) return false
      yield
      nextBreath(meter, pace)
    }
  }
}

function countMax(plan: Plan, { picksMax = PICKS_MAX }: SearchBudget): number {
  return Math.min(plan.request.limit ?? Infinity, Math.ceil(picksMax / plan.slots.length))
}

/** Whether picksMax ended the search, so that the answer is incomplete; the request's own limit leaves it complete. */
function isFull(plan: Plan, found: Found): boolean {
  return plan.request.limit === null || found.count < plan.request.limit
}

function nextBreath(meter: Meter, { breathEvery }: SearchBudget): void {
  meter.stop = Math.min(meter.max, meter.steps + breathEvery)
}
