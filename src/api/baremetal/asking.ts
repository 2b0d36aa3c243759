// Asks the machine of the node that the path names.
import type { AnswerTo, QuestionName, QuestionOf } from '../../metal/drivers/questions.ts'
import { nodeIdent } from './nodes.ts'
import type { MetalRequest } from './request.ts'

const askedBy = (request: MetalRequest) => ({
  store: request.context.store,
  node: nodeIdent(request),
  access: request.access(),
  request: request.id,
})

/** The machine's answer; a failure is a problem with its reason. What changes the machine is done under its lock. */
export const askMachine = <Name extends QuestionName>(
  request: MetalRequest,
  question: QuestionOf<Name>,
): Promise<AnswerTo<Name>> => request.context.calls.ask(question, askedBy(request))

/** Has the machine changed, and doesn't wait for it. A failure is the node's last_error. */
export const orderOfMachine = (
  request: MetalRequest,
  question: QuestionOf<'set_boot_mode'> | QuestionOf<'set_secure_boot'>,
): Promise<void> => request.context.calls.order(question, askedBy(request))
