// Questions that change the machine: work under the node's lock, so nobody else is at the machine meanwhile, and another
// conductor goes on when the first one dies.
import { problem } from '../../problems/problem.ts'
import { jsonText } from '../../shared/json.ts'
import type { CallId } from '../../store/schema/ids.ts'
import { wake, type Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import { called } from '../called.ts'
import { requireLiveConductor } from '../conductors/rows.ts'
import type { Question } from '../drivers/questions.ts'
import { AT_ONCE, lockNode, requireUnlocked, saveNode } from '../nodes/rows.ts'
import type { Work } from '../nodes/transitions.ts'
import { wordsOf } from './driver-asked.ts'
import { addCall } from './rows.ts'

interface Change {
  ident: string
  access: Access
  request?: string | undefined
  ms: number
  silentMs: number
  /** Else a failure is the node's last_error. */
  isAwaited: boolean
}

/** Writes the change down as work. Refused while the node has other work. */
export function* startCall(question: Question, change: Change): Write<{ id: CallId; node: string }> {
  const { ident, access, request, ms, silentMs, isAwaited } = change
  const node = yield* lockNode(ident, access)
  requireUnlocked(node)
  if (node.transition !== null) {
    throw problem('node_refuses', {
      reason: `Node ${called(node)} can not be asked to ${wordsOf(question)} while it is in state ${node.provision_state}.`,
    })
  }
  yield* requireLiveConductor(node.driver, node.conductor_group, silentMs)
  const id = yield* addCall(node.id, question, ms)
  const work: Work = { kind: 'call', call: id, question, isAwaited, ...(request && { request }) }
  yield* saveNode(node, { ...node, transition: jsonText(work), due_at: AT_ONCE })
  yield* wake('nodes')
  return { id, node: called(node) }
}
