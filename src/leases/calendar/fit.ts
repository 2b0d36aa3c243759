// Finds hosts and nodes for all reservations of a lease together, or finds that there are none. Pure.
import { limits } from '../../shared/limits.ts'
import type { Leasable } from './calendar.ts'
import {
  type Candidate,
  Candidates,
  keeps,
  leastChoiceFirst,
  mayUse,
  type Places,
  type Request,
  roomFor,
  type SlotWish,
  take,
  type WholeWish,
  type Wish,
} from './candidates.ts'
import { Search } from './packing.ts'
import type { ProviderId } from '../../store/schema/ids.ts'

interface Fit {
  places: Places | null
  /** The search reached its limit before it had tried everything. */
  isExhausted: boolean
}

/**
 * A greedy pass is exact for a single wish. Several wishes that compete for the same hosts are a packing problem: if
 * the greedy pass fails, a bounded search follows.
 */
export function fit(leasables: readonly Leasable[], request: Request): Fit {
  const { wishes } = request
  const inOneGo = place(new Candidates(leasables, request), wishes)
  if (inOneGo !== null || wishes.length < 2) return { places: inOneGo, isExhausted: false }
  const candidates = new Candidates(leasables, request)
  const count = leasables.filter(leasable => wishes.some(wish => mayUse(wish, leasable))).length
  if (count * wishes.length > limits.fitSearchMax) return { places: null, isExhausted: true }
  const search = new Search(candidates, wishes)
  const places = search.run()
  return { places, isExhausted: places === null && search.isSpent }
}

function place(candidates: Candidates, wishes: readonly Wish[]): Places | null {
  const places: Map<ProviderId, number>[] = wishes.map(() => new Map())
  for (const index of leastChoiceFirst(wishes)) {
    const wish = wishes[index]!
    const usable = candidates.inOrder(wish)
    const found = wish.kind === 'whole' ? placeWhole(wish, usable) : placeSlots(wish, usable)
    if (found === null) return null
    for (const [candidate, slots] of found) {
      take(wish, candidate, slots)
      places[index]!.set(candidate.leasable.id, slots)
    }
  }
  return places
}

type Found = Map<Candidate, number> | null

function placeWhole(wish: WholeWish, usable: Iterable<Candidate>): Found {
  const found = new Map<Candidate, number>()
  let kept = 0
  for (const candidate of usable) {
    if (!candidate.isUntouched) continue
    found.set(candidate, 1)
    kept += keeps(wish, candidate)
    if (found.size === wish.max) break
  }
  return found.size < wish.min || (wish.isFixed && kept < wish.held.size) ? null : found
}

function placeSlots(wish: SlotWish, usable: Iterable<Candidate>): Found {
  const isBound = wish.isFixed && wish.held.size > 0
  if (wish.affinity === true) {
    for (const one of usable) {
      if (roomFor(wish, one) < wish.amount || (isBound && !wish.held.has(one.leasable.id))) continue
      return keeps(wish, one) <= wish.amount ? new Map([[one, wish.amount]]) : null
    }
    return null
  }
  const found = new Map<Candidate, number>()
  let left = wish.amount
  let keptLeft = isBound ? sum(wish.held.values()) : 0
  for (const candidate of usable) {
    const kept = keeps(wish, candidate)
    const most = roomFor(wish, candidate)
    if (kept > most) return null
    keptLeft -= kept
    const slots = Math.min(most, left - keptLeft)
    if (slots < kept) return null
    if (slots > 0) found.set(candidate, slots)
    left -= slots
    if (left === 0 && keptLeft === 0) return found
  }
  return null
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0)
