// Lets so many through at a time; the others wait in line, but not for ever.
import { limits } from '../shared/limits.ts'
import { StoreUnavailable } from './failure.ts'

export class Gate {
  #places: number
  readonly #line = new Set<() => void>()

  constructor(places: number) {
    this.#places = places
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#places > 0) {
      this.#places--
      return
    }
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        this.#line.delete(admit)
        reject(new StoreUnavailable('too many wait for what someone keeps locked'))
      }, limits.lockWaitMsMax)
      const admit = () => {
        clearTimeout(late)
        resolve()
      }
      this.#line.add(admit)
    })
  }

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
