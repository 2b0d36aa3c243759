// Those who want to hear of something. One that throws keeps neither the others nor the speaker from going on.

export class Listeners<T> {
  readonly #listeners = new Set<{ heard: (value: T) => void }>()
  readonly #failed: (error: unknown) => void

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  /** Answers how to take it off again. */
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
