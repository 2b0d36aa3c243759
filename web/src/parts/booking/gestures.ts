// What a hand means on a lane: pure. A gesture begins somewhere on a draft, a bar or an empty stretch, and makes a span of
// time out of where it is now.

export interface Stretch {
  start: number
  end: number
}

export type Grip =
  /** A new stretch from here on. */
  | { kind: 'new'; at: number }
  /** The whole of it, held at some distance from its start. */
  | { kind: 'whole'; held: number; was: Stretch }
  | { kind: 'start'; was: Stretch }
  | { kind: 'end'; was: Stretch }

interface Where {
  /** The instant under the pointer. */
  at: number
  now: number
  /** The next place of the grid, or what is near. */
  snap: (at: number) => number
  /** One step of the grid. */
  step: (at: number, steps: number) => number
}

const MINUTE_MS = 60_000
const wholeMinute = (at: number) => Math.ceil(at / MINUTE_MS) * MINUTE_MS

/** The span that a gesture means. Nothing begins in the past, and nothing is shorter than a step. */
export function meant(grip: Grip, { at, now, snap, step }: Where): Stretch {
  const soonest = wholeMinute(now)
  if (grip.kind === 'whole') {
    const { was, held } = grip
    const start = Math.max(soonest, snap(at - held))
    return { start, end: start + (was.end - was.start) }
  }
  if (grip.kind === 'end') {
    const { start } = grip.was
    return { start, end: Math.max(snap(at), step(Math.max(start, soonest), 1)) }
  }
  if (grip.kind === 'start') {
    const { end } = grip.was
    return { start: Math.min(Math.max(soonest, snap(at)), step(end, -1)), end }
  }
  const [one, other] = [snap(grip.at), snap(at)]
  const start = Math.max(soonest, Math.min(one, other))
  return { start, end: Math.max(one, other, step(start, 1)) }
}

/** What arrows do: the whole of it moves, or only its end. */
export function nudged(
  { start, end }: Stretch,
  what: 'whole' | 'end',
  steps: number,
  { now, step }: Pick<Where, 'now' | 'step'>,
): Stretch {
  const soonest = wholeMinute(now)
  if (what === 'end') return { start, end: Math.max(step(end, steps), step(Math.max(start, soonest), 1)) }
  const moved = Math.max(soonest, step(start, steps))
  return { start: moved, end: moved + (end - start) }
}

/** Where in a stretch a pointer is: at an edge, in the middle, or outside. */
export function partOf({ start, end }: Stretch, at: number, edgeMs: number): 'start' | 'end' | 'whole' | null {
  if (at < start || at > end) return null
  const edge = Math.min(edgeMs, (end - start) / 4)
  if (at > end - edge) return 'end'
  return at < start + edge ? 'start' : 'whole'
}
