// The answers that last: streams of events, and polls that wait for one. They have a limit of their own, so that they
// don't take the places of requests.
import type { Metrics } from '../measure/metrics.ts'
import { problem } from '../problems/problem.ts'
import { limits } from '../shared/limits.ts'
import { Shares } from './shares.ts'

interface StreamsOptions {
  /** How many there may be. */
  max: number
  /** The fraction for one caller, once half of all are taken. */
  share: number
  metrics: Metrics
}

export class Streams {
  readonly #shares: Shares
  readonly #ends = new Set<() => void>()
  #isDraining = false

  constructor({ max, share, metrics }: StreamsOptions) {
    this.#shares = new Shares({ max, share })
    metrics.watch('holdfast_event_streams', 'Streams of events, and polls that wait for one.', () => this.#shares.all)
  }

  get count(): number {
    return this.#shares.all
  }

  /** Takes a place for a caller. `end` is called when the service stops. Returns what gives the place back. */
  enter(holder: string, end: () => void): () => void {
    if (this.#isDraining) throw problem('unavailable', { reason: 'the service is stopping' })
    const wanting = this.#shares.take(holder)
    if (wanting === 'all') throw problem('unavailable', { reason: 'There are too many streams of events; try again.' })
    if (wanting === 'share') throw problem('too_many_requests', { retrySeconds: limits.crowdedRetrySeconds })
    this.#ends.add(end)
    return () => {
      if (this.#ends.delete(end)) this.#shares.giveBack(holder)
    }
  }

  /** Ends them all: each says farewell, and its client comes back elsewhere with its cursor. */
  drain(): void {
    this.#isDraining = true
    for (const end of this.#ends) end()
  }
}
