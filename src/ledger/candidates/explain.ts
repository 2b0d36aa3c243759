// Explains why a request finds nothing and what would help: the funnel of each group, how far all groups get together,
// and the smallest relaxations, each tried by a real search before it is proposed.
import { amounts } from './amounts.ts'
import { funnels } from './funnel.ts'
import type { Funnel } from './funnel.ts'
import { droppable, withAmount, withoutGroup } from './relax.ts'
import type { Edit } from './relax.ts'
import type { CandidateRequest } from './request.ts'
import { search } from './search.ts'
import type { SearchBudget, SearchResult } from './search.ts'
import type { CandidateTable } from './table.ts'

interface Relaxation {
  sentence: string
  /** Roots that have a candidate after this change; a lower bound when the budget ran out. */
  roots: number
  request: CandidateRequest
}

interface TogetherStep {
  condition: string
  roots: number
}

export interface Explanation {
  /** Roots with a candidate for the request as it is. */
  roots: number
  groups: Funnel[]
  /** Each group alone, then all groups, with one more of the common rules at each step. */
  together: TogetherStep[]
  relaxations: Relaxation[]
  /** The budget ended it: there may be more relaxations, and counts may be too low. */
  exhausted: boolean
}

const RELAXATIONS_MAX = 10
const PAIRS_MAX = 300
/** Amounts tried in order before a binary search: nearly always the first fits. */
const AMOUNTS_IN_ORDER = 6

export function* explain(
  table: CandidateTable,
  request: CandidateRequest,
  budget: SearchBudget,
): Generator<undefined, Explanation, void> {
  const trial = new Trials(table, budget)
  const groups = yield* funnels(table, request)
  const roots = yield* trial.roots(request)
  const together = yield* steps(trial, request)
  const relaxations: Relaxation[] = []
  if (roots === 0) {
    yield* singles(table, trial, request, '', relaxations)
    if (relaxations.length === 0) yield* pairs(table, trial, request, relaxations)
    if (relaxations.length === 0) yield* wholeGroups(trial, request, relaxations)
  }
  relaxations.sort((a, b) => b.roots - a.roots)
  return { roots, groups, together, relaxations, exhausted: trial.exhausted }
}

/** Searches within what is left of one budget. */
class Trials {
  exhausted = false
  #table: CandidateTable
  #left: number
  #breathEvery: number

  constructor(table: CandidateTable, budget: SearchBudget) {
    this.#table = table
    this.#left = budget.workMax
    this.#breathEvery = budget.breathEvery
  }

  get over(): boolean {
    return this.#left <= 0
  }

  *roots(request: CandidateRequest): Generator<undefined, number, void> {
    return (yield* this.#run({ ...request, limit: null, seed: null }, true)).count
  }

  *any(request: CandidateRequest): Generator<undefined, boolean, void> {
    return (yield* this.#run({ ...request, limit: 1, seed: null }, false)).count > 0
  }

  *#run(request: CandidateRequest, perRoot: boolean): Generator<undefined, SearchResult, void> {
    const budget = { workMax: Math.max(0, this.#left), breathEvery: this.#breathEvery, perRoot }
    const result = yield* search(this.#table, request, budget)
    // A trial that finds nothing to do still costs its preparation.
    this.#left -= result.steps + 1
    if (result.exhausted) this.exhausted = true
    return result
  }
}

function* steps(trial: Trials, request: CandidateRequest): Generator<undefined, TogetherStep[], void> {
  const free: CandidateRequest = {
    ...request,
    groupPolicy: 'none',
    sameSubtree: [],
    rootRequired: [],
    rootForbidden: [],
  }
  const out: TogetherStep[] = []
  for (const group of request.groups) {
    if (group.resources.length === 0) {
      // A suffixed group without resources can't be searched alone; the unsuffixed one finds nothing, as upstream.
      if (group.suffix === '')
        out.push({ condition: 'the unsuffixed group alone, which asks for no resources', roots: 0 })
      continue
    }
    const condition = group.suffix === '' ? 'the unsuffixed group alone' : `group ${group.suffix} alone`
    if (group.suffix === '' && group.required.length > 0) {
      const required = group.required.map(any => any.join(' or ')).join(' and ')
      const roots = yield* trial.roots({ ...free, groups: [{ ...group, required: [] }] })
      out.push({ condition: `${condition}, without trait ${required}`, roots })
    }
    out.push({ condition, roots: yield* trial.roots({ ...free, groups: [group] }) })
  }
  const rules: [string, CandidateRequest][] = [['all groups under one root', free]]
  const { groupPolicy, sameSubtree, rootRequired, rootForbidden } = request
  if (groupPolicy === 'isolate') rules.push(['group_policy=isolate', { ...free, groupPolicy }])
  if (sameSubtree.length > 0) rules.push(['same_subtree', { ...free, groupPolicy, sameSubtree }])
  if (rootRequired.length + rootForbidden.length > 0) rules.push(['root_required', request])
  for (const [condition, relaxed] of rules) out.push({ condition, roots: yield* trial.roots(relaxed) })
  return out
}

type Trying = Generator<undefined, void, void>

/** Every single condition dropped, every amount changed. `before` is what has been relaxed already. */
function* singles(
  table: CandidateTable,
  trial: Trials,
  request: CandidateRequest,
  before: string,
  out: Relaxation[],
): Trying {
  for (const edit of droppable(request)) {
    if (trial.over || out.length >= RELAXATIONS_MAX) return
    yield* propose(trial, `${before}${edit.sentence}`, edit.apply(request), out)
  }
  yield* otherAmounts(table, trial, request, before, out)
}

function* propose(trial: Trials, sentence: string, relaxed: CandidateRequest, out: Relaxation[]): Trying {
  if (!(yield* trial.any(relaxed))) return
  const roots = Math.max(1, yield* trial.roots(relaxed))
  out.push({ sentence: `${sentence}: ${roots} ${roots === 1 ? 'root' : 'roots'}`, roots, request: relaxed })
}

function* otherAmounts(
  table: CandidateTable,
  trial: Trials,
  request: CandidateRequest,
  before: string,
  out: Relaxation[],
): Trying {
  for (const [at, group] of request.groups.entries()) {
    for (const { resourceClass } of group.resources) {
      if (trial.over || out.length >= RELAXATIONS_MAX) return
      const where = group.suffix === '' ? '' : ` in group ${group.suffix}`
      const { below, above } = yield* amounts(table, request, at, resourceClass)
      const less = yield* firstThatFits(trial, below, amount => withAmount(request, at, resourceClass, amount))
      if (less !== null) {
        const sentence = `${before}with ${resourceClass} <= ${less}${where}`
        yield* propose(trial, sentence, withAmount(request, at, resourceClass, less), out)
      }
      const more = yield* firstThatFits(trial, above.slice(0, AMOUNTS_IN_ORDER), amount =>
        withAmount(request, at, resourceClass, amount),
      )
      if (more === null) continue
      const sentence = `${before}with ${resourceClass} = ${more}${where}`
      yield* propose(trial, sentence, withAmount(request, at, resourceClass, more), out)
    }
  }
}

// The first few in order, then a binary search: after them, a smaller amount fits wherever a larger one does, except
// for a rare step_size. The result has been tried, so at worst it fits but isn't the largest.
function* firstThatFits(
  trial: Trials,
  values: readonly number[],
  make: (amount: number) => CandidateRequest,
): Generator<undefined, number | null, void> {
  for (const amount of values.slice(0, AMOUNTS_IN_ORDER)) if (yield* trial.any(make(amount))) return amount
  const rest = values.slice(AMOUNTS_IN_ORDER)
  const last = rest.at(-1)
  if (last === undefined || !(yield* trial.any(make(last)))) return null
  let low = 0
  let high = rest.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (yield* trial.any(make(rest[middle]!))) high = middle
    else low = middle + 1
  }
  return rest[high]!
}

function* pairs(table: CandidateTable, trial: Trials, request: CandidateRequest, out: Relaxation[]): Trying {
  const edits = droppable(request)
  let tried = 0
  for (const [i, first] of edits.entries()) {
    const relaxed = first.apply(request)
    for (const second of edits.slice(i + 1)) {
      if (trial.over || out.length >= RELAXATIONS_MAX || ++tried > PAIRS_MAX) return
      yield* propose(trial, both(first, second), second.apply(relaxed), out)
    }
    yield* otherAmounts(table, trial, relaxed, `${first.sentence} and `, out)
  }
  yield* amountPairs(table, trial, request, out)
}

/** Drops whole groups, only when nothing smaller helps. */
function* wholeGroups(trial: Trials, request: CandidateRequest, out: Relaxation[]): Trying {
  for (const group of request.groups) {
    if (trial.over || out.length >= RELAXATIONS_MAX) return
    const sentence = group.suffix === '' ? 'without the unsuffixed group' : `without group ${group.suffix}`
    yield* propose(trial, sentence, withoutGroup(request, group.suffix), out)
  }
}

const both = (first: Edit, second: Edit) => `${first.sentence} and ${second.sentence}`

/** Lowers two amounts at once: for a few values of the first, finds the largest second. */
function* amountPairs(table: CandidateTable, trial: Trials, request: CandidateRequest, out: Relaxation[]): Trying {
  const all = request.groups.flatMap((group, at) => group.resources.map(one => ({ at, group, ...one })))
  for (const [i, first] of all.entries()) {
    const { below } = yield* amounts(table, request, first.at, first.resourceClass)
    for (const amount of spread(below)) {
      if (trial.over || out.length >= RELAXATIONS_MAX) return
      const where = first.group.suffix === '' ? '' : ` in group ${first.group.suffix}`
      const relaxed = withAmount(request, first.at, first.resourceClass, amount)
      const known = out.length
      for (const second of all.slice(i + 1)) {
        const values = (yield* amounts(table, relaxed, second.at, second.resourceClass)).below
        const make = (value: number) => withAmount(relaxed, second.at, second.resourceClass, value)
        const value = yield* firstThatFits(trial, values, make)
        if (value === null) continue
        const other = second.group.suffix === '' ? '' : ` in group ${second.group.suffix}`
        const sentence = `with ${first.resourceClass} <= ${amount}${where} and ${second.resourceClass} <= ${value}${other}`
        yield* propose(trial, sentence, make(value), out)
      }
      if (out.length > known) break
    }
  }
}

/** A few values from largest to smallest. */
function spread(values: readonly number[]): number[] {
  if (values.length <= AMOUNTS_IN_ORDER) return [...values]
  return Array.from(
    { length: AMOUNTS_IN_ORDER },
    (_, i) => values[Math.round((i * (values.length - 1)) / (AMOUNTS_IN_ORDER - 1))]!,
  )
}
