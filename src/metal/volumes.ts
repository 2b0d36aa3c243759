// When the remote volumes of a node may change: a machine that is on may be using them.
import { problem } from '../problems/problem.ts'
import { EVERYTHING } from './access.ts'
import { called } from './called.ts'
import { lockNode, type NodeRow, requireUnlocked } from './nodes/rows.ts'
import { workOf } from './nodes/transitions.ts'
import type { Write } from '../store/transaction.ts'

type Action = `volume ${'connector' | 'target'} ${'update' | 'deletion'}`

/** Locks the node, and refuses unless its machine is off. `node`: its uuid, of what the client may change. */
export function* lockPoweredOff(node: string, action: Action): Write<void> {
  const found = yield* lockNode(node, EVERYTHING)
  const state = found.target_power_state ?? found.power_state
  if (state !== 'power off') {
    throw problem('verb_refused', { verb: action, node: called(found), state: state ?? 'unknown power' })
  }
  if (!goesOff(found)) requireUnlocked(found)
}

/** It is being switched off, and isn't known to be on: whoever asked for both, one after the other, need not wait. */
const goesOff = (node: NodeRow): boolean => workOf(node)?.kind === 'power' && node.power_state !== 'power on'
