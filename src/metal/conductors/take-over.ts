// Takes over from dead conductors: their work goes on, or has failed.
import { isReadable } from '../../shared/json.ts'
import { WORK } from '../../store/schema/json-columns.ts'
import { wordsOf } from '../calls/driver-asked.ts'
import { ONCE } from '../drivers/questions.ts'
import { takenOver } from '../history/lines.ts'
import { AT_ONCE, type NodeRow, saveNode } from '../nodes/rows.ts'
import { STEPS } from '../nodes/states.ts'
import { type Work, workOf } from '../nodes/transitions.ts'
import { command } from '../../store/statement.ts'
import { all, mark, type Write } from '../../store/transaction.ts'
import { fail, UNLOCKED } from './node-writes.ts'
import { conductorBecame, retireSilent, type Silence } from './rows.ts'

const lockOrphans = command((db, _: object, on) =>
  on.lock(
    db
      .selectFrom('nodes')
      .selectAll()
      .where('lock_incarnation', 'is not', null)
      .where('lock_incarnation', 'not in', db.selectFrom('conductors').select('incarnation').where('online', '=', 1))
      .orderBy('id'),
  ),
)

interface TakeOver {
  silent: string[]
  resumed: number
  failed: number
}

/** Releases the locks of dead conductors. Depending on the step, their work goes to another conductor or has failed. */
export function* takeOver(timing: Silence, by: string, now: number): Write<TakeOver> {
  const silent = yield* retireSilent(timing)
  let [resumed, failures] = [0, 0]
  const nodesOf = new Map<string, number>()
  for (const node of yield* all(lockOrphans({}))) {
    // Nobody knows what was under way: it stays as it is, for a person.
    if (!isReadable(node.transition!, WORK)) continue
    const work = workOf(node)!
    nodesOf.set(node.reservation!, (nodesOf.get(node.reservation!) ?? 0) + 1)
    // The term grows here too: the old conductor's next write must not find its own lock.
    const term = { lock_term: node.lock_term + 1 }
    if (resumes(work)) {
      yield* saveNode(node, { ...node, ...UNLOCKED, ...term, due_at: AT_ONCE })
      yield* mark({ kind: 'node', id: node.uuid, history: takenOver(node) })
      resumed++
    } else {
      yield* fail({ ...node, ...term }, deathOf(node, work), now)
      failures++
    }
  }
  yield* mark(...[...nodesOf].map(([name, nodes]) => conductorBecame(name, 'taken_over', { taken_by: by, nodes })))
  return { silent, resumed, failed: failures }
}

function deathOf({ reservation, provision_state }: NodeRow, work: Work): string {
  if (work.kind !== 'call') return `Conductor ${reservation} died while the node was ${provision_state}.`
  return `Conductor ${reservation} died at "${wordsOf(work.question)}"; nobody knows whether it was done.`
}

/** Switching power and small changes are safe to repeat; for steps, the table of steps and the driver decide. */
function resumes(work: Work): boolean {
  if (work.kind === 'power') return true
  if (work.kind === 'call') return !ONCE.has(work.question.name)
  const step = work.steps[work.step]!
  return STEPS[step].onTakeOver === 'resume' || (work.resumable ?? []).includes(step)
}
