// Which node an allocation gets: pure, over the fleet and the ledger's table in memory.
import { dealtPlaces, type Random, shuffled } from '../../clock/chance.ts'
import type { CandidateTable } from '../../ledger/candidates/table.ts'
import { mayHaveUntil } from '../nodes/lease-promise.ts'
import { type Fleet, type FleetNode, isOpen } from '../nodes/fleet.ts'
import type { NodeId } from '../../store/schema/ids.ts'

/** What an allocation asks of a node. */
export interface Wish {
  id: number
  name: string | null
  resourceClass: string
  traits: readonly string[]
  /** Only these, by uuid; null for any. */
  candidates: ReadonlySet<string> | null
  /** Only nodes of this project, its own or leased to it; null for any. */
  owner: string | null
  /** When the node is given back; null for never. */
  until: number | null
}

/** The nodes in memory, and the ledger's table with their claims and traits. */
export interface Supply {
  fleet: Fleet
  table: CandidateTable
}

export const isOf = (owner: string | null, node: Pick<FleetNode, 'owner' | 'lessee'>): boolean =>
  owner === null || node.owner === owner || node.lessee === owner

/** Nobody has claimed it, as far as memory knows. */
export function hasRoom({ table }: Supply, node: FleetNode): boolean {
  const row = table.rowOfId(node.provider_id)
  return row >= 0 && (table.column(node.placement_class)?.roomAt(row) ?? 0) >= 1
}

/** The traits that the node lacks. Those that Placement's clients have added are not the node's. */
export function missingTraits({ table }: Supply, node: FleetNode, traits: readonly string[]): string[] {
  const row = table.rowOfId(node.provider_id)
  return traits.filter(trait => !table.traits.rowsOf(trait)?.has(row) || table.addedTraits[row]!.includes(trait))
}

/** Whether the node is of the kind that the wish asks for, whoever has it now and for how long. */
export function suits(supply: Supply, node: FleetNode, wish: Wish): boolean {
  return (
    node.resource_class === wish.resourceClass &&
    isOf(wish.owner, node) &&
    (wish.candidates === null || wish.candidates.has(node.uuid)) &&
    missingTraits(supply, node, wish.traits).length === 0
  )
}

/** The node is free and matches the wish. */
export const fits = (supply: Supply, node: FleetNode, wish: Wish): boolean =>
  isOpen(node) && hasRoom(supply, node) && mayHaveUntil(node, wish.until) && suits(supply, node, wish)

/** Nodes to try: the one with the wish's name first, the rest shuffled, so that requests don't collide on one node. */
export function* suggestions(supply: Supply, wish: Wish, random: Random): Generator<FleetNode, void, void> {
  const { fleet } = supply
  const namesake = wish.name === null ? undefined : fleet.named(wish.name)
  if (namesake && fits(supply, namesake, wish)) yield namesake
  for (const node of inRandomOrder(fleet, wish, random)) {
    if (node !== namesake && fits(supply, node, wish)) yield node
  }
}

function* inRandomOrder(fleet: Fleet, wish: Wish, random: Random): Generator<FleetNode, void, void> {
  if (wish.candidates !== null) {
    for (const uuid of shuffled([...wish.candidates], random)) {
      const node = fleet.withUuid(uuid)
      if (node) yield node
    }
    return
  }
  const open = fleet.openOf(wish.resourceClass)
  for (const place of dealtPlaces(open.length, random)) yield open[place]!
}

/** Picks nodes for wishes, first come, first served: no node twice, and no pair that is in `tried`. */
export function propose(
  supply: Supply,
  wishes: readonly Wish[],
  tried: ReadonlySet<string>,
  random: Random,
): Map<Wish, FleetNode> {
  const picks = new Map<Wish, FleetNode>()
  const taken = new Set<NodeId>()
  for (const wish of wishes) {
    const found = suggestions(supply, wish, random).find(
      node => !taken.has(node.id) && !tried.has(attemptKey(wish, node)),
    )
    if (!found) continue
    picks.set(wish, found)
    taken.add(found.id)
  }
  return picks
}

export const attemptKey = (wish: Wish, node: FleetNode) => `${wish.id} ${node.id}`
