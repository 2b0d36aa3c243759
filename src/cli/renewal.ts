// Keeps an allocation for as long as someone is there to renew it, and knows when it can no longer be counted on.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Holdfast } from '../client/index.ts'

export interface Term {
  everyMs: number
  /** How long it lasts from each renewal on: long enough to miss one or two. */
  lastsMs: number
  /** What it takes to end the work when the allocation can't be renewed: given up so long before it ends. */
  graceMs: number
  /** No renewal goes beyond this instant. */
  endsAt: number
  now: () => number
}

export class Renewal {
  /** Resolves with the reason when the allocation can't be counted on any more. */
  readonly lost: Promise<string>
  readonly #uuid: string
  readonly #term: Term
  readonly #connect: () => Promise<Holdfast>
  readonly #stopped = new AbortController()
  #server: Holdfast
  /** By our clock, from before the request was sent: the server's end is never earlier. */
  #safeUntil: number

  /** `connect` logs in again: a token may end before the work does. */
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
        // Nobody waits for an answer any more.
        return new Promise(() => {})
      }
      // Even if a renewal succeeded now, the node may have been on its way to someone else.
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
      // Tried again with the next renewal, until it is too late.
    }
  }
}

export const lasting = (ms: number) => `${Math.max(Math.ceil(ms / 1_000), 1)}s`
