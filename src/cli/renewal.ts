// Renews an allocation at intervals, and reports when it may be lost.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Holdfast } from '../client/index.ts'

export interface Term {
  everyMs: number
  /** How long the allocation lasts after each renewal: long enough to survive one or two failed ones. */
  lastsMs: number
  /** Time to end the work. Renewal gives up this long before the allocation ends. */
  graceMs: number
  /** No renewal goes beyond this instant. */
  endsAt: number
  now: () => number
}

export class Renewal {
  /** Resolves with the reason as soon as the allocation may be lost. */
  readonly lost: Promise<string>
  readonly #uuid: string
  readonly #term: Term
  readonly #connect: () => Promise<Holdfast>
  readonly #stopped = new AbortController()
  #server: Holdfast
  /** Counted from before the request was sent, so the server never ends it earlier. */
  #safeUntil: number

  /** `connect` logs in again, because a token may expire before the work is done. */
  constructor(uuid: string, term: Term, server: Holdfast, connect: () => Promise<Holdfast>, sentAt: number) {
    this.#uuid = uuid
    this.#term = term
    this.#server = server
    this.#connect = connect
    this.#safeUntil = sentAt + term.lastsMs
    this.lost = this.#run()
  }

  get server(): Holdfast {
    return this.#server
  }

  stop(): void {
    this.#stopped.abort()
  }

  async #run(): Promise<string> {
    const { signal } = this.#stopped
    let pause = this.#term.everyMs
    for (;;) {
      try {
        await sleep(pause, undefined, { signal })
      } catch {
        // Stopped: `lost` never resolves.
        return new Promise(() => {})
      }
      // Too late, even if a renewal succeeded now: the node may have gone to someone else in between.
      if (this.#leftMs <= 0) return 'it could not be renewed in time'
      try {
        await this.#renew()
        pause = this.#term.everyMs
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return 'it is gone'
        if (error instanceof ApiError && error.status === 401) await this.#logInAgain()
        pause = Math.max(Math.min(this.#term.everyMs / 4, this.#leftMs), 1)
      }
    }
  }

  get #leftMs(): number {
    return this.#safeUntil - this.#term.graceMs - this.#term.now()
  }

  async #renew(): Promise<void> {
    const sentAt = this.#term.now()
    const lastsMs = Math.min(this.#term.lastsMs, this.#term.endsAt - sentAt)
    if (lastsMs <= 0) return
    await this.#server.allocations.renew(this.#uuid, lasting(lastsMs))
    this.#safeUntil = sentAt + lastsMs
  }

  async #logInAgain(): Promise<void> {
    try {
      this.#server = await this.#connect()
    } catch {
      // The next renewal tries again.
    }
  }
}

export const lasting = (ms: number) => `${Math.max(Math.ceil(ms / 1_000), 1)}s`
