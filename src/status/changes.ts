// What changed on the board, in the order in which the board took it in. Whoever has seen it up to a version asks for
// what changed after it. A place in the log wouldn't do: time and names change rows too, and have no place there.
import { limits } from '../shared/limits.ts'

/** A machine that is gone, or that belongs to others now, and who could see it before. */
export interface Departed {
  uuid: string
  owner: string | null
  lessee: string | null
  version: number
}

export class Changes {
  #version = 0
  #departed: Departed[] = []
  /** Who has seen less than this may not know of all that departed. */
  #knownFrom = 0

  /** Grows with every change of what is shown. */
  get version(): number {
    return this.#version
  }

  grow(): number {
    return ++this.#version
  }

  depart({ uuid, owner, lessee }: Omit<Departed, 'version'>): void {
    this.#departed.push({ uuid, owner, lessee, version: this.grow() })
    const surplus = this.#departed.length - limits.statusDepartedMax
    if (surplus > 0) this.#knownFrom = this.#departed.splice(0, surplus).at(-1)!.version
  }

  /** What departed after a version; null if not all of it is known. */
  departedAfter(version: number): readonly Departed[] | null {
    if (version < this.#knownFrom || version > this.#version) return null
    return this.#departed.slice(this.#departed.findLastIndex(one => one.version <= version) + 1)
  }
}
