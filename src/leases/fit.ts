// Finds hosts and nodes for all reservations of a lease together, or finds that there are none. Pure.
import { limits } from '../limits.ts'
import { add, type Leasable, type Room, roomIn, type Size, slotsIn, type Window } from './calendar.ts'
import { Search } from './search.ts'

interface AnyWish {
  accepts: (leasable: Leasable) => boolean
  /** The slots that it has already, by id; these are preferred. */
  held: ReadonlyMap<number, number>
  /** It is in use: what it has it must keep. */
  isFixed: boolean
}

/** So many slots of a size. */
export interface SlotWish extends AnyWish {
  kind: 'slots'
  size: Size
  amount: number
  /** null: anywhere; true: all on one; false: each on another. */
  affinity: boolean | null
}

/** So many hosts or nodes, each of them whole. */
export interface WholeWish extends AnyWish {
  kind: 'whole'
  min: number
  max: number
}

export type Wish = SlotWish | WholeWish

export interface Request {
  window: Window
  /** The lease or reservation that is being changed: what it has itself is not in its way. */
  except: string | null
  /** Of a lease that is still to begin: the time, for what is overdue by then. */
  now?: number
  /** How much of the window is for cleaning, after the end. */
  cleaningMs?: number
  wishes: readonly Wish[]
}

/** For each wish the slots by id of the host or node. */
export type Places = readonly ReadonlyMap<number, number>[]

/** A host or node while places are looked for: what is placed is taken away from what is free. */
export interface Candidate extends Room {
  leasable: Leasable
}

export interface Fit {
  places: Places | null
  /** The search ended before it had tried everything. */
  isExhausted: boolean
}

/**
 * A single wish is placed in one go. Several that compete for the same hosts are a packing problem: what one go can't
 * place is searched for, within bounds.
 */
export function fit(leasables: readonly Leasable[], request: Request): Fit {
  const { wishes } = request
  const inOneGo = place(candidatesFor(leasables, request), wishes)
  if (inOneGo !== null || wishes.length < 2) return { places: inOneGo, isExhausted: false }
  const candidates = candidatesFor(leasables, request)
  if (candidates.length * wishes.length > limits.fitSearchMax) return { places: null, isExhausted: true }
  const search = new Search(candidates, wishes)
  const places = search.run()
  return { places, isExhausted: places === null && search.isSpent }
}

function candidatesFor(leasables: readonly Leasable[], { window, except, wishes, now }: Request) {
  const candidates: Candidate[] = []
  for (const leasable of leasables) {
    if (wishes.some(wish => mayUse(wish, leasable)))
      candidates.push({ leasable, ...roomIn(leasable, window, except, now) })
  }
  return candidates
}

/** What it has it may keep even where it wouldn't be given it now. */
function mayUse(wish: Wish, leasable: Leasable): boolean {
  return (leasable.isReservable && wish.accepts(leasable)) || (wish.isFixed && wish.held.has(leasable.id))
}

function place(candidates: readonly Candidate[], wishes: readonly Wish[]): Places | null {
  const places: Map<number, number>[] = wishes.map(() => new Map())
  for (const index of leastChoiceFirst(wishes)) {
    const wish = wishes[index]!
    const usable = inOrder(wish, candidates)
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

function placeWhole(wish: WholeWish, usable: readonly Candidate[]): Found {
  const open = usable.filter(candidate => candidate.isUntouched).slice(0, wish.max)
  const kept = open.filter(candidate => keeps(wish, candidate) > 0).length
  if (open.length < wish.min || (wish.isFixed && kept < wish.held.size)) return null
  return new Map(open.map(candidate => [candidate, 1]))
}

function placeSlots(wish: SlotWish, usable: readonly Candidate[]): Found {
  const isBound = wish.isFixed && wish.held.size > 0
  if (wish.affinity === true) {
    const one = usable.find(c => roomFor(wish, c) >= wish.amount && (!isBound || wish.held.has(c.leasable.id)))
    return one && keeps(wish, one) <= wish.amount ? new Map([[one, wish.amount]]) : null
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

/** The slots that the wish can't do without there. */
export function keeps(wish: Wish, { leasable }: Candidate): number {
  return wish.isFixed ? (wish.held.get(leasable.id) ?? 0) : 0
}

/** How many slots the wish may have there. */
export function roomFor(wish: SlotWish, candidate: Candidate): number {
  if (candidate.isTaken) return 0
  const slots = slotsIn(candidate.free, wish.size)
  return wish.affinity === false ? Math.min(slots, 1) : slots
}

export function take(wish: Wish, candidate: Candidate, slots: number): void {
  candidate.isUntouched = false
  if (wish.kind === 'whole') candidate.isTaken = true
  else add(candidate.free, wish.size, -slots)
}

/** What can't go comes first; then whole hosts, then one host for many, then many hosts for one each. */
export function leastChoiceFirst(wishes: readonly Wish[]): number[] {
  const choice = (wish: Wish) => {
    if (wish.isFixed) return 0
    if (wish.kind === 'whole') return 1
    return wish.affinity === true ? 2 : wish.affinity === false ? 3 : 4
  }
  return wishes.map((_, index) => index).sort((a, b) => choice(wishes[a]!) - choice(wishes[b]!) || a - b)
}

/**
 * Those that the wish has already come first. Then, for slots, hosts that are in use in the window, so that free ones
 * stay free for those who need all of one; for whole ones, those that have no bookings at all.
 */
export function inOrder(wish: Wish, candidates: readonly Candidate[]): Candidate[] {
  const ranks: Candidate[][] = [[], [], []]
  for (const candidate of candidates) {
    if (!mayUse(wish, candidate.leasable)) continue
    ranks[rankOf(wish, candidate)]!.push(candidate)
  }
  return ranks.flat()
}

function rankOf(wish: Wish, { leasable, isUntouched }: Candidate): number {
  if (wish.held.has(leasable.id)) return 0
  if (wish.kind === 'slots') return isUntouched ? 2 : 1
  return leasable.booked.length === 0 ? 1 : 2
}
