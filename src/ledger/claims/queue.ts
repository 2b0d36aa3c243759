// Claims that wait are decided and committed together: one batch at a time, everything that arrived meanwhile in the next.
import type { Clock } from '../../clock.ts'
import { limits } from '../../limits.ts'
import { type Problem, problem } from '../../problem.ts'
import { StoreUnavailable } from '../../store/failure.ts'
import type { Store } from '../../store/store.ts'
import type { Subject, Write } from '../../store/transaction.ts'
import { claimBatch } from './batch.ts'
import { type ClaimRequest, subjectsOf, weightOf } from './claim.ts'

/** Where claims are asked for. What comes along as an entry is written down with a claim that is granted. */
export interface Claims<Entry> {
  submit(request: ClaimRequest, entry?: Entry | null): Promise<void>
}

interface Options<Entry> {
  observe?: (granted: number, refused: number) => void
  /** Writes entries down, in the transaction that grants what they are about. */
  record?: (granted: readonly { entry: Entry; subjects: readonly Subject[] }[]) => Write<void>
}

interface Waiting<Entry> {
  request: ClaimRequest
  entry: Entry | null
  resolve: () => void
  reject: (error: unknown) => void
}

export class ClaimQueue<Entry = never> implements Claims<Entry> {
  readonly #store: Store
  readonly #clock: Clock
  readonly #observe: (granted: number, refused: number) => void
  readonly #record: NonNullable<Options<Entry>['record']> | null
  #waiting: Waiting<Entry>[] = []
  #running = false

  constructor(store: Store, clock: Clock, { observe = () => {}, record }: Options<Entry> = {}) {
    this.#store = store
    this.#clock = clock
    this.#observe = observe
    this.#record = record ?? null
  }

  /** How many wait to be decided. */
  get length(): number {
    return this.#waiting.length
  }

  /** Resolves when the request is granted and on disk; rejects with the problem when it is refused. */
  submit(request: ClaimRequest, entry: Entry | null = null): Promise<void> {
    if (this.#waiting.length >= limits.claimQueueMax) {
      throw problem('unavailable', { reason: 'too many claims are waiting' })
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, entry, resolve, reject })
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

  #nextBatch(): Waiting<Entry>[] {
    let size = 0
    for (let rows = 0; size < this.#waiting.length && size < limits.claimBatchMax; size++) {
      rows += weightOf(this.#waiting[size]!.request)
      if (rows > limits.claimBatchRowsMax && size > 0) break
    }
    return this.#waiting.splice(0, size)
  }

  *#decided(batch: readonly Waiting<Entry>[]): Write<(Problem | null)[]> {
    const requests = batch.map(waiting => waiting.request)
    const verdicts = yield* claimBatch(requests, this.#clock.now())
    if (this.#record === null) return verdicts
    const granted = batch.flatMap(({ request, entry }, i) =>
      verdicts[i] === null && entry !== null ? [{ entry, subjects: subjectsOf(request) }] : [],
    )
    if (granted.length > 0) yield* this.#record(granted)
    return verdicts
  }

  /** Decides the given requests, or those that wait when the transaction begins: by then more have come than now. */
  async #decide(given: readonly Waiting<Entry>[] | null = null): Promise<void> {
    let batch = given
    try {
      const verdicts = await this.#store.write(() => {
        batch ??= this.#nextBatch()
        return this.#decided(batch)
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

function settle({ resolve, reject }: Pick<Waiting<never>, 'resolve' | 'reject'>, verdict: Problem | null): void {
  if (verdict) reject(verdict)
  else resolve()
}
