// Moments: where a connection stands between its process and the server. A fault may wait for one, so that it comes where it
// hurts and not just anywhere.
import type { Line } from './line.ts'
import type { Owner } from './world.ts'

/**
 * committing: a commit is sent, and has not reached the server; committed: it is done, and its answer not yet on its way;
 * released: the same, of a release in one call;
 * in a transaction: between two bursts of a transaction that writes; reading: before a read; waiting: for a lock.
 */
export type Moment = 'committing' | 'committed' | 'released' | 'in a transaction' | 'reading' | 'waiting'

interface Trap {
  owner: Owner
  moment: Moment
  /** Only of a transaction that has said this. */
  of?: RegExp | undefined
  /** How many such moments pass before. */
  passes: number
  spring: (line: Line) => void
}

export class Moments {
  readonly #traps = new Set<Trap>()

  wait(trap: Trap): void {
    this.#traps.add(trap)
  }

  /** Whether anything happened. */
  reached(line: Line, moment: Moment): boolean {
    const due = [...this.#traps].filter(
      trap =>
        trap.owner === line.owner &&
        trap.moment === moment &&
        (!trap.of || trap.of.test(line.said)) &&
        trap.passes-- === 0,
    )
    for (const trap of due) {
      this.#traps.delete(trap)
      trap.spring(line)
    }
    return due.length > 0
  }

  clear(): void {
    this.#traps.clear()
  }
}
