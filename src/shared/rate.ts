// Limits how often each may do something within a minute.
import { BoundedMap } from './bounded-map.ts'
import { limits } from './limits.ts'

const SPAN_MS = 60_000

export class Rate {
  readonly #max: number
  readonly #now: () => number
  readonly #spans = new BoundedMap<string, { count: number; endsAt: number }>(limits.throttledMax)

  constructor(max: number, now: () => number) {
    this.#max = max
    this.#now = now
  }

  /** Counts one. Returns the milliseconds to wait when there were too many, and 0 otherwise. */
  take(key: string): number {
    const now = this.#now()
    const span = this.#spans.get(key)
    if (!span || span.endsAt <= now) this.#spans.set(key, { count: 1, endsAt: now + SPAN_MS })
    else if (span.count >= this.#max) return span.endsAt - now
    else span.count++
    return 0
  }
}
