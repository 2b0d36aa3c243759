// Decides when each node's power is looked at, by whom, and what follows from it. Pure.
import { limits } from '../../shared/limits.ts'
import type { PowerState } from '../../store/schema/states.ts'
import type { NodeRow } from '../nodes/rows.ts'
import type { State } from '../nodes/states.ts'

/** The fault of a node whose power can't be read. */
export const POWER_FAULT = 'power failure'

/**
 * Where in the period a node has its turn. The golden ratio spreads any run of ids evenly, so there is no burst, and the
 * turn is the same in every process and after every restart.
 */
export const turnOf = (id: number, periodMs: number): number => ((id * 0.618_033_988_749_895) % 1) * periodMs

/** Whether the turn came after `from` and until `to`, both by the stopwatch; each turn comes once in a period. */
export function hasTurn(turn: number, from: number, to: number, periodMs: number): boolean {
  if (to - from >= periodMs) return true
  const lastTurn = Math.floor((to - turn) / periodMs) * periodMs + turn
  return lastTurn > from
}

/** Whose node it is: the same in all processes. When a conductor comes or goes, only its own nodes change hands. */
export function lookerOf(id: number, hostnames: readonly string[]): string | null {
  let found: string | null = null
  let highest = -1
  for (const hostname of hostnames) {
    const weight = hashOf(`${id} ${hostname}`)
    if (weight > highest || (weight === highest && hostname < found!)) [found, highest] = [hostname, weight]
  }
  return found
}

/** FNV-1a, with the bits mixed once more: it differs in its low bits alone where names differ in their last letter. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** Nobody has proved that these can be reached. */
const UNPROVED: ReadonlySet<State> = new Set<State>(['enroll', 'adopt failed'])

type Watched = Pick<NodeRow, 'provision_state' | 'transition' | 'lock_incarnation' | 'maintenance' | 'fault'>

/** Whether the node is looked at. People in front of the machine, and conductors at work, know its power better. */
export function isWatched({ provision_state, transition, lock_incarnation, maintenance, fault }: Watched): boolean {
  if (transition !== null || lock_incarnation !== null || UNPROVED.has(provision_state)) return false
  return maintenance === 0 || fault === POWER_FAULT
}

/** What a look found: the power, or why it couldn't be read. */
export type Finding = { power: PowerState } | { failure: string }

type Change = Pick<NodeRow, 'power_state' | 'maintenance' | 'maintenance_reason' | 'fault'>

/** What the finding changes in the node; null when all is as it was. `failures` counts this one too. */
export function changeBy(node: Change, finding: Finding, failures: number): Change | null {
  const isFaulty = node.fault === POWER_FAULT
  if ('power' in finding) {
    const power_state = finding.power
    if (isFaulty) return { power_state, maintenance: 0, maintenance_reason: null, fault: null }
    return power_state === node.power_state ? null : { ...stateOf(node), power_state }
  }
  if (isFaulty || failures < limits.powerFailuresMax) return null
  const maintenance_reason = `The power could not be read ${failures} times in a row: ${finding.failure}`
  return { power_state: null, maintenance: 1, maintenance_reason, fault: POWER_FAULT }
}

const stateOf = ({ power_state, maintenance, maintenance_reason, fault }: Change): Change => ({
  power_state,
  maintenance,
  maintenance_reason,
  fault,
})
