// Lines in which work waits: those for whom it is done get turns, and come first within their own.
import { AsyncLocalStorage } from 'node:async_hooks'
import { limits } from './limits.ts'

/**
 * For whom the work at hand is done. It goes along with promises and timers, because between a request and the places
 * where it waits lie hundreds of functions that don't care.
 */
const whose = new AsyncLocalStorage<string>()

/** What nobody has asked for: duties, and batches of many. It has turns like anybody. */
const OURS = ''

export const workFor = <T>(who: string, work: () => T): T => whose.run(who, work)
export const whoseWork = (): string => whose.getStore() ?? OURS
export const ownWork = <T>(work: () => T): T => whose.run(OURS, work)

/** Each turn gives one to each who waits. */
export class Line<T> {
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Set<T>>()
  readonly #now: () => number
  #length = 0
  #last = OURS
  #lastAt = -Infinity
  #sharedAt = -Infinity

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get length(): number {
    return this.#length
  }

  /** Whether several have come here lately. Then more than one may be waiting soon, and rounds should be short. */
  get isShared(): boolean {
    return this.#now() - this.#sharedAt < limits.lineSharedMs
  }

  push(item: T, who = whoseWork()): void {
    const own = this.#waiting.get(who)
    if (own) own.add(item)
    else this.#waiting.set(who, new Set([item]))
    this.#length++
    if (who !== OURS) this.#note(who)
  }

  #note(who: string): void {
    const now = this.#now()
    if (who !== this.#last && now - this.#lastAt < limits.lineSharedMs) this.#sharedAt = now
    this.#last = who
    this.#lastAt = now
  }

  /** Takes the next one: the first of whoever's turn it is. */
  shift(): T | undefined {
    for (const [who, own] of this.#waiting) {
      for (const item of own) {
        own.delete(item)
        this.#waiting.delete(who)
        if (own.size > 0) this.#waiting.set(who, own)
        this.#length--
        return item
      }
    }
    return undefined
  }

  /** Takes the next ones, up to so many. */
  take(max: number): T[] {
    return [...this.round(max)]
  }

  /**
   * Takes one after the other: up to so many, and while several come here no more after so long. So whoever comes then
   * doesn't wait for all that came before.
   */
  *round(max: number, sharedMs = Infinity): Generator<T> {
    const until = this.isShared ? this.#now() + sharedMs : Infinity
    for (let size = 0; size < max && this.#length > 0; size++) {
      if (size > 0 && until < Infinity && this.#now() > until) return
      yield this.shift()!
    }
  }

  /** Takes one out of turn; false when it is not here any more. */
  delete(item: T): boolean {
    for (const [who, own] of this.#waiting) {
      if (!own.delete(item)) continue
      if (own.size === 0) this.#waiting.delete(who)
      this.#length--
      return true
    }
    return false
  }

  /** In the order in which they are taken. */
  *[Symbol.iterator](): Iterator<T> {
    let round = Array.from(this.#waiting.values(), own => own.values())
    while (round.length > 0) {
      const more = []
      for (const own of round) {
        const next = own.next()
        if (next.done) continue
        yield next.value
        more.push(own)
      }
      round = more
    }
  }
}
