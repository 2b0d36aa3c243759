// Shares the event loop: work that would take long waits here for a turn, and after a millisecond of it sockets are read
// again. So who asks for little is heard after one of those who ask for much, and not after all that came before.
import { Line } from './line.ts'
import { limits } from './limits.ts'

const line = new Line<() => void>()
/** When the work of this turn of the loop began; null before it did. */
let since: number | null = null

/** Null when there is time left in this turn of the loop and nobody waits; else it resolves in a later one. */
export const turnOfLoop = (): Promise<void> | null => (line.length === 0 && hasTime() ? null : nextTurnOfLoop())

/** Resolves in a later turn of the loop. */
export function nextTurnOfLoop(): Promise<void> {
  return new Promise(resolve => {
    line.push(resolve)
    setImmediate(give)
  })
}

// An immediate for each that waits: what one does at once is done before the next one looks at the time.
function give(): void {
  if (hasTime()) line.shift()!()
  else setImmediate(give)
}

function hasTime(): boolean {
  if (since !== null) return performance.now() - since < limits.loopTurnMs
  since = performance.now()
  // Before the immediates of all that has to wait from here on.
  setImmediate(() => (since = null))
  return true
}
