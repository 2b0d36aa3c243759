// Writes an audit entry in the transaction of the change, so that both are committed or neither is.
import { lastly, type Subject, type Write } from '../store/transaction.ts'
import { append, type Entry, rowOf } from './entry.ts'

/**
 * Runs the work and adds an entry about its changes; none when it changed nothing. `entry` may be a function of the
 * result, where only the transaction finds out what it does.
 */
export function* recorded<T>(work: Write<T>, entry: Entry | undefined | ((value: T) => Entry | undefined)): Write<T> {
  if (!entry) return yield* work
  const subjects: Subject[] = []
  let isChange = false
  let step = work.next()
  while (!step.done) {
    const calls = step.value
    const answers = yield calls
    for (const [i, call] of calls.entries()) {
      if (call.kind === 'mark') subjects.push(...call.subjects)
      else if (call.kind === 'command') isChange ||= call.compiled.sqlite.writes && answers[i]!.count > 0
    }
    step = work.next(answers)
  }
  const made = typeof entry === 'function' ? entry(step.value) : entry
  if (isChange && made) yield* lastly(append({ rows: [rowOf(made, subjects)] }))
  return step.value
}

/** Writes the entries of several changes that share a transaction. */
export function* recordAll(changes: readonly { entry: Entry; subjects: readonly Subject[] }[]): Write<void> {
  if (changes.length > 0) yield* lastly(append({ rows: changes.map(({ entry, subjects }) => rowOf(entry, subjects)) }))
}
