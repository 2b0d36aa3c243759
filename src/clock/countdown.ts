// A time that runs out, for promises that must not be overrun.

/**
 * Begins now; the function says how many milliseconds are left. Two clocks count, and the one that is further on is
 * right: one stops while the machine sleeps, the other may be set back.
 */
export function countdown(ms: number): () => number {
  const [wall, steady] = [Date.now(), performance.now()]
  return () => ms - Math.max(Date.now() - wall, performance.now() - steady)
}
