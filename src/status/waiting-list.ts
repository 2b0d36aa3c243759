// Those who wait for a machine, and the last that gave up, in memory.
import { limits } from '../shared/limits.ts'
import type { WaitingPart } from './rows.ts'

interface Read {
  isAll: boolean
  /** The allocations that were asked for, and what was found of them. */
  asked: Iterable<string>
  waiting: readonly WaitingPart[]
}

export class WaitingList {
  readonly #rows = new Map<string, WaitingPart>()
  #version = 0

  /** Grows when one comes, goes or changes. */
  get version(): number {
    return this.#version
  }

  grow(): void {
    this.#version++
  }

  /** In the order of their ids, then the last that gave up. */
  get rows(): readonly WaitingPart[] {
    return [...this.#rows.values()].sort(
      (a, b) => Number(a.state === 'error') - Number(b.state === 'error') || a.id - b.id,
    )
  }

  take({ isAll, asked, waiting }: Read): void {
    const wait = waiting.filter(({ state }) => state !== 'active')
    let isChanged = isAll || wait.length > 0
    if (isAll) this.#rows.clear()
    for (const uuid of asked) isChanged = this.#rows.delete(uuid) || isChanged
    for (const row of wait) this.#rows.set(row.uuid, row)
    const gaveUp = [...this.#rows.values()].filter(({ state }) => state === 'error').sort((a, b) => b.id - a.id)
    for (const { uuid } of gaveUp.slice(limits.statusGaveUpMax)) this.#rows.delete(uuid)
    if (isChanged) this.grow()
  }
}
