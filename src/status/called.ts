// What people and projects were called when the texts of the board were made.
import type { NamesOfPeople } from './shown.ts'

/** Remembers which names it said, to tell when one of them has changed. */
export class Called implements NamesOfPeople {
  readonly #names: NamesOfPeople
  readonly #users = new Map<string, string>()
  readonly #projects = new Map<string, string>()

  constructor(names: NamesOfPeople) {
    this.#names = names
  }

  user(id: string): string {
    return this.#users.getOrInsertComputed(id, () => this.#names.user(id))
  }

  project(id: string): string {
    return this.#projects.getOrInsertComputed(id, () => this.#names.project(id))
  }

  /** Forgets what it said, if some of it is no longer so. */
  haveChanged(): boolean {
    const isOld =
      this.#users.entries().some(([id, name]) => this.#names.user(id) !== name) ||
      this.#projects.entries().some(([id, name]) => this.#names.project(id) !== name)
    if (isOld) {
      this.#users.clear()
      this.#projects.clear()
    }
    return isOld
  }
}
