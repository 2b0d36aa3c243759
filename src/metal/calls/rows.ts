// The rows of questions to machines. All times are the database's, so all processes agree.
import { sql } from 'kysely'
import { databaseNow } from '../../clock/database-now.ts'
import { limits } from '../../shared/limits.ts'
import { DOCUMENT, isReadable, jsonIn, jsonText, type JsonText, MEMBERS } from '../../shared/json.ts'
import type { CallId, NodeId } from '../../store/schema/ids.ts'
import { command, query, type Tools } from '../../store/statement.ts'
import { all, one, type Read, run, wake, type Write } from '../../store/transaction.ts'
import { CHANGING, type Answer, type Question } from '../drivers/questions.ts'
import { type Node, nodesOf } from '../nodes/rows.ts'

interface NewCall {
  node: NodeId
  question: string
  args: JsonText<object>
  ms: number
}
const insertCall = command((db, a: NewCall, on) =>
  db
    .insertInto('calls')
    .values({
      node_id: a.node,
      question: a.question,
      args: a.args,
      expires_at: sql<number>`${databaseNow(on)} + cast(${a.ms} as bigint)`,
    })
    .returning('id'),
)
const openOfNode = query((db, a: { node: NodeId }, on) =>
  db
    .selectFrom('calls')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('node_id', '=', a.node)
    .where('answered_at', 'is', null)
    .where('expires_at', '>', databaseNow(on)),
)

interface Taker {
  incarnation: string
  group: string
  /** Only nodes with one of these drivers. */
  drivers: readonly string[]
  /** The calls that this process answers already. */
  busy: readonly CallId[]
  /** At most this many. */
  limit: number
}

/** What changes the machine is done under the node's lock, by whoever has it. */
const IS_READING = sql.raw(`question not in (${[...CHANGING].map(name => `'${name}'`).join(', ')})`)
const isOpen = (on: Tools) => sql<boolean>`answered_at is null and ${IS_READING} and expires_at > ${databaseNow(on)}`
/** Nobody answers it, or one who is gone does, or this one has forgotten that it took it. */
const isFree = (a: Pick<Taker, 'incarnation' | 'busy'>, on: Tools) =>
  sql<boolean>`(incarnation is null or incarnation = ${a.incarnation}
    or incarnation not in (select incarnation from conductors where online = 1))
    and not ${on.isIn('id', a.busy, 'bigint')}`

/** Of each machine the oldest question, if nobody answers it. */
const toTake = (a: Omit<Taker, 'limit'>, on: Tools) =>
  sql<boolean>`${isOpen(on)} and ${isFree(a, on)}
    and id in (select min(id) from calls where ${isOpen(on)} group by node_id)
    and exists (select 1 from nodes as n where n.id = calls.node_id
      and n.conductor_group = ${a.group} and ${on.isIn('n.driver', a.drivers)})`

const anyToTake = query((db, a: Omit<Taker, 'limit'>, on) =>
  db.selectFrom('calls').select('id').where(toTake(a, on)).limit(1),
)
const takeOpen = command((db, a: Taker, on) =>
  db
    .updateTable('calls')
    .set({ incarnation: a.incarnation })
    .where(
      'id',
      'in',
      db
        .selectFrom('calls')
        .select('id')
        .where(toTake(a, on))
        .orderBy('id')
        .limit(sql<number>`cast(${a.limit} as bigint)`),
    )
    // Check again: another conductor may have taken or answered it since the subquery found it.
    .where('answered_at', 'is', null)
    .where(isFree(a, on))
    // A conductor that others have given up gets nothing.
    .where(e =>
      e.exists(
        db
          .selectFrom('conductors as k')
          .select('k.id')
          .where('k.incarnation', '=', a.incarnation)
          .where('k.online', '=', 1),
      ),
    )
    .returning(['id', 'node_id', 'question', 'args'])
    .returning(sql<number>`expires_at - ${databaseNow(on)}`.as('ms')),
)
const msLeftOf = query((db, a: { id: CallId }, on) =>
  db
    .selectFrom('calls')
    .select(sql<number>`expires_at - ${databaseNow(on)}`.as('ms'))
    .where('id', '=', a.id),
)

interface Settled {
  id: CallId
  answer: JsonText<object> | null
  failure: string | null
}
const settleTaken = command((db, a: Settled & { incarnation: string }, on) =>
  db
    .updateTable('calls')
    .set({ answer: a.answer, failure: a.failure, answered_at: databaseNow(on) })
    .where('id', '=', a.id)
    .where('answered_at', 'is', null)
    .where('incarnation', '=', a.incarnation),
)
const settleLocked = command((db, a: Settled, on) =>
  db
    .updateTable('calls')
    .set({ answer: a.answer, failure: a.failure, answered_at: databaseNow(on) })
    .where('id', '=', a.id)
    .where('answered_at', 'is', null),
)
const callsAmong = query((db, a: { ids: readonly CallId[] }, on) =>
  db
    .selectFrom('calls')
    .select(['id', 'answered_at', 'answer', 'failure'])
    .where(on.isIn('id', a.ids, 'bigint')),
)
const anyOld = query((db, a: { keepMs: number }, on) =>
  db
    .selectFrom('calls')
    .select('id')
    .where(e => sql<boolean>`${e.ref('expires_at')} < ${databaseNow(on)} - cast(${a.keepMs} as bigint)`)
    .limit(1),
)
const dropOld = command((db, a: { keepMs: number }, on) =>
  db
    .deleteFrom('calls')
    .where(e => sql<boolean>`${e.ref('expires_at')} < ${databaseNow(on)} - cast(${a.keepMs} as bigint)`),
)

export type CallAnswer = { answer: Answer } | { failure: string }

const textsOf = (given: CallAnswer) =>
  'failure' in given
    ? { answer: null, failure: given.failure.slice(0, limits.callFailureCharsMax) }
    : { answer: jsonText<object>(given.answer), failure: null }

export function* addCall(node: NodeId, { name, args }: Question, ms: number): Write<CallId> {
  return (yield* one(insertCall({ node, question: name, args: jsonText<object>(args), ms })))!.id
}

/** How many questions to this machine are without an answer. */
export function* openCalls(node: NodeId): Read<number> {
  return (yield* one(openOfNode({ node })))!.count
}

export interface Taken {
  id: CallId
  node: Node
  question: Question
  /** Until whoever asked gives up. */
  ms: number
}

export function* isAnyToTake(taker: Omit<Taker, 'limit'>): Read<boolean> {
  return (yield* one(anyToTake(taker))) !== undefined
}

const UNREADABLE = 'Its row in the database is damaged.'

/** Takes questions that nobody answers, at most one of each machine. */
export function* takeCalls(taker: Taker): Write<Taken[]> {
  const rows = yield* all(takeOpen(taker))
  const nodes = new Map((yield* nodesOf(rows.map(row => row.node_id))).map(node => [node.id, node]))
  for (const { id } of rows.filter(row => !isReadable(row.args, MEMBERS))) {
    yield* answerTaken(id, taker.incarnation, { failure: UNREADABLE })
  }
  return rows.flatMap(({ id, node_id, question, args, ms }) => {
    if (!isReadable(args, MEMBERS)) return []
    const node = nodes.get(node_id)
    return node ? [{ id, node, question: { name: question, args: jsonIn(args, MEMBERS) } as Question, ms }] : []
  })
}

/** Until whoever asked gives up; 0 when it has. */
export function* msLeft(id: CallId): Read<number> {
  return Math.max(0, (yield* one(msLeftOf({ id })))?.ms ?? 0)
}

/** Answers a question that this conductor took. False when another has it now. */
export function* answerTaken(id: CallId, incarnation: string, given: CallAnswer): Write<boolean> {
  const isOurs = (yield* run(settleTaken({ id, incarnation, ...textsOf(given) }))) > 0
  if (isOurs) yield* wake('answers')
  return isOurs
}

/** Answers a question under the lock of its node. */
export function* answerLocked(id: CallId, given: CallAnswer): Write<void> {
  if ((yield* run(settleLocked({ id, ...textsOf(given) }))) > 0) yield* wake('answers')
}

/** What became of these questions: `open` still, or `gone` with their node, or the answer. */
export function* answersTo(ids: readonly CallId[]): Read<Map<CallId, CallAnswer | 'open' | 'gone'>> {
  const rows = new Map((yield* all(callsAmong({ ids }))).map(row => [row.id, row]))
  const stateOf = (id: CallId) => {
    const row = rows.get(id)
    if (!row) return 'gone'
    if (row.answered_at === null) return 'open'
    if (row.failure !== null) return { failure: row.failure }
    return isReadable(row.answer!, DOCUMENT) ? { answer: jsonIn(row.answer!, DOCUMENT) } : { failure: UNREADABLE }
  }
  return new Map(ids.map(id => [id, stateOf(id)]))
}

export function* areAnyOld(keepMs: number): Read<boolean> {
  return (yield* one(anyOld({ keepMs }))) !== undefined
}

export function* sweepCalls(keepMs: number): Write<number> {
  return yield* run(dropOld({ keepMs }))
}
