// A transaction is a generator that yields statements and nothing else, so no foreign await can get into it.
// SQLite runs it to its end in one go; PostgreSQL sends each burst of statements down the wire together.
import { limits } from '../shared/limits.ts'
import type { Change } from './change.ts'
import type { LogRow, Topic } from './log.ts'
import type { HistoryLine, HistoryRow } from './node-history.ts'
import type { Call, Command, Query } from './statement.ts'

export interface Answer {
  readonly rows: unknown[]
  /** Rows found or changed. */
  readonly count: number
}

export const NOTHING: Answer = { rows: [], count: 0 }

/** No statement: changes to report when the transaction is committed. */
interface Note {
  readonly kind: 'note'
  readonly changes: readonly Change[]
}

/** Whose an object is: this decides who may see it, and hear of it. A node has an owner and a lessee. */
export interface Whose {
  readonly project?: string | null
  readonly owner?: string | null
  readonly lessee?: string | null
  readonly user?: string | null
}

/** Something that clients know by its kind and id, with its generation before and after where it has one. */
export interface Subject {
  readonly kind: string
  readonly id: string
  readonly before?: number | null
  readonly after?: number | null
  /** What became of it, one of the words in `events/kinds.ts`. Without it nobody outside is told. */
  readonly became?: string
  readonly whose?: Whose
  /** What a listener needs to act on it. Never a secret. Who did it is added as `by`. */
  readonly data?: Readonly<Record<string, unknown>> & { readonly by?: never }
  /** A line in the history of the node that it happened to. */
  readonly history?: HistoryLine
}

/** No statement either: what the transaction has changed, for the audit. */
interface Mark {
  readonly kind: 'mark'
  readonly subjects: readonly Subject[]
}

/** Entries for the log. They go with the commit, in one burst: nobody waits for them. */
interface Log {
  readonly kind: 'log'
  readonly entries: readonly LogRow[]
  readonly history: readonly HistoryRow[]
}

/** What there is work on when the transaction is committed. */
interface Wake {
  readonly kind: 'wake'
  readonly topics: readonly Topic[]
}

/** Commands that nobody waits for: they go with the statements that come next, or with the commit. */
interface Later {
  readonly kind: 'later'
  readonly commands: readonly Command[]
}

/** What a transaction tells besides its statements. */
export type Told = Note | Mark | Log | Wake
export type Yielded = Query | Command | Told | Later
export type Read<T> = Generator<readonly Query[], T, readonly Answer[]>
export type Write<T> = Generator<readonly Yielded[], T, readonly Answer[]>

/** The rows of some statements, in their order. */
export type RowsOf<C extends readonly Call[]> = { [I in keyof C]: RowOf<C[I]>[] }

type ResultsOf<W extends readonly Write<unknown>[]> = {
  -readonly [I in keyof W]: W[I] extends Write<infer T> ? T : never
}

type RowOf<C> = C extends Call<infer Row> ? Row : never

export function all<Row>(call: Query<Row>): Read<Row[]>
export function all<Row>(call: Command<Row>): Write<Row[]>
export function* all(call: Call): Write<unknown[]> {
  return (yield [call])[0]!.rows
}

export function one<Row>(call: Query<Row>): Read<Row | undefined>
export function one<Row>(call: Command<Row>): Write<Row | undefined>
export function* one(call: Call): Write<unknown> {
  return (yield [call])[0]!.rows[0]
}

/** Runs a command for its effect and says how many rows it changed. */
export function* run(call: Command): Write<number> {
  return (yield [call])[0]!.count
}

/** Several statements in one burst: on PostgreSQL one round trip instead of one each. */
export function together<const C extends readonly Query[]>(...calls: C): Read<RowsOf<C>>
export function together<const C extends readonly (Query | Command)[]>(...calls: C): Write<RowsOf<C>>
export function* together(...calls: (Query | Command)[]): Write<unknown> {
  return (yield calls).map(answer => answer.rows)
}

/** Runs commands whose counts don't matter. What they refuse, the statements that come next or the commit throw. */
export function* later(commands: readonly Command[]): Write<void> {
  if (commands.length > 0) yield [{ kind: 'later', commands }]
}

/** Reports changes to the copies in memory, once the transaction is committed. */
export function* note(changes: readonly Change[]): Write<void> {
  if (changes.length > 0) yield [{ kind: 'note', changes }]
}

export function* mark(...subjects: readonly Subject[]): Write<void> {
  yield [{ kind: 'mark', subjects }]
}

/** Adds entries to the log, and lines to the history of nodes, when the transaction commits. */
export function* log(entries: readonly LogRow[], history: readonly HistoryRow[] = []): Write<void> {
  if (entries.length + history.length > 0) yield [{ kind: 'log', entries, history }]
}

/** Wakes the duties for these topics, in all processes, once the transaction is committed. */
export function* wake(...topics: readonly Topic[]): Write<void> {
  if (topics.length > 0) yield [{ kind: 'wake', topics }]
}

/** Runs several works side by side: in one burst goes what each of them is at. None may need what another one writes. */
export function* sideBySide<const W extends readonly Write<unknown>[]>(works: W): Write<ResultsOf<W>> {
  const running = works.map(work => ({ work, step: work.next() }))
  for (;;) {
    const waiting = running.filter(({ step }) => !step.done)
    if (waiting.length === 0) return running.map(({ step }) => step.value) as ResultsOf<W>
    const answers = yield waiting.flatMap(({ step }) => step.value as readonly Yielded[])
    let from = 0
    for (const one of waiting) {
      const { length } = one.step.value as readonly Yielded[]
      one.step = one.work.next(answers.slice(from, (from += length)))
    }
  }
}

/**
 * Visits a list. If it is long, others get turns meanwhile: an empty burst sends nothing. A transaction on SQLite that
 * wasn't called long doesn't stop for it.
 */
export function* inTurns<T>(items: readonly T[], visit: (item: T) => void): Read<void> {
  let left: number = limits.listItemsPerTurn
  for (const item of items) {
    if (left-- === 0) {
      yield []
      left = limits.listItemsPerTurn
    }
    visit(item)
  }
}

/** A burst of commands whose counts matter, not their rows. */
export function* runAll(calls: readonly Command[]): Write<number[]> {
  return calls.length === 0 ? [] : (yield calls).map(answer => answer.count)
}
