// In which order those who wait are served. Pure, and without the present time: all conductors and the API get the same
// order from the same rows. If two conductors disagreed, each could leave a free node to the other's allocation.
import { limits } from '../../shared/limits.ts'

/** Someone who waits for a node. */
export interface Waiter {
  id: number
  /** Whose priority and share count. */
  project: string
  /** When it asked. */
  since: number
}

/** What is known of a project. */
export interface Standing {
  /** Each level is a head start. */
  priority: number
  /** How much of the nodes it should have, relative to others. */
  share: number
  /** The node-milliseconds that it used lately: older ones count less. */
  used: number
  /** When it last got a node; null if it never did. */
  servedAt: number | null
}

export type Standings = ReadonlyMap<string, Standing>

export interface QueueRules {
  order: 'fifo' | 'fair'
  /** After so long, what was used counts half. */
  halfLifeMs: number
}

/** As operators set them. */
export const rulesOf = (config: { queue: QueueRules['order']; queueHalfLifeHours: number }): QueueRules => ({
  order: config.queue,
  halfLifeMs: config.queueHalfLifeHours * 3_600_000,
})

/** A project that nobody has set anything for, and that used nothing. */
export const UNKNOWN: Standing = { priority: 0, share: 1, used: 0, servedAt: null }

/** Those who wait, in the order in which they are served. */
export function inServingOrder<W extends Waiter>(waiting: readonly W[], standings: Standings, rules: QueueRules): W[] {
  const turnOf = rules.order === 'fair' ? fairTurns(waiting, standings, rules.halfLifeMs) : arrival
  const turns = new Map(waiting.map(one => [one, turnOf(one) - headStart(standings.get(one.project))]))
  return waiting.toSorted((a, b) => turns.get(a)! - turns.get(b)! || a.since - b.since || a.id - b.id)
}

const arrival = ({ since }: Waiter) => since

const headStart = (standing = UNKNOWN) => standing.priority * limits.priorityHeadStartMs

/**
 * A project's turn is the moment since which it has waited in vain, and a delay for what it used lately: how long its
 * share alone would have taken to give it that much. Its allocations take their turns by age, each a little after the
 * one before, so that projects alternate when several nodes come free at once.
 */
function fairTurns(waiting: readonly Waiter[], standings: Standings, halfLifeMs: number): (one: Waiter) => number {
  const lines = Map.groupBy(
    waiting.toSorted((a, b) => a.since - b.since || a.id - b.id),
    ({ project }) => project,
  )
  const standingOf = (project: string) => standings.get(project) ?? UNKNOWN
  const users = [...standings].filter(([, { used }]) => used > 0).map(([project]) => project)
  const concerned = [...new Set([...lines.keys(), ...users])].map(standingOf)
  const shares = concerned.reduce((sum, { share }) => sum + share, 0)
  const used = concerned.reduce((sum, standing) => sum + standing.used, 0)
  // As many nodes as were in use on average.
  const nodes = Math.max(1, (used * Math.LN2) / halfLifeMs)
  const turns = new Map<Waiter, number>()
  for (const [project, line] of lines) {
    const standing = standingOf(project)
    const due = (standing.share / shares) * nodes
    const from = Math.max(line[0]!.since, standing.servedAt ?? -Infinity)
    for (const [place, one] of line.entries()) {
      turns.set(one, from + (standing.used + place * limits.fairTurnMs) / due)
    }
  }
  return one => turns.get(one)!
}
