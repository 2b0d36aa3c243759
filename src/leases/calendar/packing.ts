// Packs several wishes that compete for the same hosts, by backtracking.
import type { ProviderId } from '../../store/schema/ids.ts'
import { limits } from '../../shared/limits.ts'
import { add } from './calendar.ts'
import {
  type Candidate,
  type Candidates,
  keeps,
  leastChoiceFirst,
  type Places,
  roomFor,
  take,
  type Wish,
} from './candidates.ts'

/** The state of the search for one wish. */
interface Turn {
  wish: Wish
  usable: readonly Candidate[]
  places: Map<ProviderId, number>
  depth: number
}

export class Search {
  readonly #candidates: Candidates
  readonly #wishes: readonly Wish[]
  readonly #order: readonly number[]
  readonly #places: Map<ProviderId, number>[]
  #steps = 0

  constructor(candidates: Candidates, wishes: readonly Wish[]) {
    this.#candidates = candidates
    this.#wishes = wishes
    this.#places = wishes.map(() => new Map())
    this.#order = leastChoiceFirst(wishes)
  }

  get isSpent(): boolean {
    return this.#steps > limits.fitStepsMax
  }

  run(): Places | null {
    return this.#place(0) ? this.#places : null
  }

  #place(depth: number): boolean {
    const index = this.#order[depth]
    if (index === undefined) return true
    const wish = this.#wishes[index]!
    const usable = [...this.#candidates.inOrder(wish)]
    const turn = { wish, usable, places: this.#places[index]!, depth }
    if (wish.isFixed && wish.held.size > usable.filter(({ leasable }) => wish.held.has(leasable.id)).length)
      return false
    if (wish.kind === 'slots') return this.#spread(turn, 0, wish.amount)
    for (let count = Math.min(wish.max, usable.length); count >= wish.min; count--) {
      if (this.#spread(turn, 0, count)) return true
    }
    return false
  }

  /** Spreads `left` slots over the candidates from index `from` on: tries the most on the first, then fewer. */
  #spread(turn: Turn, from: number, left: number): boolean {
    const { wish, usable, places, depth } = turn
    const candidate = usable[from]
    if (!candidate) return left === 0 && this.#place(depth + 1)
    const kept = keeps(wish, candidate)
    for (const slots of this.#choices(wish, candidate, left)) {
      if (slots < kept) continue
      if (++this.#steps > limits.fitStepsMax) return false
      const { isUntouched, isTaken } = candidate
      if (slots > 0) {
        take(wish, candidate, slots)
        places.set(candidate.leasable.id, slots)
      }
      if (this.#spread(turn, from + 1, left - slots)) return true
      if (slots === 0) continue
      if (wish.kind === 'slots') add(candidate.free, wish.size, slots)
      Object.assign(candidate, { isUntouched, isTaken })
      places.delete(candidate.leasable.id)
    }
    return false
  }

  #choices(wish: Wish, candidate: Candidate, left: number): number[] {
    if (wish.kind === 'whole') return candidate.isUntouched && left > 0 ? [1, 0] : [0]
    if (wish.affinity === true) return left > 0 && roomFor(wish, candidate) >= left ? [left, 0] : [0]
    const most = Math.min(roomFor(wish, candidate), left)
    return Array.from({ length: most + 1 }, (_, i) => most - i)
  }
}
