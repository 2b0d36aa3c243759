// Decides and commits waiting claims in batches, one at a time; claims that arrive meanwhile are in the next batch. Long
// requests go beside them, so that a small claim waits for none of them, or on SQLite for the one that is being written.
// Claims that need a row that someone keeps locked are set aside, so that the others don't wait for the lock.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../clock/clock.ts'
import { Line, ownWork, whoseWork } from '../../shared/line.ts'
import { limits } from '../../shared/limits.ts'
import { type Problem, problem } from '../../problems/problem.ts'
import { isHeldUp, StoreUnavailable } from '../../store/failure.ts'
import type { Store } from '../../store/store.ts'
import type { Subject, Write } from '../../store/transaction.ts'
import type { Mirror } from '../mirror.ts'
import { AtOnce, type PlainCall, type Split } from './at-once.ts'
import { decideBatch } from './batch.ts'
import { type ClaimRequest, isLong, sizeOfBatch, weightOf } from './claim.ts'
import { findHeld, namedBy, needs } from './held.ts'
import { decideOnMemory, MemoryStale } from './on-memory.ts'

/** Where claims are submitted. The entry of a granted claim is recorded in the same transaction. */
export interface Claims<Entry> {
  submit(request: ClaimRequest, entry?: Entry | null): Promise<void>
}

interface Options<Entry> {
  observe?: (granted: number, refused: number) => void
  /** Records what came of the requests, in the same transaction. */
  record?: (changes: readonly { entry: Entry; subjects: readonly Subject[] }[]) => Write<void>
  /** On PostgreSQL: what plain requests are decided on, and the name of this process in the log. */
  atOnce?: { mirror: Mirror; origin: string } | null
  /** On SQLite: what plain requests are decided on. */
  onMemory?: Mirror | null
}

interface Waiting<Entry> {
  request: ClaimRequest
  entry: Entry | null
  /** Who gets turns for it: the caller's project. One that the claim names could be made up. */
  who: string
  /** The rows that it names. */
  weight: number
  resolve: () => void
  reject: (error: unknown) => void
  /** When it was set aside, by performance.now(). */
  asideSince: number | null
}

const NONE: ReadonlySet<string> = new Set()

export class ClaimQueue<Entry = never> implements Claims<Entry> {
  readonly #store: Store
  readonly #clock: Clock
  readonly #observe: (granted: number, refused: number) => void
  readonly #record: NonNullable<Options<Entry>['record']> | null
  readonly #atOnce: AtOnce<Entry> | null
  readonly #mirror: Mirror | null
  readonly #waiting = new Line<Waiting<Entry>>()
  #running = false
  /** On PostgreSQL: a full batch that is ready to be sent when the one before is answered. */
  #ready: Split<Waiting<Entry>> | null = null
  /** How many requests the batch before had. */
  #sizeBefore = 0
  /** Requests that are larger than a whole batch. */
  #long: Waiting<Entry>[] = []
  #isLongRunning = false
  /** What the long one that is being decided keeps locked, and the claims that need some of it. */
  #lockedByLong: ReadonlySet<string> = NONE
  #behindLong: Waiting<Entry>[] = []
  /** Claims that need a locked row, and (in #held) the names of such rows. */
  #aside: Waiting<Entry>[] = []
  readonly #held = new Set<string>()
  #isAsideRunning = false

  constructor(store: Store, clock: Clock, { observe = () => {}, record, atOnce, onMemory }: Options<Entry> = {}) {
    this.#store = store
    this.#clock = clock
    this.#observe = observe
    this.#record = record ?? null
    this.#atOnce = atOnce ? new AtOnce({ ...atOnce, record: this.#record, now: () => clock.now() }) : null
    this.#mirror = onMemory ?? null
  }

  /** How many claims wait to be decided. */
  get length(): number {
    const ready = this.#ready?.batch.length ?? 0
    return this.#waiting.length + ready + this.#long.length + this.#behindLong.length + this.#aside.length
  }

  /** Resolves when the request is granted and on disk; rejects with the problem when it is refused. */
  submit(request: ClaimRequest, entry: Entry | null = null): Promise<void> {
    if (this.length >= limits.claimQueueMax) {
      throw problem('unavailable', { reason: 'too many claims are waiting' })
    }
    return new Promise((resolve, reject) => {
      const waiting = { request, entry, who: whoseWork(), weight: weightOf(request), resolve, reject, asideSince: null }
      // Only its rows say what a release needs. While some are locked, it is tried beside the others, which go on.
      const mayNeed = request.kind === 'release' && this.#held.size > 0
      if (mayNeed || needs(request, this.#held)) this.#setAside([waiting], null)
      else this.#line([waiting])
    })
  }

  #line(waiting: readonly Waiting<Entry>[]): void {
    for (const one of waiting) {
      if (isLong(one)) this.#long.push(one)
      else if (needs(one.request, this.#lockedByLong)) this.#behindLong.push(one)
      else this.#waiting.push(one, one.who)
    }
    // After this turn of the event loop, so that requests that came in together are decided together.
    if (this.#running) this.#makeReady()
    else if (this.#waiting.length > 0) {
      this.#running = true
      setImmediate(() => void ownWork(() => this.#run()))
    }
    if (!this.#isLongRunning && this.#long.length > 0) {
      this.#isLongRunning = true
      setImmediate(() => void ownWork(() => this.#runLong()))
    }
  }

  async #runLong(): Promise<void> {
    for (let next = this.#long.shift(); next; next = this.#long.shift()) {
      // On SQLite whoever writes locks the whole file, and the next long one lets the others go first.
      if (this.#store.dialect === 'postgres') this.#lockedByLong = new Set(namedBy(next.request))
      await this.#decide([next])
      this.#lockedByLong = NONE
      this.#line(this.#behindLong.splice(0))
    }
    this.#isLongRunning = false
  }

  // One batch at a time, on PostgreSQL too: two at once only made both of them smaller.
  async #run(): Promise<void> {
    while (this.#waiting.length > 0 || this.#ready) {
      await this.#gather()
      await this.#decide()
    }
    this.#running = false
  }

  /** Plans a full batch while the one before is written, so that the database doesn't wait for it. */
  #makeReady(): void {
    if (!this.#atOnce || this.#ready) return
    const size = sizeOfBatch(this.#waiting)
    const isFull = size === limits.claimBatchMax || size < this.#waiting.length
    if (isFull) this.#ready = this.#nextSplit(this.#atOnce)
  }

  #nextSplit(atOnce: AtOnce<Entry>): Split<Waiting<Entry>> {
    const split = this.#ready ?? atOnce.split(this.#nextBatch())
    this.#ready = null
    return split
  }

  /**
   * After a batch its clients ask again, but not all of them within one turn, and a commit for half of them costs almost
   * as much as one for all. So it takes turns as long as each brings more, up to the size of the batch before. On
   * PostgreSQL some are enough: while it writes these, we hear and answer the others, and neither waits for the other.
   */
  async #gather(): Promise<void> {
    let before = 0
    const enough = this.#atOnce ? Math.min(this.#sizeBefore, limits.claimBatchEnough) : this.#sizeBefore
    while (!this.#ready && this.#waiting.length > before && this.#waiting.length < enough) {
      before = this.#waiting.length
      await turn()
    }
  }

  #nextBatch(): Waiting<Entry>[] {
    this.#sizeBefore = sizeOfBatch(this.#waiting)
    return this.#waiting.take(this.#sizeBefore)
  }

  *#decided(batch: readonly Waiting<Entry>[], mirror: Mirror | null): Write<(Problem | null)[]> {
    const requests = batch.map(waiting => waiting.request)
    const now = this.#clock.now()
    const decided = yield* mirror ? decideOnMemory(requests, mirror, now) : decideBatch(requests, now)
    const changes = batch.flatMap(({ entry }, i) => {
      const { subjects } = decided[i]!
      return entry !== null && subjects.length > 0 ? [{ entry, subjects }] : []
    })
    if (this.#record && changes.length > 0) yield* this.#record(changes)
    return decided.map(({ verdict }) => verdict)
  }

  /** Decides the given requests, or the next batch, taken when the transaction begins: by then more have come. */
  async #decide(given: readonly Waiting<Entry>[] | null = null): Promise<void> {
    let batch = given
    // In one call a long one would be planned and sent in one turn. On the rows it has many, at little more cost.
    const atOnce = batch?.some(isLong) ? null : this.#atOnce
    if (atOnce) batch = await this.#decidePlain(batch ? atOnce.split(batch) : this.#nextSplit(atOnce))
    if (batch?.length === 0) return
    const taken = () => (batch ??= this.#nextBatch())
    const error = await this.#commitOnMemory(taken, batch?.some(isLong) ?? false)
    if (error === null) return
    batch ??= this.#nextBatch()
    if (isHeldUp(error)) return this.#decideOthers(batch, error)
    if (batch.length === 1 || error instanceof StoreUnavailable) {
      for (const waiting of batch) waiting.reject(error)
      return
    }
    // One request made the batch fail. Decided alone, the others can succeed.
    for (const waiting of batch) await this.#decide([waiting])
  }

  /** Decides the plain requests of a batch in one call each way, and returns those that are still to be decided. */
  async #decidePlain({ calls, others }: Split<Waiting<Entry>>): Promise<readonly Waiting<Entry>[]> {
    const rest = [...others]
    for (const call of calls) rest.push(...(await this.#call(call)))
    return rest
  }

  async #call({ requests, work, failed }: PlainCall<Waiting<Entry>>): Promise<readonly Waiting<Entry>[]> {
    try {
      await this.#store.write(work, { lockWaitMs: limits.claimLockMs, isAlone: true })
      this.#observe(requests.length, 0)
      // In the next turn: by then the next batch is sent, and the database writes it while these are answered.
      setImmediate(() => requests.forEach(({ resolve }) => resolve()))
      return []
    } catch (error) {
      if (isHeldUp(error)) await this.#decideOthers(requests, error)
      else if (error instanceof StoreUnavailable) for (const { reject } of requests) reject(error)
      else {
        // Someone was faster than memory. What became of each request is decided on the rows.
        failed()
        return requests
      }
      return []
    }
  }

  /** Like `#commit`, with plain requests decided on memory where that is possible. */
  async #commitOnMemory(batch: () => readonly Waiting<Entry>[], isLong: boolean): Promise<unknown> {
    if (!this.#mirror || isLong) return this.#commit(batch, { isLong })
    const error = await this.#commit(batch, { mirror: this.#mirror })
    if (error === null || error instanceof StoreUnavailable) return error
    // Someone was faster than memory, or a consumer is not new. What becomes of each request is decided on the rows.
    if (error instanceof MemoryStale) void this.#mirror.refresh(error.providers)
    return this.#commit(batch)
  }

  /** One transaction for a batch. Answers all its requests, or none and returns the error. */
  async #commit(
    batch: () => readonly Waiting<Entry>[],
    { isLong = false, mirror = null as Mirror | null } = {},
  ): Promise<unknown> {
    try {
      const work = () => this.#decided(batch(), mirror)
      const verdicts = await this.#store.write(work, { lockWaitMs: limits.claimLockMs, isLong })
      const refused = verdicts.filter(verdict => verdict !== null).length
      this.#observe(verdicts.length - refused, refused)
      batch().forEach((waiting, i) => settle(waiting, verdicts[i]!))
      return null
    } catch (error) {
      return error
    }
  }

  /** Sets aside the requests that need a locked row, and decides the others. */
  async #decideOthers(batch: readonly Waiting<Entry>[], error: unknown): Promise<void> {
    const [held, free] = await this.#findHeld(batch)
    if (held.length > 0 || batch.length === 1) {
      this.#setAside(held.length > 0 ? held : batch, error)
      if (held.length > 0 && free.length > 0) await this.#decide(free)
      return
    }
    // The lock is gone, or its row isn't visible to us yet. Halving the batch finds the request that needs it.
    const middle = batch.length >> 1
    await this.#decide(batch.slice(0, middle))
    await this.#decide(batch.slice(middle))
  }

  /** Splits a batch into the requests that need a locked row, and the others. */
  async #findHeld(batch: readonly Waiting<Entry>[]): Promise<[Waiting<Entry>[], Waiting<Entry>[]]> {
    const requests = batch.map(({ request }) => request)
    let held: ReadonlySet<string>
    try {
      held = await this.#store.write(() => findHeld(requests, this.#clock.now()), { lockWaitMs: limits.claimLockMs })
    } catch {
      // If this fails too, nothing counts as locked, and the next try will show.
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
    void ownWork(() => this.#runAside())
  }

  /** Retries the claims that are set aside, a batch at a time, beside the main queue. */
  async #runAside(): Promise<void> {
    while (this.#aside.length > 0) {
      await sleep(limits.claimPauseMs)
      const batch = this.#aside.splice(0, sizeOfBatch(this.#aside))
      const error = await this.#commit(() => batch, { isLong: batch.some(isLong) })
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
