// The line of those who wait for a node: who is served before whom, when each is likely to get a node, and what it waits
// for until then. Pure: it lets time go by in memory, from one known end to the next, and serves as the allocator would.
import type { NodeId } from '../../store/schema/ids.ts'
import { hasRoom, suits, type Supply, type Wish } from '../allocations/matching.ts'
import { type FleetNode, isOpen } from '../nodes/fleet.ts'
import { inServingOrder, type QueueRules, type Standings, type Waiter } from './order.ts'

/** An allocation that waits. */
export interface Waiting extends Wish, Waiter {
  uuid: string
  /** When it gives up; null if it doesn't. */
  waitUntil: number | null
}

/** What has a node now. `end` is null if nobody knows when it gives the node back. */
export interface Occupant {
  what: 'allocation' | 'hold' | 'lease'
  end: number | null
}

/** A lease has the node from `start` on; from `free` on others may. */
export interface Booked {
  start: number
  free: number
}

/** What is known of the time to come. */
export interface Ahead {
  occupants: ReadonlyMap<NodeId, Occupant>
  /** By node, in the order of time, those that run among them. */
  booked: ReadonlyMap<NodeId, readonly Booked[]>
}

export interface InTheWay {
  /** The uuid of the node that comes free. */
  node: string
  /** `ahead` for another one of the line, which gets the node first. */
  what: Occupant['what'] | 'ahead'
  end: number
}

export interface PlaceInLine {
  uuid: string
  /** From 1 on, among those that wait for the same nodes. */
  place: number
  of: number
  /** When it gets a node if all ends are kept and nobody comes between; null if no end is known, or none in time. */
  start: number | null
  /** What must end before `start`; null if nothing has to. */
  because: InTheWay | null
  /** The uuids of the nodes that it could have, whoever has them now. */
  suits: readonly string[]
}

/** Wishes that the same nodes suit: they have their list of nodes in common. */
interface Kin {
  nodes: ReadonlySet<FleetNode>
  suits: readonly string[]
  /** In serving order. */
  line: Waiting[]
  /** Of the line so many, from its beginning, have started or given up. */
  gone: number
}

/** The places of all who wait, in serving order. */
export function lineOf(
  waiting: readonly Waiting[],
  standings: Standings,
  rules: QueueRules,
  supply: Supply,
  ahead: Ahead,
  now: number,
): PlaceInLine[] {
  const inOrder = inServingOrder(waiting, standings, rules)
  const kinOf = kinships(inOrder, supply)
  const places = placesOf(inOrder, kinOf)
  const starts = startsOf(inOrder, kinOf, supply, ahead, now)
  return inOrder.map(({ uuid }, i) => {
    const { start = null, because = null } = starts.get(inOrder[i]!) ?? {}
    return { uuid, ...places[i]!, start, because, suits: kinOf.get(inOrder[i]!)!.suits }
  })
}

function kinships(inOrder: readonly Waiting[], supply: Supply): Map<Waiting, Kin> {
  const kinds = new Map<string, Kin>()
  const kinOf = new Map<Waiting, Kin>()
  for (const wish of inOrder) {
    const { resourceClass, traits, candidates, owner, until } = wish
    const key = JSON.stringify([resourceClass, traits, candidates && [...candidates], owner, until === null])
    const kin = kinds.getOrInsertComputed(key, () => kinFor(wish, supply))
    kin.line.push(wish)
    kinOf.set(wish, kin)
  }
  return kinOf
}

function kinFor(wish: Waiting, supply: Supply): Kin {
  // Who doesn't say when it ends never gets a node that is enrolled for leases.
  const isFor = (node: FleetNode) => suits(supply, node, wish) && (node.leasable === 0 || wish.until !== null)
  const nodes = [...supply.fleet.ofClass(wish.resourceClass)].filter(isFor).toSorted((a, b) => a.id - b.id)
  return { nodes: new Set(nodes), suits: nodes.map(({ uuid }) => uuid), line: [], gone: 0 }
}

/** Of whom some node suits both, the one before takes a place. Those whom no node suits stand in a line of their own. */
function placesOf(
  inOrder: readonly Waiting[],
  kinOf: ReadonlyMap<Waiting, Kin>,
): readonly Pick<PlaceInLine, 'place' | 'of'>[] {
  const kinds = new Set(kinOf.values())
  const rivals = new Map(
    [...kinds].map(kin => [kin, [...kinds].filter(other => other === kin || !other.nodes.isDisjointFrom(kin.nodes))]),
  )
  const served = new Map<Kin, number>()
  const sum = (some: readonly Kin[], count: (kin: Kin) => number) => some.reduce((total, kin) => total + count(kin), 0)
  return inOrder.map(wish => {
    const kin = kinOf.get(wish)!
    const place = 1 + sum(rivals.get(kin)!, other => served.get(other) ?? 0)
    served.set(kin, (served.get(kin) ?? 0) + 1)
    return { place, of: sum(rivals.get(kin)!, other => other.line.length) }
  })
}

type Start = Pick<PlaceInLine, 'start' | 'because'>

/** A node that comes free at a time. */
interface Coming {
  node: FleetNode
  what: InTheWay['what'] | null
}

function startsOf(
  inOrder: readonly Waiting[],
  kinOf: ReadonlyMap<Waiting, Kin>,
  supply: Supply,
  { occupants, booked }: Ahead,
  now: number,
): Map<Waiting, Start> {
  const rank = new Map(inOrder.map((wish, i) => [wish, i]))
  const kinds = [...new Set(kinOf.values())]
  const starts = new Map<Waiting, Start>()
  const agenda = new Agenda<Coming>()
  const wanted = new Set(kinds.flatMap(({ nodes }) => [...nodes]))
  for (const node of [...wanted].toSorted((a, b) => a.id - b.id)) {
    if (node.maintenance || node.retired) continue
    const occupant = occupants.get(node.id)
    const isFree = isOpen(node) && hasRoom(supply, node)
    if (!isFree && (occupant?.end ?? null) === null) continue
    const at = isFree ? now : Math.max(now, occupant!.end!)
    agenda.put(at, { node, what: isFree ? null : occupant!.what })
    for (const { free } of booked.get(node.id) ?? []) if (free > at) agenda.put(free, { node, what: 'lease' })
  }
  // When an earlier one of the line has each node until.
  const lentUntil = new Map<FleetNode, number>()
  const isGone = (wish: Waiting, at: number) => starts.has(wish) || leavesAt(wish) <= at
  for (const { at, those } of agenda) {
    for (const kin of kinds) while (kin.gone < kin.line.length && isGone(kin.line[kin.gone]!, at)) kin.gone++
    if (kinds.every(({ gone, line }) => gone === line.length)) break
    const open = new Map(those.toSorted((a, b) => a.node.id - b.node.id).map(one => [one.node, one]))
    for (const node of open.keys()) if ((lentUntil.get(node) ?? 0) > at) open.delete(node)
    for (const wish of heads(kinds, rank, open, one => isGone(one, at))) {
      const node = choose(wish, open.keys(), kinOf.get(wish)!, one => isFreeFor(wish, booked.get(one.id), one, at))
      if (!node) continue
      const { what } = open.get(node)!
      starts.set(wish, { start: at, because: what && { node: node.uuid, what, end: at } })
      open.delete(node)
      lentUntil.set(node, wish.until ?? Infinity)
      if (wish.until !== null) agenda.put(wish.until, { node, what: 'ahead' })
    }
  }
  return starts
}

const leavesAt = ({ until, waitUntil }: Waiting) => Math.min(until ?? Infinity, waitUntil ?? Infinity)

const isFreeFor = ({ until }: Waiting, booked: readonly Booked[] = [], node: FleetNode, at: number): boolean =>
  node.leasable === 0 || !booked.some(({ start, free }) => start < until! && free > at)

/** Those who may take one of the open nodes, in serving order. Ends when no node is left. */
function* heads(
  kinds: readonly Kin[],
  rank: ReadonlyMap<Waiting, number>,
  open: ReadonlyMap<FleetNode, unknown>,
  isGone: (wish: Waiting) => boolean,
): Generator<Waiting, void, void> {
  const lines = kinds
    .filter(({ nodes }) => [...open.keys()].some(node => nodes.has(node)))
    .map(({ line, gone }) => ({ line, at: gone }))
  while (open.size > 0) {
    let first: (typeof lines)[number] | undefined
    for (const each of lines) {
      while (each.at < each.line.length && isGone(each.line[each.at]!)) each.at++
      const wish = each.line[each.at]
      if (wish && (!first || rank.get(wish)! < rank.get(first.line[first.at]!)!)) first = each
    }
    if (!first) return
    yield first.line[first.at++]!
  }
}

/** The node of the wish's name if it is there, else the first. */
function choose(
  wish: Waiting,
  open: Iterable<FleetNode>,
  { nodes }: Kin,
  isFree: (node: FleetNode) => boolean,
): FleetNode | undefined {
  let first: FleetNode | undefined
  for (const node of open) {
    if (!nodes.has(node) || !isFree(node)) continue
    if (node.name !== null && node.name === wish.name) return node
    first ??= node
    if (wish.name === null) return first
  }
  return first
}

/** What happens when: a heap, because more is put in while it goes. */
class Agenda<T> {
  readonly #heap: { at: number; what: T }[] = []

  put(at: number, what: T): void {
    const heap = this.#heap
    let place = heap.length
    for (let above = (place - 1) >> 1; place > 0 && heap[above]!.at > at; above = (place - 1) >> 1) {
      heap[place] = heap[above]!
      place = above
    }
    heap[place] = { at, what }
  }

  /** All that happens at the next time. */
  *[Symbol.iterator](): Generator<{ at: number; those: T[] }, void, void> {
    while (this.#heap.length > 0) {
      const { at } = this.#heap[0]!
      const those: T[] = []
      while (this.#heap[0]?.at === at) those.push(this.#take())
      yield { at, those }
    }
  }

  #take(): T {
    const heap = this.#heap
    const [first, last] = [heap[0]!, heap.pop()!]
    if (heap.length === 0) return first.what
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const below = left + 1 < heap.length && heap[left + 1]!.at < heap[left]!.at ? left + 1 : left
      if (below >= heap.length || heap[below]!.at >= last.at) break
      heap[place] = heap[below]!
      place = below
    }
    heap[place] = last
    return first.what
  }
}
