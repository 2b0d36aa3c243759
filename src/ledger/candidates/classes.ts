// The columns of a table by the names of their classes, and the lists of classes that its rows share.
import { Column } from './column.ts'
import type { InventorySnapshot } from './snapshot.ts'

export const NO_CLASSES: readonly number[] = []

export class Classes {
  readonly columns: Column[] = []
  readonly #byName = new Map<string, number>()
  readonly #lists = new Map<string, readonly number[]>()
  #lastList = NO_CLASSES

  find(name: string): Column | null {
    const index = this.#byName.get(name)
    return index === undefined ? null : this.columns[index]!
  }

  /** The column of a class; a new one when it is the first time. */
  column(name: string): Column {
    const known = this.find(name)
    if (known) return known
    this.#byName.set(name, this.columns.length)
    const column = new Column(name)
    this.columns.push(column)
    return column
  }

  /** The places of the columns of these inventories, in order: one list for all who have the same. */
  listOf(inventories: readonly InventorySnapshot[]): readonly number[] {
    if (inventories.length === 0) return NO_CLASSES
    // Most providers have the classes of the one before.
    if (this.#isList(this.#lastList, inventories)) return this.#lastList
    const list = inventories.map(one => this.#byName.get(one.resourceClass)!).sort((a, b) => a - b)
    return (this.#lastList = this.#lists.getOrInsert(list.join(), list))
  }

  #isList(list: readonly number[], inventories: readonly InventorySnapshot[]): boolean {
    if (list.length !== inventories.length) return false
    for (let i = 0; i < list.length; i++)
      if (this.columns[list[i]!]!.name !== inventories[i]!.resourceClass) return false
    return true
  }
}
