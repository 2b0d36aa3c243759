// Long computations as generators that yield now and then, so that others get a turn.
import { nextTurnOfLoop } from './loop.ts'

/** Runs the work to its end; at each yield everything else that waits gets a turn. */
export async function runYielding<T>(work: Generator<undefined, T, void>): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await nextTurnOfLoop()
  }
}
