// Turns at long work: one piece a turn of the event loop, and of those who wait one piece of each in turn. So however
// many long works one caller starts, the others wait for one piece of it.

export class Turns {
  /** Those who wait, by caller. The caller who had the last turn stands at the end. */
  readonly #lines = new Map<string, (() => void)[]>()
  #isRunning = false

  /** Resolves when the caller may do a piece of work. */
  next(caller: string): Promise<void> {
    return new Promise(resolve => {
      const line = this.#lines.get(caller)
      if (line) line.push(resolve)
      else this.#lines.set(caller, [resolve])
      if (this.#isRunning) return
      this.#isRunning = true
      setImmediate(this.#give)
    })
  }

  readonly #give = (): void => {
    const [next] = this.#lines
    if (!next) {
      this.#isRunning = false
      return
    }
    const [caller, line] = next
    line.shift()!()
    this.#lines.delete(caller)
    if (line.length > 0) this.#lines.set(caller, line)
    setImmediate(this.#give)
  }
}
