// Counts what requests hold while in flight, in total and per holder, so that one holder can't starve the others.

interface SharesOptions {
  /** The total that can be held. */
  max: number
  /** The fraction that one holder may have once half of the total is taken; until then there is enough for everyone. */
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

  /** Takes this amount for a holder. If the total or the holder's share is used up, takes nothing and returns which. */
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
