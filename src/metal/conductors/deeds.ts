// What a conductor's work is called in the log.
import type { Outcome } from '../../audit/entry.ts'
import type { Deed } from '../../audit/witness.ts'
import type { Json } from '../../shared/json.ts'
import type { NodeRow } from '../nodes/rows.ts'
import { type Work, workOf } from '../nodes/transitions.ts'

export const deedOf = (node: NodeRow, outcome: Outcome): Deed => deedIn(workOf(node)!, outcome)

export const deedIn = (work: Work, outcome: Outcome): Deed => ({
  action: actionOf(work),
  outcome,
  request: work.request,
})

function actionOf(work: Work): string {
  if (work.kind === 'power') return 'power'
  return work.kind === 'call' ? work.question.name : `${work.verb}:${work.steps[work.step]}`
}

/** Facts about a task for the log. */
export function describe(work: Work): Json {
  if (work.kind === 'power') return { power: work.target }
  if (work.kind === 'call') return { question: work.question.name }
  return { verb: work.verb, step: work.steps[work.step] }
}
