// A request that meets a conductor at work waits a moment, as upstream's do: quick tasks end within it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'

/** Tries again while the node is locked, for a short while. `work` is a whole transaction, so it may be repeated. */
export async function withPatience<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + limits.nodeLockPatienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isLocked = error instanceof Problem && error.kind === 'node_locked'
      if (!isLocked || performance.now() >= until) throw error
    }
    await sleep(limits.nodeLockPollMs)
  }
}
