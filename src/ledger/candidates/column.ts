// The inventories of one resource class: numbers in typed arrays, one entry for each provider that has the class.
import { type Row, RowSet } from './bitset.ts'
import type { InventorySnapshot } from './snapshot.ts'

// Most classes are either everywhere (VCPU) or on a few rows (one class for each lease). A common class is indexed by row,
// 36 bytes a row; a rare one through a Map, so that ten thousand rare classes don't cost 36 bytes x rows each.
const DENSE_SHARE = 8
const DENSE_MIN = 256

export class Column {
  readonly name: string
  readonly holders = new RowSet()
  /** What may still be claimed; -Infinity where there is no inventory or it is blocked. */
  room = new Float64Array(0)
  capacity = new Float64Array(0)
  used = new Float64Array(0)
  minUnit = new Int32Array(0)
  maxUnit = new Int32Array(0)
  stepSize = new Int32Array(0)
  #blocked = new RowSet()
  #where: Map<number, number> | null = new Map()
  #free: number[] = []
  #entries = 0

  constructor(name: string) {
    this.name = name
  }

  get dense(): boolean {
    return this.#where === null
  }

  /** The entry of a row, or -1. */
  at(row: Row): number {
    if (this.#where === null) return this.holders.has(row) ? row : -1
    return this.#where.get(row) ?? -1
  }

  roomAt(row: Row): number {
    const entry = this.at(row)
    return entry < 0 ? -Infinity : this.room[entry]!
  }

  /** undefined where there is no inventory. */
  usedAt(row: Row): number | undefined {
    const entry = this.at(row)
    return entry < 0 ? undefined : this.used[entry]!
  }

  blockedAt(row: Row): boolean {
    return this.#blocked.has(row)
  }

  /** True when more than `used` differs from before. */
  put(row: Row, inventory: InventorySnapshot, rowsMax: number): boolean {
    const known = this.at(row)
    const entry = known < 0 ? this.#enter(row, rowsMax) : known
    const capacity = capacityOf(inventory)
    const same = known >= 0 && this.#isSame(row, entry, inventory)
    this.capacity[entry] = capacity
    this.minUnit[entry] = inventory.minUnit
    this.maxUnit[entry] = inventory.maxUnit
    this.stepSize[entry] = inventory.stepSize
    if (inventory.blocked) this.#blocked.add(row, rowsMax)
    else this.#blocked.delete(row)
    this.use(row, inventory.used)
    return !same
  }

  /** Whether the row has exactly this inventory. */
  shows(row: Row, inventory: InventorySnapshot): boolean {
    const entry = this.at(row)
    return entry >= 0 && this.used[entry] === inventory.used && this.#isSame(row, entry, inventory)
  }

  /** Apart from use. */
  #isSame(row: Row, entry: number, inventory: InventorySnapshot): boolean {
    return (
      this.capacity[entry] === capacityOf(inventory) &&
      this.minUnit[entry] === inventory.minUnit &&
      this.maxUnit[entry] === inventory.maxUnit &&
      this.stepSize[entry] === inventory.stepSize &&
      this.#blocked.has(row) === inventory.blocked
    )
  }

  use(row: Row, used: number): boolean {
    const entry = this.at(row)
    if (entry < 0) return false
    this.used[entry] = used
    this.room[entry] = this.#blocked.count > 0 && this.#blocked.has(row) ? -Infinity : this.capacity[entry]! - used
    return true
  }

  remove(row: Row): void {
    const entry = this.at(row)
    if (entry < 0) return
    this.room[entry] = -Infinity
    this.holders.delete(row)
    this.#blocked.delete(row)
    if (this.#where !== null) {
      this.#where.delete(row)
      this.#free.push(entry)
    }
  }

  /** min_unit, max_unit and step_size, for one group's amount. */
  unitsFit(entry: number, amount: number): boolean {
    return (
      amount >= this.minUnit[entry]! && amount <= this.maxUnit[entry]! && amount % (this.stepSize[entry] ?? 1) === 0
    )
  }

  fits(row: Row, amount: number): boolean {
    const entry = this.at(row)
    return entry >= 0 && this.room[entry]! >= amount && this.unitsFit(entry, amount)
  }

  #enter(row: Row, rowsMax: number): number {
    this.holders.add(row, rowsMax)
    if (this.#where !== null && this.holders.count > DENSE_MIN && this.holders.count * DENSE_SHARE > rowsMax) {
      this.#toDense(rowsMax)
    }
    if (this.#where === null) {
      if (row >= this.room.length) this.#resize(rowsMax)
      return row
    }
    const entry = this.#free.pop() ?? this.#entries++
    if (entry >= this.room.length) this.#resize(Math.max(4, entry * 2))
    this.#where.set(row, entry)
    return entry
  }

  #toDense(rowsMax: number): void {
    const where = this.#where!
    const { room, capacity, used, minUnit, maxUnit, stepSize } = this
    this.#where = null
    this.#free = []
    this.room = new Float64Array(0)
    this.#resize(rowsMax)
    for (const [row, entry] of where) {
      this.room[row] = room[entry]!
      this.capacity[row] = capacity[entry]!
      this.used[row] = used[entry]!
      this.minUnit[row] = minUnit[entry]!
      this.maxUnit[row] = maxUnit[entry]!
      this.stepSize[row] = stepSize[entry]!
    }
  }

  #resize(length: number): void {
    const old = this.room.length
    this.room = grown(this.room, new Float64Array(length))
    this.room.fill(-Infinity, old)
    const keep = old === 0
    this.capacity = grown(keep ? new Float64Array(0) : this.capacity, new Float64Array(length))
    this.used = grown(keep ? new Float64Array(0) : this.used, new Float64Array(length))
    this.minUnit = grown(keep ? new Int32Array(0) : this.minUnit, new Int32Array(length))
    this.maxUnit = grown(keep ? new Int32Array(0) : this.maxUnit, new Int32Array(length))
    this.stepSize = grown(keep ? new Int32Array(0) : this.stepSize, new Int32Array(length))
  }
}

const capacityOf = ({ total, reserved, allocationRatio }: InventorySnapshot) =>
  Math.trunc((total - reserved) * allocationRatio)

function grown<T extends Float64Array | Int32Array>(old: T, fresh: T): T {
  fresh.set(old)
  return fresh
}
