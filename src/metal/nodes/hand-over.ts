// Machines that change hands by work of their driver: whoever gets one by an allocation has it deployed, and it is
// undeployed when the allocation ends. Until that is done nobody else gets it.
import { jsonText } from '../../shared/json.ts'
import { type Read, wake, type Write } from '../../store/transaction.ts'
import { problem } from '../../problems/problem.ts'
import { called } from '../called.ts'
import type { Drivers } from '../drivers/registry.ts'
import { syncProvider } from './provider.ts'
import { type NodeRow, requireUnlocked, saveNode } from './rows.ts'
import { endOf, transitionFor } from './states.ts'
import { begun, stepsOf, workOf } from './transitions.ts'
import { machineOf } from './validation.ts'

/** Starts to hand the machine over to whoever has just got it, if its driver does that. */
export function* handOver(node: NodeRow, drivers: Drivers, request: string | null, now: number): Write<void> {
  if (!drivers.get(node.driver)?.handsOver?.(machineOf(node))) return
  const transition = transitionFor('active', node.provision_state)!
  const after = yield* begun(node, transition, { args: {}, ...(request !== null && { request }) }, drivers, now)
  yield* saveNode(node, after)
  yield* syncProvider(after, now)
  yield* wake('nodes')
}

/** Whether the end of its allocation takes the machine back. In maintenance a person does that. */
export function isTakenBack({ driver, provision_state, maintenance }: NodeRow, drivers: Drivers): boolean {
  if (maintenance === 1 || !drivers.get(driver)?.handsOver) return false
  return provision_state === 'active' || provision_state === 'deploying' || provision_state === 'wait call-back'
}

/** The node with the work of taking it back before it. Its holder is still there, so that the driver hears who it was. */
export function* takingBack(node: NodeRow, drivers: Drivers, now: number): Read<NodeRow> {
  if (node.protected) throw problem('node_protected', { node: called(node), action: 'undeployed' })
  const transition = transitionFor('deleted', 'active')!
  const to = endOf(transition, node)
  const work = workOf(node)
  if (work?.kind !== 'provision' || (node.provision_state !== 'deploying' && node.reservation === null)) {
    requireUnlocked(node)
    return yield* begun(node, { ...transition, to }, { args: {} }, drivers, now)
  }
  // A conductor is handing it over, and takes it back when that is done.
  const steps = ['deploy' as const, ...stepsOf(node, transition)]
  return { ...node, transition: jsonText({ ...work, verb: transition.verb, steps, to }), target_provision_state: to }
}
