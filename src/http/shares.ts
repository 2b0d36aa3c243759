// What requests hold while they are in flight, counted in all and for each holder, so that nobody takes it from the others.

interface SharesOptions {
  /** All that there is to hold. */
  max: number
  /** The part of it that one holder may have once half is taken; until then there is enough for everyone. */
  share: number
}

export class Shares {
  readonly #max: number
  readonly #shareMax: number
  readonly #held = new Map<string, number>()
  #all = 0

  constructor({ max, share }: SharesOptions) {
    this.#max = max
    this.#shareMax = Math.ceil(max * share)
  }

  get all(): number {
    return this.#all
  }

  /** Takes so much for a holder. Answers what stands in the way instead, and takes nothing: all is taken, or the holder's share is. */
  take(holder: string, amount = 1): 'all' | 'share' | null {
    const all = this.#all + amount
    const held = (this.#held.get(holder) ?? 0) + amount
    if (all > this.#max) return 'all'
    if (all > this.#max / 2 && held > this.#shareMax) return 'share'
    this.#all = all
    this.#held.set(holder, held)
    return null
  }

  giveBack(holder: string, amount = 1): void {
    const held = this.#held.get(holder)! - amount
    this.#all -= amount
    if (held > 0) this.#held.set(holder, held)
    else this.#held.delete(holder)
  }
}
