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

  /** The ids of those who are no longer called what it said. It says the new names from then on. */
  changed(): ReadonlySet<string> {
    const ids = new Set<string>()
    for (const [id, name] of this.#users) if (this.#names.user(id) !== name) ids.add(id)
    for (const [id, name] of this.#projects) if (this.#names.project(id) !== name) ids.add(id)
    for (const id of ids) {
      this.#users.delete(id)
      this.#projects.delete(id)
    }
    return ids
  }
}
