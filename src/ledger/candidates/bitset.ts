// Sets of table rows that change size gracefully: a handful of rows in a Set, many rows as one bit each.

/** A place in the table. Any plain number will do, but not the id of a provider. */
export type Row = number & { readonly of?: 'row' }

// A Set costs about 40 bytes a member, words 1 bit a table row: at 1 member in 256 rows they cost the same.
const ROWS_PER_MEMBER = 256
const FEW = 64

export function wordsFor(rows: number): number {
  return (rows + 31) >>> 5
}

export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word)
}

export class RowSet {
  count = 0
  #few: Set<Row> | null = new Set()
  #words: Int32Array | null = null

  has(row: Row): boolean {
    if (this.#words === null) return this.#few!.has(row)
    return ((this.#words[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0
  }

  add(row: Row, rowsMax: number): void {
    if (this.has(row)) return
    this.count++
    if (this.#words === null) {
      this.#few!.add(row)
      if (this.count > FEW && this.count * ROWS_PER_MEMBER > rowsMax) this.#toWords(rowsMax)
      return
    }
    if (row >>> 5 >= this.#words.length) this.#grow(wordsFor(rowsMax))
    this.#words[row >>> 5]! |= 1 << (row & 31)
  }

  delete(row: Row): void {
    if (!this.has(row)) return
    this.count--
    if (this.#words === null) this.#few!.delete(row)
    else this.#words[row >>> 5]! &= ~(1 << (row & 31))
  }

  /** The set as words, at least `length` of them. Not to be written to. */
  words(length: number): Int32Array {
    if (this.#words === null) {
      const words = new Int32Array(length)
      for (const row of this.#few!) words[row >>> 5]! |= 1 << (row & 31)
      return words
    }
    if (this.#words.length < length) this.#grow(length)
    return this.#words
  }

  forEach(visit: (row: Row) => void): void {
    if (this.#words === null) for (const row of this.#few!) visit(row)
    else eachBit(this.#words, visit)
  }

  rows(): Row[] {
    if (this.#few !== null) return [...this.#few].sort((a, b) => a - b)
    const out: Row[] = []
    eachBit(this.#words!, row => out.push(row))
    return out
  }

  #toWords(rowsMax: number): void {
    const few = this.#few!
    this.#words = new Int32Array(wordsFor(rowsMax))
    this.#few = null
    for (const row of few) this.#words[row >>> 5]! |= 1 << (row & 31)
  }

  #grow(length: number): void {
    const words = new Int32Array(length)
    words.set(this.#words!)
    this.#words = words
  }
}

export function eachBit(words: Int32Array, visit: (row: Row) => void): void {
  for (let w = 0; w < words.length; w++) {
    for (let word = words[w]!; word !== 0; word &= word - 1) visit((w << 5) + lowestBit(word))
  }
}

export function orInto(target: Int32Array, source: Int32Array): void {
  const length = Math.min(target.length, source.length)
  for (let w = 0; w < length; w++) target[w]! |= source[w]!
}
