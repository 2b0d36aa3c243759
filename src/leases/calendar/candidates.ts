// The wishes of a request, and the hosts and nodes that could fulfil them, in the order in which they are tried. Pure.
import type { ProviderId } from '../../store/schema/ids.ts'
import { add, isTouched, type Leasable, type Room, roomIn, type Size, slotsIn, type Window } from './calendar.ts'

interface AnyWish {
  /** The class of nodes that it asks for; hosts have none. */
  resourceClass?: string
  /** The uuids of the only nodes that will do; absent: any. */
  candidates?: ReadonlySet<string>
  accepts: (leasable: Leasable) => boolean
  /** What a host lacks that is not accepted, in words. */
  whyNot?: (leasable: Leasable) => string | null
  /** The slots that it already has, by id of the host or node. They are preferred. */
  held: ReadonlyMap<ProviderId, number>
  /** The reservation is in use and must keep the slots that it has. */
  isFixed: boolean
}

/** Asks for a number of slots of one size. */
export interface SlotWish extends AnyWish {
  kind: 'slots'
  size: Size
  amount: number
  /** null: anywhere; true: all on one host; false: each on a different host. */
  affinity: boolean | null
}

/** Asks for a number of whole hosts or nodes. */
export interface WholeWish extends AnyWish {
  kind: 'whole'
  min: number
  max: number
}

export type Wish = SlotWish | WholeWish

export interface Request {
  window: Window
  /** The lease or reservation that is being changed: its own bookings don't count. */
  except: string | null
  /** The current time, for a lease that has not started: bookings overdue by then still count as in use. */
  now?: number
  /** The part of the window that is for cleaning, after the end. */
  cleaningMs?: number
  wishes: readonly Wish[]
}

/** For each wish, the slots by id of the host or node. */
export type Places = readonly ReadonlyMap<ProviderId, number>[]

/** A host or node during the search: each placed slot reduces its free capacity. */
export interface Candidate extends Room {
  leasable: Leasable
}

/** Hosts and nodes with their free capacity, computed only when one is tried: often the first one fits. */
export class Candidates {
  readonly #leasables: readonly Leasable[]
  readonly #request: Request
  /** Remembers what earlier wishes took, so that later ones don't take it again. Not needed for a single wish. */
  readonly #known: Map<ProviderId, Candidate> | null

  constructor(leasables: readonly Leasable[], request: Request) {
    this.#leasables = leasables
    this.#request = request
    this.#known = request.wishes.length > 1 ? new Map() : null
  }

  /**
   * First the hosts that the wish already has. Then, for slots, hosts that are partly booked in the window, so that
   * empty hosts stay free for leases of whole hosts; for whole hosts, those without any bookings.
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

/** A reservation in use may keep a host or node that it could no longer book. */
export function mayUse(wish: Wish, leasable: Leasable): boolean {
  return (leasable.isReservable && wish.accepts(leasable)) || (wish.isFixed && wish.held.has(leasable.id))
}

/** How many slots the wish must keep there. */
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

/** Orders wishes: those in use, whole hosts, all slots on one host, each slot on a different host, the rest. */
export function leastChoiceFirst(wishes: readonly Wish[]): number[] {
  const choice = (wish: Wish) => {
    if (wish.isFixed) return 0
    if (wish.kind === 'whole') return 1
    return wish.affinity === true ? 2 : wish.affinity === false ? 3 : 4
  }
  return wishes.map((_, index) => index).sort((a, b) => choice(wishes[a]!) - choice(wishes[b]!) || a - b)
}
