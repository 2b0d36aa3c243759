// Takes work: locks the nodes whose work is due, for this conductor alone.
import { sql } from 'kysely'
import { databaseNow } from '../../clock/database-now.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { command, query, type Tools } from '../../store/statement.ts'
import { all, type Read, together, type Write } from '../../store/transaction.ts'
import { type NodeRow, noteNode } from '../nodes/rows.ts'

interface Taker {
  hostname: string
  incarnation: string
  group: string
  /** Only nodes with one of these drivers. */
  drivers: readonly string[]
  /** The nodes that this process works on already. */
  busy: readonly NodeId[]
  /** At most this many. */
  limit: number
}
type Seeker = Omit<Taker, 'hostname' | 'limit'>

/** Unlocked, or locked by this conductor without a task: the answer to taking it was lost, or the task was dropped. */
const isToTake = (a: Seeker, on: Tools) =>
  sql<boolean>`(lock_incarnation is null or lock_incarnation = ${a.incarnation})
    and not ${on.isIn('id', a.busy, 'bigint')}`

const takeDue = command((db, a: Taker, on) =>
  db
    .updateTable('nodes')
    .set(e => ({
      reservation: a.hostname,
      conductor: a.hostname,
      lock_incarnation: a.incarnation,
      lock_term: e('lock_term', '+', 1),
      revision: e('revision', '+', 1),
    }))
    .where(
      'id',
      'in',
      db
        .selectFrom('nodes')
        .select('id')
        .where('transition', 'is not', null)
        .where(isToTake(a, on))
        .where('due_at', '<=', databaseNow(on))
        .where('conductor_group', '=', a.group)
        .where(on.isIn('driver', a.drivers))
        .orderBy('due_at')
        .orderBy('id')
        .limit(sql<number>`cast(${a.limit} as bigint)`),
    )
    // Check again: another conductor may have taken the node since the subquery found it.
    .where(isToTake(a, on))
    .where('transition', 'is not', null)
    .where('due_at', '<=', databaseNow(on))
    // A conductor that others have given up gets nothing.
    .where(e =>
      e.exists(
        db.selectFrom('conductors').select('id').where('incarnation', '=', a.incarnation).where('online', '=', 1),
      ),
    )
    .returningAll(),
)
const nextDue = query((db, a: Seeker, on) =>
  db
    .selectFrom('nodes')
    .select(e => sql<number>`${e.ref('due_at')} - ${databaseNow(on)}`.as('ms'))
    .where('transition', 'is not', null)
    .where(isToTake(a, on))
    .where('conductor_group', '=', a.group)
    .where(on.isIn('driver', a.drivers))
    .orderBy('due_at')
    .limit(1),
)
const strayLocks = query((db, a: Pick<Seeker, 'incarnation' | 'busy'>, on) =>
  db
    .selectFrom('nodes')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('transition', 'is not', null)
    .where('lock_incarnation', '=', a.incarnation)
    .where(sql<boolean>`not ${on.isIn('id', a.busy, 'bigint')}`),
)
/** Locks nodes with work that is due. */
export function* takeWork(taker: Taker): Write<NodeRow[]> {
  const taken = yield* all(takeDue(taker))
  for (const node of taken) yield* noteNode(node)
  return taken
}

interface Ahead {
  /** Milliseconds until the next work is due; null when there is none. */
  ms: number | null
  /** How many locks the seeker has without a task. */
  stray: number
}

export function* workAhead(seeker: Seeker): Read<Ahead> {
  const [[next], [stray]] = yield* together(nextDue(seeker), strayLocks(seeker))
  return { ms: next?.ms ?? null, stray: stray!.count }
}
