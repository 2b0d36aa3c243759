// Long computations as generators that yield now and then, so that others get a turn.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Runs it to its end, giving way to everything else that waits whenever it yields. */
export async function runYielding<T>(work: Generator<undefined, T, void>): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await nextTurn()
  }
}
