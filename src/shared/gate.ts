// Limits how much work runs at a time; the rest waits in a line with limits of its own.
import { Line } from './line.ts'

export interface GateOptions {
  /** How much may run at a time. */
  places: number
  /** How much may wait. */
  waitingMax?: number
  /** How long it may wait. */
  waitMsMax?: number
  /** The error when the queue is full or the wait is too long. */
  refusal?: () => Error
}

export class Gate {
  readonly #options: GateOptions
  #places: number
  readonly #line = new Line<() => void>()

  constructor(options: GateOptions) {
    this.#options = options
    this.#places = options.places
  }

  get waiting(): number {
    return this.#line.length
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.enter()
    if (turn) await turn
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** Null when there is a place at once. Whoever enters has to leave. */
  enter(): Promise<void> | null {
    if (this.#places === 0) return this.#turn()
    this.#places--
    return null
  }

  #turn(): Promise<void> {
    const { waitingMax = Infinity, waitMsMax, refusal = () => new Error('the line is full') } = this.#options
    if (this.#line.length >= waitingMax) throw refusal()
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
      this.#line.push(admit)
    })
  }

  /** The place goes to the next in line, or is free again. */
  leave(): void {
    const next = this.#line.shift()
    if (next) next()
    else this.#places++
  }
}
