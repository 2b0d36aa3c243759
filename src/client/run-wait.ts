// How a piece of work gets its node: asks, waits, and keeps the request alive meanwhile, also through a restart of the
// server.
import type { Allocation, NewAllocation } from './allocations.ts'
import { answered, ifThere } from './asking.ts'
import { ApiError, isAway } from './errors.ts'
import type { Holdfast } from './index.ts'
import { type Held, lasting, type Left, type NodeSource, Renewal, renewed, type Term } from './renewal.ts'
import { type Look, waitFor, type WaitOptions } from './waiting.ts'

interface RunRequest {
  wanted: Omit<NewAllocation, 'uuid' | 'expires_at' | 'wait_until'> & { keeper: string }
  term: Term
  wait: { timeoutMs: number | null; startedAt: number }
  /** Whether to wait while there is no node. */
  isWaiting: boolean
  newUuid: () => string
  /** Logs in again. */
  connect: () => Promise<Holdfast>
  /** Looks whether the allocation has its node. */
  lookFor: (server: Holdfast, uuid: string) => (signal: AbortSignal) => Promise<Look<Allocation>>
  progress?: WaitOptions['progress']
  /** What is left if the allocation can't be deleted. */
  left?: (uuid: string, waitsUntil: string | null) => string
}

/** The server counts the time to wait too, and says how it ended; so it is heard out. */
export const VERDICT_GRACE_MS = 60_000

export class RunWait implements NodeSource {
  readonly #server: Holdfast
  readonly #request: RunRequest
  /** Chosen by us, so that we can release the allocation even if the answer is lost. */
  #uuid: string
  #renewal: Renewal | null = null
  #mustRenew = false
  #until: string | null = null
  /** When the server last answered a look, and whether it was away since. */
  #heardAt = 0
  #wasAway = false

  constructor(server: Holdfast, request: RunRequest) {
    this.#server = server
    this.#request = request
    this.#uuid = request.newUuid()
  }

  get held(): Held {
    return { uuid: this.#uuid, keeper: this.#request.wanted.keeper }
  }

  /** null until the server has answered. */
  get renewal(): Renewal | null {
    return this.#renewal
  }

  /** What is left if the allocation can't be deleted. */
  left = (): string => {
    return this.#request.left?.(this.#uuid, this.#until) ?? ''
  }

  async node(signal?: AbortSignal): Promise<Allocation> {
    const { timeoutMs, startedAt } = this.#request.wait
    const { progress } = this.#request
    const options: WaitOptions = {
      timeoutMs,
      startedAt,
      graceMs: VERDICT_GRACE_MS,
      left: this.left,
      ...(signal && { signal }),
      ...(progress && { progress }),
    }
    await this.#ask(options)
    return waitFor(each => this.#look(each, options), options)
  }

  async #ask(options: WaitOptions): Promise<void> {
    const { wanted, term, isWaiting } = this.#request
    const uuid = this.#uuid
    let left = term.countdown(term.lastsMs)
    const send = (signal: AbortSignal, leftMs: number | null) => {
      left = term.countdown(term.lastsMs)
      const wait_until = isWaiting && leftMs !== null ? lasting(leftMs) : undefined
      const expires_at = lasting(term.lastsMs)
      return this.#server.within(signal).allocations.create({ ...wanted, uuid, expires_at, wait_until })
    }
    const find = (signal: AbortSignal) => ifThere(this.#server.within(signal).allocations.show(uuid))
    // Without --wait one try is enough: nobody said that there is time.
    const made = await (isWaiting ? answered({ send, find }, options) : send(new AbortController().signal, null))
    this.#until = made.wait_until
    this.#keepFor(left)
  }

  #keepFor(left: Left): void {
    const { term, connect } = this.#request
    this.#renewal?.stop()
    const renewal = new Renewal(this.held, term, this.#server, connect, left)
    this.#renewal = renewal
    this.#mustRenew = false
    this.#heardAt = term.now()
    void renewal.lost.then(() => (this.#mustRenew = this.#renewal === renewal))
  }

  async #look(signal: AbortSignal, options: WaitOptions): Promise<Look<Allocation>> {
    try {
      if (this.#mustRenew) await this.#renew(signal)
      const seen = await this.#request.lookFor(this.#server, this.#uuid)(signal)
      this.#heardAt = this.#request.term.now()
      this.#wasAway = false
      return seen
    } catch (error) {
      this.#wasAway ||= isAway(error)
      if (!(error instanceof ApiError) || error.status !== 404 || !this.#isExpired) throw error
      this.#uuid = this.#request.newUuid()
      await this.#ask(options)
      return { waitingFor: 'the server was away for so long that the allocation expired; asked for another one' }
    }
  }

  /** The renewal has given up, because the server was away. The allocation may be there all the same. */
  async #renew(signal: AbortSignal): Promise<void> {
    const { term } = this.#request
    const left = term.countdown(term.lastsMs)
    await renewed(this.#server.within(signal), this.held, lasting(term.lastsMs))
    this.#keepFor(left)
  }

  /** Whether an allocation that is gone expired because we couldn't renew it. Otherwise someone has ended it. */
  get #isExpired(): boolean {
    const { now, lastsMs, everyMs } = this.#request.term
    return this.#wasAway && now() - this.#heardAt >= lastsMs - everyMs
  }
}
