// Writes an audit entry in the transaction of the change, so that both are committed or neither is.
import type { LogRow } from '../store/log.ts'
import type { HistoryLine } from '../store/node-history.ts'
import { log, NOTHING, type Subject, type Write, type Yielded } from '../store/transaction.ts'
import { type Entry, linesOf, rowInTurns } from './entry.ts'

/**
 * Runs the work and adds an entry about its changes; none when it changed nothing. `entry` may be a function of the
 * result, where only the transaction finds out what it does.
 */
export function* recorded<T>(work: Write<T>, entry: Entry | undefined | ((value: T) => Entry | undefined)): Write<T> {
  if (!entry) return yield* work
  const subjects: Subject[] = []
  // What the work records by itself came of this deed, so its entries follow this one.
  const later: Yielded[] = []
  let isChange = false
  let step = work.next()
  while (!step.done) {
    const calls = step.value
    if (calls.length > 0 && calls.every(call => call.kind === 'log')) {
      later.push(...calls)
      step = work.next(calls.map(() => NOTHING))
      continue
    }
    const answers = yield calls
    for (const [i, call] of calls.entries()) {
      if (call.kind === 'mark') subjects.push(...call.subjects)
      else if (call.kind === 'later') isChange = true
      else if (call.kind === 'command') isChange ||= call.compiled.writes && answers[i]!.count > 0
    }
    step = work.next(answers)
  }
  const made = typeof entry === 'function' ? entry(step.value) : entry
  if (isChange && made) yield* log([yield* rowInTurns(made, subjects)], linesOf(made, subjects))
  if (later.length > 0) yield later
  return step.value
}

/** Writes the entries of several changes that share a transaction. */
export function* recordAll(changes: readonly { entry: Entry; subjects: readonly Subject[] }[]): Write<void> {
  const rows: LogRow[] = []
  for (const { entry, subjects } of changes) rows.push(yield* rowInTurns(entry, subjects))
  yield* log(
    rows,
    changes.flatMap(({ entry, subjects }) => linesOf(entry, subjects)),
  )
}

/** Writes a line into the history of a node, about something that changed nothing here. */
export function* noted(line: HistoryLine, entry: Entry): Write<void> {
  yield* log([], linesOf(entry, [{ kind: 'node', id: line.node, history: line }]))
}
