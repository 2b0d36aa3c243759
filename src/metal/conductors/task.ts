// What a driver is told to do, from the work that a node's row holds.
import type { Task } from '../drivers/port.ts'
import type { Work } from '../nodes/transitions.ts'

/** `attempt` stays the same when another conductor goes on with the work. */
export function taskOf({ uuid }: { uuid: string }, work: Exclude<Work, { kind: 'call' }>): Task {
  const { args, attempt } = work
  const step = work.kind === 'power' ? work.target : work.steps[work.step]!
  const [resumed, holder] = work.kind === 'power' ? [false, null] : [work.resumed, work.holder ?? null]
  return { step, args, resumed, holder, attempt: `${uuid}.${attempt ?? 0}.${step.replaceAll(' ', '-')}` }
}
