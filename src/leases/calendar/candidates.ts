// What is wished for, and the hosts and nodes that could be it, in the order in which they are tried. Pure.
import type { ProviderId } from '../../store/schema/ids.ts'
import { add, isTouched, type Leasable, type Room, roomIn, type Size, slotsIn, type Window } from './calendar.ts'

interface AnyWish {
  accepts: (leasable: Leasable) => boolean
  /** The slots that it has already, by id; these are preferred. */
  held: ReadonlyMap<ProviderId, number>
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
export type Places = readonly ReadonlyMap<ProviderId, number>[]

/** A host or node while places are looked for: what is placed is taken away from what is free. */
export interface Candidate extends Room {
  leasable: Leasable
}

/** Hosts and nodes with what is free of them, each looked at when its turn comes and no sooner: often the first will do. */
export class Candidates {
  readonly #leasables: readonly Leasable[]
  readonly #request: Request
  /** What one wish takes the next one must not find free. */
  readonly #known: Map<ProviderId, Candidate> | null

  constructor(leasables: readonly Leasable[], request: Request) {
    this.#leasables = leasables
    this.#request = request
    this.#known = request.wishes.length > 1 ? new Map() : null
  }

  /**
   * Those that the wish has already come first. Then, for slots, hosts that are in use in the window, so that free ones
   * stay free for those who need all of one; for whole ones, those that have no bookings at all.
   */
  *inOrder(wish: Wish): Generator<Candidate, void, void> {
    const last: Leasable[] = []
    const { held } = wish
    const { window, except, now } = this.#request
    if (held.size > 0) {
      for (const leasable of this.#leasables) {
        if (held.has(leasable.id) && mayUse(wish, leasable)) yield this.#at(leasable)
      }
    }
    for (const leasable of this.#leasables) {
      if (held.has(leasable.id) || !mayUse(wish, leasable)) continue
      const isFirst =
        wish.kind === 'whole'
          ? leasable.booked.length === 0
          : this.#known?.get(leasable.id)?.isUntouched === false || isTouched(leasable, window, except, now)
      if (isFirst) yield this.#at(leasable)
      else last.push(leasable)
    }
    for (const leasable of last) yield this.#at(leasable)
  }

  #at(leasable: Leasable): Candidate {
    const { window, except, now } = this.#request
    const make = (): Candidate => ({ leasable, ...roomIn(leasable, window, except, now) })
    return this.#known === null ? make() : this.#known.getOrInsertComputed(leasable.id, make)
  }
}

/** What it has it may keep even where it wouldn't be given it now. */
export function mayUse(wish: Wish, leasable: Leasable): boolean {
  return (leasable.isReservable && wish.accepts(leasable)) || (wish.isFixed && wish.held.has(leasable.id))
}

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
