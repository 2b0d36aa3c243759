// For work on several objects that have an entry each, though they share a transaction.
import { NOTHING, type Subject, type Write } from '../store/transaction.ts'

/** Runs the work and returns what it marked. Whoever records the whole transaction doesn't hear of these marks. */
export function* collected<T>(work: Write<T>): Write<{ value: T; subjects: readonly Subject[] }> {
  const subjects: Subject[] = []
  let step = work.next()
  while (!step.done) {
    const calls = step.value
    if (calls.length > 0 && calls.every(call => call.kind === 'mark')) {
      for (const call of calls) subjects.push(...call.subjects)
      step = work.next(calls.map(() => NOTHING))
    } else step = work.next(yield calls)
  }
  return { value: step.value, subjects }
}
