// Waits for what must be seen.
import { setTimeout as sleep } from 'node:timers/promises'

const PERIOD_MS = 500
/** Long, because a busy machine is slow, and a wait ends when it sees what it waits for. */
const PATIENCE_S = 300

/** The first answer that is neither false nor undefined nor null; an error says what was waited for. */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  seconds = PATIENCE_S,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + seconds * 1_000
  for (;;) {
    const seen = await look()
    if (seen !== false && seen !== undefined && seen !== null) return seen
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s in vain: ${what}`)
    await sleep(PERIOD_MS)
  }
}
