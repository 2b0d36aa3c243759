// So many at once; the others wait their turn.

export class Lane {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(max: number) {
    this.#max = max
  }

  get isFull(): boolean {
    return this.#running >= this.#max
  }

  get waiting(): number {
    return this.#waiting.length
  }

  async run(work: () => Promise<void>): Promise<void> {
    // Whoever ends hands its place to the one who waits longest.
    if (this.isFull) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else this.#running++
    try {
      await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}
