// A queue with limited concurrency: known callers come first, strangers in turn by address. The number of requests in
// flight bounds its length.

interface LineOptions {
  /** The most that run at once. */
  max: number
  /** The most strangers among them; the rest is for known callers. */
  strangersMax: number
  /** The most strangers of one address among them. */
  strangersPerAddressMax: number
}

type Start = () => void

export class Line {
  readonly #options: LineOptions
  readonly #known: Start[] = []
  /** Waiting strangers by address; the address that was served last is at the end. */
  readonly #strangers = new Map<string, Start[]>()
  /** How many strangers of each address are running. */
  readonly #atIt = new Map<string, number>()
  #all = 0
  #allStrangers = 0

  constructor(options: LineOptions) {
    this.#options = options
  }

  /** Does the work when its turn comes. `address` is a stranger's; null means a known caller. */
  async inTurn<T>(address: string | null, work: () => Promise<T>): Promise<T> {
    await new Promise<void>(start => {
      if (address === null) this.#known.push(start)
      else this.#strangers.getOrInsertComputed(address, () => []).push(start)
      this.#next()
    })
    try {
      return await work()
    } finally {
      this.#count(address, -1)
      this.#next()
    }
  }

  #next(): void {
    while (this.#all < this.#options.max) {
      const known = this.#known.shift()
      const address = known ? null : this.#nextAddress()
      const start = address === null ? known : this.#shift(address)
      if (!start) return
      this.#count(address, 1)
      start()
    }
  }

  #nextAddress(): string | null {
    const { strangersMax, strangersPerAddressMax } = this.#options
    if (this.#allStrangers >= strangersMax) return null
    for (const address of this.#strangers.keys()) {
      if ((this.#atIt.get(address) ?? 0) < strangersPerAddressMax) return address
    }
    return null
  }

  #shift(address: string): Start {
    const waiting = this.#strangers.get(address)!
    const start = waiting.shift()!
    this.#strangers.delete(address)
    if (waiting.length > 0) this.#strangers.set(address, waiting)
    return start
  }

  #count(address: string | null, change: 1 | -1): void {
    this.#all += change
    if (address === null) return
    this.#allStrangers += change
    const atIt = (this.#atIt.get(address) ?? 0) + change
    if (atIt > 0) this.#atIt.set(address, atIt)
    else this.#atIt.delete(address)
  }
}
