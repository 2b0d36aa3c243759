// Limits how much work runs at a time; the rest waits in a queue with limits of its own.

export interface GateOptions {
  /** How much may run at a time. */
  places: number
  /** How much may wait. */
  waitingMax?: number
  /** How long it may wait. */
  waitMsMax?: number
  /** The error when the queue is full or the wait is too long. */
  refusal: () => Error
}

export class Gate {
  readonly #options: GateOptions
  #places: number
  readonly #line = new Set<() => void>()

  constructor(options: GateOptions) {
    this.#options = options
    this.#places = options.places
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#places > 0) this.#places--
    else await this.#turn()
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #turn(): Promise<void> {
    const { waitingMax = Infinity, waitMsMax, refusal } = this.#options
    if (this.#line.size >= waitingMax) throw refusal()
    return new Promise((resolve, reject) => {
      const refuse = () => {
        this.#line.delete(admit)
        reject(refusal())
      }
      const late = waitMsMax === undefined ? undefined : setTimeout(refuse, waitMsMax)
      const admit = () => {
        clearTimeout(late)
        resolve()
      }
      this.#line.add(admit)
    })
  }

  /** The place goes to the next in line, or is free again. */
  #leave(): void {
    const [next] = this.#line
    if (!next) {
      this.#places++
      return
    }
    this.#line.delete(next)
    next()
  }
}
