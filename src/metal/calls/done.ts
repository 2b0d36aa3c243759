// What a conductor writes when a machine has been changed as asked: the answer and its effect, in one transaction.
import type { Write } from '../../store/transaction.ts'
import { withInternal } from '../conductors/internal-info.ts'
import { locked, save, SETTLED, type Turn } from '../conductors/node-writes.ts'
import type { Json } from '../drivers/port.ts'
import type { Answer, Question } from '../drivers/questions.ts'
import type { NodeRow } from '../nodes/rows.ts'
import { workOf } from '../nodes/transitions.ts'
import { answerLocked } from './rows.ts'

export function* callDone(turn: Turn, answer: Answer, now: number): Write<NodeRow> {
  const { node, isDone } = yield* locked(turn)
  const work = workOf(node)
  if (isDone || work?.kind !== 'call') return node
  yield* answerLocked(work.call, { answer })
  const after = { ...node, ...effectOf(work.question, answer, node), ...SETTLED, updated_at: now }
  return yield* save(node, work.isAwaited ? after : { ...after, last_error: null }, now)
}

/** What the node's row says from now on. */
function effectOf(question: Question, answer: Answer, node: NodeRow): Partial<NodeRow> {
  if (question.name === 'vendor') return {}
  const { internal } = answer as { internal?: Json }
  return {
    ...(internal && { driver_internal_info: withInternal(node, internal) }),
    ...(question.name === 'set_boot_mode' && { boot_mode: question.args.boot_mode }),
    ...(question.name === 'set_secure_boot' && { secure_boot: question.args.secure_boot ? 1 : 0 }),
  }
}
