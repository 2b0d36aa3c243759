// Claims that wait are decided and committed together: one batch at a time, everything that arrived meanwhile in the next.
// Those who need a row that someone keeps locked are set aside, so that the others don't wait with them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../clock/clock.ts'
import { limits } from '../../shared/limits.ts'
import { type Problem, problem } from '../../problems/problem.ts'
import { isHeldUp, StoreUnavailable } from '../../store/failure.ts'
import type { Store } from '../../store/store.ts'
import type { Subject, Write } from '../../store/transaction.ts'
import { claimBatch } from './batch.ts'
import { type ClaimRequest, subjectsOf, weightOf } from './claim.ts'
import { findHeld, namedBy, needs } from './held.ts'

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
  /** Since when it is set aside, by a clock that only this process knows. */
  asideSince: number | null
}

export class ClaimQueue<Entry = never> implements Claims<Entry> {
  readonly #store: Store
  readonly #clock: Clock
  readonly #observe: (granted: number, refused: number) => void
  readonly #record: NonNullable<Options<Entry>['record']> | null
  #waiting: Waiting<Entry>[] = []
  #running = false
  /** Those who need a row that someone keeps locked, and the names of such rows. */
  #aside: Waiting<Entry>[] = []
  readonly #held = new Set<string>()
  #isAsideRunning = false

  constructor(store: Store, clock: Clock, { observe = () => {}, record }: Options<Entry> = {}) {
    this.#store = store
    this.#clock = clock
    this.#observe = observe
    this.#record = record ?? null
  }

  /** How many wait to be decided. */
  get length(): number {
    return this.#waiting.length + this.#aside.length
  }

  /** Resolves when the request is granted and on disk; rejects with the problem when it is refused. */
  submit(request: ClaimRequest, entry: Entry | null = null): Promise<void> {
    if (this.length >= limits.claimQueueMax) {
      throw problem('unavailable', { reason: 'too many claims are waiting' })
    }
    return new Promise((resolve, reject) => {
      const waiting = { request, entry, resolve, reject, asideSince: null }
      if (needs(request, this.#held)) this.#setAside([waiting], null)
      else this.#line([waiting])
    })
  }

  #line(waiting: readonly Waiting<Entry>[]): void {
    this.#waiting.push(...waiting)
    if (this.#running || waiting.length === 0) return
    this.#running = true
    // After this turn of the loop, so that requests which came in together are decided together.
    setImmediate(() => void this.#run())
  }

  // One batch at a time, on PostgreSQL too: two at once only made both of them smaller.
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#decide()
    this.#running = false
  }

  #nextBatch(from = this.#waiting): Waiting<Entry>[] {
    let size = 0
    for (let rows = 0; size < from.length && size < limits.claimBatchMax; size++) {
      rows += weightOf(from[size]!.request)
      if (rows > limits.claimBatchRowsMax && size > 0) break
    }
    return from.splice(0, size)
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
    const error = await this.#commit(() => (batch ??= this.#nextBatch()))
    if (error === null) return
    batch ??= this.#nextBatch()
    if (isHeldUp(error)) return this.#decideOthers(batch, error)
    if (batch.length === 1 || error instanceof StoreUnavailable) {
      for (const waiting of batch) waiting.reject(error)
      return
    }
    // One of them is in trouble; the others shouldn't be.
    for (const waiting of batch) await this.#decide([waiting])
  }

  /** One transaction for a batch; all of it is answered, or none and the error says why. */
  async #commit(batch: () => readonly Waiting<Entry>[]): Promise<unknown> {
    try {
      const work = () => this.#decided(batch())
      const verdicts = await this.#store.write(work, { lockWaitMs: limits.claimLockMs })
      const refused = verdicts.filter(verdict => verdict !== null).length
      this.#observe(verdicts.length - refused, refused)
      batch().forEach((waiting, i) => settle(waiting, verdicts[i]!))
      return null
    } catch (error) {
      return error
    }
  }

  /** Decides those of a batch that don't need what someone keeps locked. */
  async #decideOthers(batch: readonly Waiting<Entry>[], error: unknown): Promise<void> {
    const [held, free] = await this.#findHeld(batch)
    if (held.length > 0 || batch.length === 1) {
      this.#setAside(held.length > 0 ? held : batch, error)
      if (held.length > 0 && free.length > 0) await this.#decide(free)
      return
    }
    // All is free by now, or it is a row that can't be seen yet: who needs it shows when they go one half at a time.
    const middle = batch.length >> 1
    await this.#decide(batch.slice(0, middle))
    await this.#decide(batch.slice(middle))
  }

  /** Which of a batch need what someone keeps locked, and which don't. */
  async #findHeld(batch: readonly Waiting<Entry>[]): Promise<[Waiting<Entry>[], Waiting<Entry>[]]> {
    const requests = batch.map(({ request }) => request)
    let held: ReadonlySet<string>
    try {
      held = await this.#store.write(() => findHeld(requests, this.#clock.now()), { lockWaitMs: limits.claimLockMs })
    } catch {
      // Not even that can be told now; then it shows by trying.
      held = new Set()
    }
    for (const name of requests.flatMap(namedBy)) this.#held.delete(name)
    for (const name of held) this.#held.add(name)
    const isHeld = ({ request }: Waiting<Entry>) => needs(request, held)
    return [batch.filter(isHeld), batch.filter(waiting => !isHeld(waiting))]
  }

  #setAside(batch: readonly Waiting<Entry>[], error: unknown): void {
    for (const waiting of batch) {
      waiting.asideSince ??= performance.now()
      if (performance.now() - waiting.asideSince < limits.lockWaitMsMax) this.#aside.push(waiting)
      else waiting.reject(error)
    }
    if (this.#isAsideRunning) return
    this.#isAsideRunning = true
    void this.#runAside()
  }

  /** Tries those that are set aside again and again, a batch at a time beside the others. */
  async #runAside(): Promise<void> {
    while (this.#aside.length > 0) {
      await sleep(limits.claimPauseMs)
      const batch = this.#nextBatch(this.#aside)
      const error = await this.#commit(() => batch)
      if (error === null) for (const name of batch.flatMap(({ request }) => namedBy(request))) this.#held.delete(name)
      else if (isHeldUp(error)) await this.#waitOn(batch, error)
      else this.#line(batch)
    }
    this.#held.clear()
    this.#isAsideRunning = false
  }

  async #waitOn(batch: readonly Waiting<Entry>[], error: unknown): Promise<void> {
    const [held, free] = await this.#findHeld(batch)
    if (batch.length > 1) this.#line(free)
    this.#setAside(batch.length > 1 ? held : batch, error)
  }
}

function settle({ resolve, reject }: Pick<Waiting<never>, 'resolve' | 'reject'>, verdict: Problem | null): void {
  if (verdict) reject(verdict)
  else resolve()
}
