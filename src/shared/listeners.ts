// A list of listeners. One that throws stops neither the others nor the caller.

export class Listeners<T> {
  readonly #listeners = new Set<{ heard: (value: T) => void }>()
  readonly #failed: (error: unknown) => void

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  /** Returns a function that removes it. */
  add(heard: (value: T) => void): () => void {
    const listener = { heard }
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  tell(value: T): void {
    for (const { heard } of this.#listeners) {
      try {
        heard(value)
      } catch (error) {
        this.#failed(error)
      }
    }
  }
}
