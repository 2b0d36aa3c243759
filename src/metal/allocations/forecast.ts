// Forecasts an allocation: the nodes that it could get now, or why there are none. Pure, over the fleet in memory.
import type { Random } from '../../clock/chance.ts'
import { limits } from '../../shared/limits.ts'
import type { FleetNode } from '../nodes/fleet.ts'
import { propose, suggestions, type Supply, type Wish } from './matching.ts'
import type { Kept } from '../holds/lookup.ts'
import { type Reasons, whyNot } from './why-not.ts'

interface Forecast {
  fits: boolean
  /** How many suitable nodes are left for it. */
  count: number
  /** Some of them. */
  nodes: { uuid: string; name: string | null }[]
  /** How many suitable nodes go to allocations that wait already. */
  promised: number
  reasons: Reasons
}

/** `waiting` are the wishes that came before, oldest first. */
export function forecast(
  supply: Supply,
  wish: Wish,
  waiting: readonly Wish[],
  kept: Kept,
  random: Random,
  now: number,
): Forecast {
  const taken = new Set(propose(supply, waiting, new Set(), random).values())
  const all = [...suggestions(supply, wish, random)].filter(node => kept.get(node.id) !== 'busy')
  const left = all.filter(node => !taken.has(node))
  return {
    fits: left.length > 0,
    count: left.length,
    nodes: left.slice(0, limits.explainSampleMax).map(named),
    promised: all.length - left.length,
    reasons: whyNot(supply, wish, kept, now),
  }
}

const named = ({ uuid, name }: FleetNode) => ({ uuid, name })
