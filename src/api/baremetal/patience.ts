// A power change that meets a conductor at work waits a moment, as upstream's do: after a reboot of a machine that was on,
// nobody can see that the conductor isn't done yet.
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'

/** Tries again while the node is locked, for a short while. `work` is a whole transaction, so it may be repeated. */
export async function withPatience<T>(work: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks++) {
    try {
      return await work()
    } catch (error) {
      const isLocked = error instanceof Problem && error.kind === 'node_locked'
      if (!isLocked || looks >= limits.nodeLockLooks) throw error
    }
    await sleep(limits.nodeLockPauseMs)
  }
}
