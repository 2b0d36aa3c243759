// Gathers requests into batches: one batch at a time, and what comes meanwhile is in the next one.
import { Line, ownWork } from './line.ts'
import { limits } from './limits.ts'

interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

export class Batches<Item, Result> {
  readonly #work: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly #waiting = new Line<Waiting<Item, Result>>()
  #isRunning = false

  /** `work` gives each item its result, in the same order. If it fails, all items of the batch fail. */
  constructor(work: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#work = work
  }

  submit(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push({ item, resolve, reject })
    if (!this.#isRunning) {
      this.#isRunning = true
      // After this turn of the event loop, so that requests that came in together are in one batch.
      setImmediate(() => void ownWork(() => this.#run()))
    }
    return promise
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.take(
        this.#waiting.isShared ? limits.allocationBatchShared : limits.allocationBatchMax,
      )
      try {
        const results = await this.#work(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, i) => resolve(results[i]!))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isRunning = false
  }
}
