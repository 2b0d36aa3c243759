// Dry runs: the transaction runs with the same locks and guards, and is rolled back at its end.
import type { Store } from '../store/store.ts'
import { NOTHING, type Subject, type Write } from '../store/transaction.ts'

interface Rehearsed<T> {
  value: T
  /** The objects that it would have changed, each once. */
  subjects: Subject[]
}

/** Rolls the transaction back and carries its outcome to the caller. */
class Undone<T> extends Error {
  readonly outcome: Rehearsed<T>
  constructor(outcome: Rehearsed<T>) {
    super('undone on purpose')
    this.outcome = outcome
  }
}

/** Throws the same problems as the real transaction. Caches are not told, and no audit entry is written. */
export async function rehearse<T>(store: Pick<Store, 'write'>, work: () => Write<T>): Promise<Rehearsed<T>> {
  try {
    return await store.write(() => undone(work()))
  } catch (error) {
    if (error instanceof Undone) return (error as Undone<T>).outcome
    throw error
  }
}

/** A store on which every write is rehearsed: for work that needs more than one transaction to decide. */
export const rehearsing = (store: Pick<Store, 'read' | 'write'>): Pick<Store, 'read' | 'write'> => ({
  read: (work, options) => store.read(work, options),
  write: async work => (await rehearse(store, work)).value,
})

function* undone<T>(work: Write<T>): Write<never> {
  const subjects = new Map<string, Subject>()
  let step = work.next()
  while (!step.done) {
    const calls = step.value
    for (const call of calls) {
      if (call.kind === 'mark')
        for (const subject of call.subjects) subjects.set(`${subject.kind} ${subject.id}`, subject)
    }
    // There is no commit that commands could go with, and what they refuse counts.
    if (calls.every(call => call.kind === 'later')) {
      yield calls.flatMap(({ commands }) => commands)
      step = work.next(calls.map(() => NOTHING))
    } else step = work.next(yield calls)
  }
  throw new Undone({ value: step.value, subjects: [...subjects.values()] })
}
