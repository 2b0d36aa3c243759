// Remembers situations from which a walk found nothing, so that it doesn't repeat them with interchangeable providers.
//
// Two providers are interchangeable when the same open slots may choose them, both have the same room for what is still
// asked for, and the remaining rules treat them alike. A situation only counts the providers of each kind: 8 equal
// children x 6 groups have a few dozen failures instead of 8^6. Every success is listed: each is an answer of its own.
import type { Row } from './bitset.ts'
import type { Walk } from './walk.ts'

// Bounds memory for a walk, about 100 bytes a key; past it the walk goes on without learning more.
const KEYS_MAX = 20_000

export class DeadEnds {
  #walk: Walk
  #keys: (string | null)[]
  #dead: Set<string>[]
  /** By depth and column: the sum that the open slots still ask for. */
  #demand: Float64Array
  /** By depth and position: the part of a provider's kind that never changes; -1 when no open slot may choose it. */
  #kinds: (Int32Array | null)[]
  #kindOf = new Map<string, number>()
  #count = 0

  constructor(walk: Walk) {
    this.#walk = walk
    const depths = walk.order.length
    const width = walk.plan.columns.length
    this.#keys = Array.from({ length: depths }, () => null)
    this.#dead = Array.from({ length: depths }, () => new Set())
    this.#kinds = Array.from({ length: depths }, () => null)
    this.#demand = new Float64Array((depths + 1) * width)
    for (let depth = depths - 1; depth >= 0; depth--) {
      for (let c = 0; c < width; c++) this.#demand[depth * width + c] = this.#demand[(depth + 1) * width + c]!
      for (const { column, amount } of walk.plan.slots[walk.order[depth]!]!.needs) {
        this.#demand[depth * width + column]! += amount
      }
    }
  }

  /** Whether the situation on entering a depth is known to lead nowhere. */
  known(depth: number): boolean {
    const key = this.#situation(depth)
    this.#keys[depth] = key
    return this.#dead[depth]!.has(key)
  }

  /** Records that the situation on entering this depth led nowhere. */
  remember(depth: number): void {
    const key = this.#keys[depth]!
    if (key === null || this.#count >= KEYS_MAX) return
    this.#count++
    this.#dead[depth]!.add(key)
  }

  #situation(depth: number): string {
    const { covers, subtrees } = this.#walk
    const kinds = (this.#kinds[depth] ??= this.#kindsAt(depth))
    const parts: string[] = []
    for (let position = 0; position < kinds.length; position++) {
      if (kinds[position]! >= 0) parts.push(this.#provider(depth, position, kinds[position]!))
    }
    parts.sort()
    if (covers !== null) {
      for (let chunk = 0; chunk < covers.chunks; chunk++) parts.push(`t${covers.so[depth * covers.chunks + chunk]}`)
    }
    if (subtrees !== null) {
      for (let set = 0; set < subtrees.sets.length; set++) {
        const at = depth * subtrees.sets.length + set
        const row = subtrees.lowest[at]!
        if (row < 0) parts.push(`s${set}-`)
        else if (!subtrees.isLeaf(row)) parts.push(`s${set}:${row}:${subtrees.top[at]}`)
        // A leaf that may be chosen again is marked in #provider, so that situations of its siblings stay alike.
        else if (!this.#open(kinds, row)) parts.push(`s${set}${subtrees.place(row)}`)
      }
    }
    return parts.join('|')
  }

  #open(kinds: Int32Array, row: Row): boolean {
    const position = this.#walk.rows.indexOf(row)
    return position >= 0 && kinds[position]! >= 0
  }

  #provider(depth: number, position: number, kind: number): string {
    const { plan, room, unit, busy, rows, subtrees, oneOfTree } = this.#walk
    const width = plan.columns.length
    let text = `${kind}`
    for (let c = 0; c < width; c++) {
      const demand = this.#demand[depth * width + c]!
      // Room beyond the whole demand makes no difference.
      if (demand > 0) text += `,${Math.min(room[position * width + c]!, unit[position * width + c]!, demand)}`
    }
    if (plan.isolate && busy[position]! > 0) text += 'b'
    if (oneOfTree !== null) text += oneOfTree.held(position) ? 'h' : oneOfTree.free(position) ? '' : 'x'
    if (subtrees !== null && subtrees.isLeaf(rows[position]!)) {
      for (let set = 0; set < subtrees.sets.length; set++) {
        if (subtrees.lowest[depth * subtrees.sets.length + set] === rows[position]) text += `s${set}`
      }
    }
    return text
  }

  #kindsAt(depth: number): Int32Array {
    const { rows, options, covers, subtrees, oneOfTree, order } = this.#walk
    const texts = rows.map(() => '')
    for (let later = depth; later < order.length; later++) {
      for (const position of options[later]!) texts[position] += `${later},`
    }
    return Int32Array.from(rows, (row, position) => {
      let text = texts[position]!
      if (text === '') return -1
      if (covers !== null) {
        for (let chunk = 0; chunk < covers.chunks; chunk++) text += `t${covers.masks[position * covers.chunks + chunk]}`
      }
      if (subtrees !== null) text += subtrees.place(row)
      if (oneOfTree !== null) text += `r${oneOfTree.root[position]}`
      const known = this.#kindOf.get(text)
      if (known !== undefined) return known
      this.#kindOf.set(text, this.#kindOf.size)
      return this.#kindOf.size - 1
    })
  }
}
