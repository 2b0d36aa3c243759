// Limits password guessing: counts attempts for each user and address (for IPv6 the /64), and for each address. A flood
// is refused without hashing, and doesn't affect users at other addresses.
import { limits } from '../shared/limits.ts'
import { BoundedMap } from '../shared/bounded-map.ts'
import { problem } from '../problems/problem.ts'
import { networkOf } from './networks.ts'

interface Span {
  attempts: number
  endsAt: number
}

export class Throttle {
  readonly #now: () => number
  readonly #spans = new BoundedMap<string, Span>(limits.throttledMax)
  /** Users who logged in from an address: guesses of others at that address don't block them. */
  readonly #proven = new BoundedMap<string, true>(limits.throttledMax)

  constructor(now: () => number) {
    this.#now = now
  }

  /** Counts an attempt before its outcome is known, so that parallel attempts count, too. Refuses too many. */
  begin(user: string, from: string): void {
    this.admit(user, from)
    const address = networkOf(from)
    this.#count(pairOf(user, address))
    this.#count(address)
  }

  /** Refuses if there were too many attempts, and counts none. */
  admit(user: string, from: string): void {
    const address = networkOf(from)
    const pair = pairOf(user, address)
    const waitMs = Math.max(
      this.#waitMs(pair, limits.attemptsPerUserMax),
      this.#proven.get(pair) ? 0 : this.#waitMs(address, limits.attemptsPerAddressMax),
    )
    if (waitMs > 0) throw problem('too_many_attempts', { retrySeconds: Math.ceil(waitMs / 1_000) })
  }

  /** Takes the attempt back: the secret was right. */
  succeeded(user: string, from: string): void {
    const address = networkOf(from)
    const pair = pairOf(user, address)
    this.#proven.set(pair, true)
    this.#spans.delete(pair)
    this.#undo(address)
  }

  /** Takes the attempt back: it was never checked. */
  withdrawn(user: string, from: string): void {
    const address = networkOf(from)
    this.#undo(pairOf(user, address))
    this.#undo(address)
  }

  #undo(key: string): void {
    const span = this.#spans.get(key)
    if (span && span.attempts > 0) span.attempts--
  }

  #waitMs(key: string, attemptsMax: number): number {
    const span = this.#spans.get(key)
    return span && span.attempts >= attemptsMax ? span.endsAt - this.#now() : 0
  }

  #count(key: string): void {
    const now = this.#now()
    const span = this.#spans.get(key)
    if (span && span.endsAt > now) span.attempts++
    else this.#spans.set(key, { attempts: 1, endsAt: now + limits.attemptsSpanMs })
  }
}

// Addresses have no spaces, so pairs can't collide with each other or with an address.
const pairOf = (user: string, address: string) => `${address} ${user}`
