// Renews an allocation at intervals, and reports when it may be lost.
import type { Allocation, Ending } from './allocations.ts'
import { ApiError, isAway, Unreachable } from './errors.ts'
import type { Holdfast } from './index.ts'
import { ended, endingOf } from './notice.ts'
import { sleep } from './timers.ts'
import { LOOK_MAX_MS } from './waiting.ts'

/** Says how many milliseconds are left. */
export type Left = () => number

export interface Term {
  everyMs: number
  /** How long the allocation lasts after each renewal: long enough to survive one or two failed ones. */
  lastsMs: number
  /** Time to end the work. Renewal gives up this long before the work must be over. */
  graceMs: number
  /** The work is over this long before the allocation ends: for what a busy machine and the server's clock are off. */
  marginMs: number
  now: () => number
  countdown: (ms: number) => Left
  /** Says what whoever works on the node should hear. */
  warn: (words: string) => void
}

export interface Held {
  uuid: string
  /** The proof that it is ours. */
  keeper: string
  /** The end of the lease that it belongs to, beyond which nothing lasts. */
  leaseEndsAt?: number
  /** Asks for that end again: a lease may be prolonged. */
  askLeaseEnd?: (server: Holdfast) => Promise<number>
}

/** Where the node comes from. */
export interface NodeSource {
  /** What to release in the end; null as long as nothing was asked for. */
  readonly held: Held | null
  /** null until there is something to renew. */
  readonly renewal: Renewal | null
  node(signal?: AbortSignal): Promise<Allocation>
  /** What is left if it can't be released. */
  readonly left: () => string
}

/** Keeps it for so long from now. */
export const renewed = (
  { allocations }: Holdfast,
  { uuid, keeper, leaseEndsAt }: Held,
  until: string,
  plannedEnd?: string,
) =>
  leaseEndsAt === undefined
    ? allocations.renew(uuid, until, { keeper, plannedEnd })
    : allocations.keep(uuid, until, { keeper, plannedEnd })

export class Renewal {
  /** Resolves with the reason as soon as the allocation may be lost, or with who ends it. */
  readonly lost: Promise<string | Ending>
  readonly #held: Held
  readonly #term: Term
  readonly #connect: () => Promise<Holdfast>
  readonly #stopped = new AbortController()
  #server: Holdfast
  #left: Left
  #endsAt = Infinity
  #isPlanned = true
  /** Why the last renewal failed, or was the last. */
  #why: string | null = null

  /** `left` began before the request was sent. `connect` logs in again: a token may expire before the work is done. */
  constructor(held: Held, term: Term, server: Holdfast, connect: () => Promise<Holdfast>, left: Left) {
    this.#held = held
    this.#term = term
    this.#server = server
    this.#connect = connect
    this.#left = left
    this.lost = this.#run()
  }

  get server(): Holdfast {
    return this.#server
  }

  /** For how long the node is surely ours. Less than what the server promised, never more. */
  left = (): number => this.#left() - this.#term.marginMs

  /** No renewal goes much beyond this instant, and whoever looks at the allocation can see it. */
  async plan(endsAt: number): Promise<void> {
    this.#endsAt = endsAt
    this.#isPlanned = endsAt === Infinity
    try {
      await this.#inTime(server => this.#renew(server))
    } catch {
      // The next renewal says it again.
    }
  }

  stop(): void {
    this.#stopped.abort()
  }

  /** Resolves when the node is lost or taken back, with how long the work may still take. Never after `signal`. */
  async taken(signal: AbortSignal): Promise<{ news: Ending | string; left: Left }> {
    const { countdown, graceMs } = this.#term
    const news = await Promise.race([this.lost, ended(() => this.#server, this.#held.uuid, signal)])
    return { news, left: news === 'gone' ? countdown(graceMs) : this.left }
  }

  async #run(): Promise<string | Ending> {
    const { signal } = this.#stopped
    let pause = this.#term.everyMs
    for (;;) {
      try {
        await sleep(pause, signal)
      } catch {
        // Stopped: `lost` never resolves.
        return new Promise(() => {})
      }
      // Too late, even if a renewal succeeded now: the node may have gone to someone else in between.
      if (this.#beforeGraceMs <= 0) return this.#why ?? 'it could not be renewed in time'
      try {
        await this.#inTime(server => this.#renew(server))
        pause = this.#term.everyMs
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return 'gone'
        if (error instanceof ApiError && error.status === 401) await this.#logInAgain()
        // 403: a quota.
        if (error instanceof ApiError && (error.status === 409 || error.status === 403)) {
          const ending = await this.#ending()
          if (ending !== null) return ending
          // A lease begins here, or a quota is used up: whoever works there should hear it before the time is over.
          if (this.#why === null) this.#term.warn(`the node can't be kept longer: ${error.message}`)
        }
        const what = isAway(error) ? 'the server was away for too long' : 'it could not be renewed in time'
        this.#why = `${what} (${(error as Error).message})`
        pause = Math.max(Math.min(this.#term.everyMs / 4, this.#beforeGraceMs), 1)
      }
    }
  }

  get #beforeGraceMs(): number {
    return this.#left() - this.#term.graceMs
  }

  /**
   * A connection may be dead without a word. So half of the time that is left must do: then there is another try, with
   * another connection, and whatever hangs, it is known in time that the node may be lost.
   */
  async #inTime<T>(ask: (server: Holdfast) => Promise<T>): Promise<T> {
    const over = new AbortController()
    const ms = Math.min(LOOK_MAX_MS, Math.max(this.#beforeGraceMs / 2, 1))
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new DOMException('it took too long', 'TimeoutError')
        over.abort(error)
        reject(new Unreachable(this.#server.url, 'it took too long', error))
      }, ms)
    })
    try {
      return await Promise.race([ask(this.#server.within(over.signal)), late])
    } finally {
      clearTimeout(timer)
    }
  }

  async #renew(server: Holdfast): Promise<void> {
    const { now, lastsMs, graceMs, marginMs, countdown } = this.#term
    const leaseEndsAt = await this.#leaseEndsAt(server)
    // A second less than the lease has: a request has whole seconds.
    const leaseMs = leaseEndsAt - now() - 1_000
    const ms = Math.min(lastsMs, this.#endsAt + graceMs + marginMs - now(), leaseMs)
    const why = ms === leaseMs ? 'its lease ends' : null
    if (ms <= 0) return void (this.#why = why)
    const left = countdown(ms)
    // As long from now, not as an instant: the server's clock may be another.
    const plannedEnd = this.#isPlanned ? undefined : lasting(this.#endsAt - now())
    await renewed(server, this.#held, lasting(ms), plannedEnd)
    this.#left = left
    this.#why = why
    this.#isPlanned = true
  }

  /** Asks again as long as the lease doesn't outlast the next renewal. */
  async #leaseEndsAt(server: Holdfast): Promise<number> {
    const { now, lastsMs, everyMs } = this.#term
    const { leaseEndsAt = Infinity, askLeaseEnd } = this.#held
    if (askLeaseEnd === undefined || leaseEndsAt - now() > lastsMs + everyMs) return leaseEndsAt
    try {
      this.#held.leaseEndsAt = await askLeaseEnd(server)
    } catch {
      // The renewal itself hears what is wrong.
    }
    return this.#held.leaseEndsAt!
  }

  async #ending(): Promise<Ending | null> {
    try {
      return await this.#inTime(server => endingOf(server, this.#held.uuid))
    } catch {
      return null
    }
  }

  async #logInAgain(): Promise<void> {
    try {
      this.#server = await this.#inTime(() => this.#connect())
    } catch {
      // The next renewal tries again.
    }
  }
}

export const lasting = (ms: number) => `${Math.max(Math.ceil(ms / 1_000), 1)}s`
