// Claims that wait are decided and committed together: one batch at a time, everything that arrived meanwhile in the next.
import type { Clock } from '../../clock.ts'
import { limits } from '../../limits.ts'
import { type Problem, problem } from '../../problem.ts'
import { StoreUnavailable } from '../../store/failure.ts'
import type { Store } from '../../store/store.ts'
import { claimBatch } from './batch.ts'
import { type ClaimRequest, weightOf } from './claim.ts'

interface Waiting {
  request: ClaimRequest
  resolve: () => void
  reject: (error: unknown) => void
}

export class ClaimQueue {
  readonly #store: Store
  readonly #clock: Clock
  readonly #observe: (granted: number, refused: number) => void
  #waiting: Waiting[] = []
  #running = false

  constructor(store: Store, clock: Clock, observe: (granted: number, refused: number) => void = () => {}) {
    this.#store = store
    this.#clock = clock
    this.#observe = observe
  }

  /** Resolves when the request is granted and on disk; rejects with the problem when it is refused. */
  submit(request: ClaimRequest): Promise<void> {
    if (this.#waiting.length >= limits.claimQueueMax) {
      throw problem('unavailable', { reason: 'too many claims are waiting' })
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      if (this.#running) return
      this.#running = true
      // After this turn of the loop, so that requests which came in together are decided together.
      setImmediate(() => void this.#run())
    })
  }

  // One batch at a time, on PostgreSQL too: two at once only made both of them smaller.
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#decide()
    this.#running = false
  }

  #nextBatch(): Waiting[] {
    let size = 0
    for (let rows = 0; size < this.#waiting.length && size < limits.claimBatchMax; size++) {
      rows += weightOf(this.#waiting[size]!.request)
      if (rows > limits.claimBatchRowsMax && size > 0) break
    }
    return this.#waiting.splice(0, size)
  }

  /** Decides the given requests, or those that wait when the transaction begins: by then more have come than now. */
  async #decide(given: readonly Waiting[] | null = null): Promise<void> {
    let batch = given
    try {
      const verdicts = await this.#store.write(() => {
        batch ??= this.#nextBatch()
        return claimBatch(
          batch.map(waiting => waiting.request),
          this.#clock.now(),
        )
      })
      const refused = verdicts.filter(verdict => verdict !== null).length
      this.#observe(verdicts.length - refused, refused)
      batch!.forEach((waiting, i) => settle(waiting, verdicts[i]!))
    } catch (error) {
      batch ??= this.#nextBatch()
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const waiting of batch) waiting.reject(error)
        return
      }
      // One of them is in trouble; the others shouldn't be.
      for (const waiting of batch) await this.#decide([waiting])
    }
  }
}

function settle({ resolve, reject }: Waiting, verdict: Problem | null): void {
  if (verdict) reject(verdict)
  else resolve()
}
