// A conductor's writes on nodes. Each transaction first checks that the lock is still this conductor's: a late
// conductor finds another incarnation or another term there, and changes nothing.
import { sql } from 'kysely'
import type { Entry } from '../../audit/entry.ts'
import { noted } from '../../audit/record.ts'
import { EMPTY, jsonIn, jsonText } from '../../shared/json.ts'
import type { HistoryLine } from '../../store/node-history.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { command, query, type Tools } from '../../store/statement.ts'
import { all, mark, type Read, together, type Write } from '../../store/transaction.ts'
import { databaseNow } from '../../clock/database-now.ts'
import { conductorBecame, retireSilent, type Silence } from './rows.ts'
import { keptOn } from '../allocations/keeping.ts'
import { wordsOf } from '../calls/driver-asked.ts'
import { answerLocked } from '../calls/rows.ts'
import type { Done, Json, Part, StepResult } from '../drivers/port.ts'
import { internalAfter } from './internal-info.ts'
import { keepBios } from '../nodes/bios.ts'
import { inspected, type Inspecting } from '../nodes/after-inspection.ts'
import { ONCE } from '../drivers/questions.ts'
import { takenOver } from '../history/lines.ts'
import { AT_ONCE, lockNodeById, type NodeRow, saveNode } from '../nodes/rows.ts'
import { syncProvider, releaseInstance } from '../nodes/provider.ts'
import { STEPS, type StepName } from '../nodes/states.ts'
import { stateChange, type Work, workOf } from '../nodes/transitions.ts'

/** Which lock a conductor holds. */
interface Lock {
  node: NodeId
  incarnation: string
  term: number
}

/** A step under the lock: a repeated write must not end the next step too. */
export interface Turn extends Lock {
  step: number
}

/** Another conductor has taken over, so this one must not write. */
export class LockLost extends Error {}

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

/** Locks nodes with work that is due. */
export function* takeWork(taker: Taker): Write<NodeRow[]> {
  return yield* all(takeDue(taker))
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

/** The node under this lock. `isDone`: an earlier write, whose answer was lost, has ended this step already. */
export function* locked({ node: id, incarnation, term, step }: Turn): Write<{ node: NodeRow; isDone: boolean }> {
  const node = yield* lockNodeById(id)
  // Taking a lock and taking it over both raise its term. So a free lock of our term was released by us.
  if (!node || node.lock_term !== term || (node.lock_incarnation ?? incarnation) !== incarnation) throw new LockLost()
  return { node, isDone: node.lock_incarnation === null || stepOf(workOf(node)!) !== step }
}

/** The index of the current step. */
export const stepOf = (work: Work): number => (work.kind === 'provision' ? work.step : 0)

const UNLOCKED = { reservation: null, lock_incarnation: null }
export const SETTLED = {
  ...UNLOCKED,
  transition: null,
  due_at: null,
  target_provision_state: null,
  target_power_state: null,
}

/** Goes on to the next step, or ends the work. Returns the changed node, which stays locked if work is left. */
export function* stepDone(turn: Turn, found: Done, inspecting: Inspecting): Write<NodeRow> {
  const { now } = inspecting
  const { node, isDone } = yield* locked(turn)
  if (isDone) return node
  const work = workOf(node)!
  const learned = {
    ...(found.powerState && { power_state: found.powerState }),
    ...(found.bootMode && { boot_mode: found.bootMode }),
    ...(found.raidConfig && { raid_config: jsonText(found.raidConfig) }),
    driver_internal_info: internalAfter(node, work, found.internal),
  }
  if (found.bios) yield* keepBios(node.id, found.bios, now)
  if (work.kind !== 'provision') return yield* save(node, { ...node, ...learned, ...SETTLED, updated_at: now }, now)
  const step = work.steps[work.step]!
  // A leased node stays with its project, which may deploy again until the lease ends; a kept one with its keeper.
  const stays = step === 'tearDown' && (node.leased_to !== null || (yield* keptOn(node.id, now)) !== null)
  if (step === 'tearDown' && node.instance_uuid !== null && !stays)
    yield* releaseInstance(node, node.instance_uuid, 'torn_down', now)
  const { changes, traits } =
    step === 'inspect'
      ? yield* inspected(node, found, inspecting)
      : { changes: effectsOf(step, node, stays), traits: undefined }
  const next = work.steps[work.step + 1]
  const after: NodeRow = {
    ...node,
    ...learned,
    ...changes,
    ...stateChange(node, next ? STEPS[next].during : work.to, now),
    ...(next
      ? { transition: jsonText({ ...work, step: work.step + 1, resumed: false, part: 0, found: {} }) }
      : SETTLED),
    updated_at: now,
  }
  return yield* save(node, after, now, traits)
}

/** What a finished step changes in the node. */
function effectsOf(step: StepName, node: NodeRow, stays: boolean): Partial<NodeRow> {
  switch (step) {
    case 'tearDown':
      return { ...tornDown(node, stays), deploy_step: EMPTY, leftover: 0 }
    case 'clean':
      return { clean_step: EMPTY }
    case 'deploy':
      return { deploy_step: EMPTY }
    default:
      return {}
  }
}

function tornDown({ instance_info }: NodeRow, stays: boolean): Partial<NodeRow> {
  if (!stays) return { instance_info: EMPTY, instance_uuid: null }
  const { traits } = jsonIn(instance_info)
  return { instance_info: jsonText({ traits }) }
}

type Waiting = Extract<StepResult, { kind: 'waiting' }>

/** The machine works by itself: unlocks the node, in the waiting state, to be checked again after `ms`. */
export function* stepWaits(turn: Turn, { ms, callsBack }: Waiting, inspecting: Inspecting): Write<NodeRow> {
  const { now } = inspecting
  const { node, isDone } = yield* locked(turn)
  if (isDone) return node
  const work = workOf(node)!
  if (work.kind !== 'provision') return yield* fail(node, 'The driver left it undecided.', now)
  // Whoever it was for has given it back meanwhile, so nobody waits for it.
  if (work.verb === 'deleted' && work.steps[work.step] === 'deploy') return yield* stepDone(turn, {}, inspecting)
  const step = STEPS[work.steps[work.step]!]
  const after: NodeRow = {
    ...node,
    ...stateChange(node, step.waiting ?? step.during, now),
    ...UNLOCKED,
    transition: jsonText({ ...work, resumed: true, ...(callsBack && { callBackBy: now + ms }) }),
    due_at: now + ms,
    updated_at: now,
  }
  return yield* save(node, after, now)
}

interface Begun extends Part {
  /** By the parts before it. */
  found: Done
}

/** Writes down which part of the step begins, where people and the next conductor find it. */
export function* partBegins(turn: Turn, index: number, { found, ...part }: Begun, now: number): Write<void> {
  const { node, isDone } = yield* locked(turn)
  const work = workOf(node)
  if (isDone || !work || work.kind === 'call') throw new LockLost()
  const step = work.kind === 'power' ? null : work.steps[work.step]!
  const shown = jsonText({ ...part, priority: part.priority ?? 0 })
  const field = step === 'clean' ? { clean_step: shown } : step === 'deploy' ? { deploy_step: shown } : {}
  const after = { ...node, ...field, transition: jsonText({ ...work, part: index, found }), updated_at: now }
  yield* saveNode(node, after)
}

/** A line in the history about the step. Late ones of a conductor that was given up are not written. */
export function* noteStep(turn: Turn, line: Omit<HistoryLine, 'node' | 'type'>, entry: Entry): Write<void> {
  const { node } = yield* locked(turn)
  yield* noted({ ...line, node: node.uuid, type: 'hook' }, entry)
}

/** Puts a node from the waiting state back into the busy state of its step. */
export function* stepResumes(turn: Turn, now: number): Write<NodeRow> {
  const { node, isDone } = yield* locked(turn)
  const work = workOf(node)
  if (isDone || work?.kind !== 'provision' || !work.resumed) return node
  const during = STEPS[work.steps[work.step]!].during
  return yield* save(node, { ...node, ...stateChange(node, during, now), updated_at: now }, now)
}

export function* stepFailed(turn: Turn, reason: string, now: number): Write<NodeRow> {
  const { node, isDone } = yield* locked(turn)
  return isDone ? node : yield* fail(node, reason, now)
}

function* fail(node: NodeRow, reason: string, now: number): Write<NodeRow> {
  const work = workOf(node)!
  if (work.kind === 'call') yield* answerLocked(work.call, { failure: reason })
  return yield* save(node, failed(node, reason, now), now)
}

function failed(node: NodeRow, reason: string, now: number): NodeRow {
  const work = workOf(node)!
  const after = { ...node, ...SETTLED, last_error: reason, updated_at: now }
  if (work.kind === 'call' && work.isAwaited) return { ...after, last_error: node.last_error }
  if (work.kind !== 'provision') return after
  return { ...after, ...stateChange(node, STEPS[work.steps[work.step]!].failed, now) }
}

export function* save(before: NodeRow, after: NodeRow, now: number, traits?: readonly string[]): Write<NodeRow> {
  yield* saveNode(before, after)
  yield* syncProvider(after, now, traits)
  return after
}

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

/** Facts about a task for the log. */
export function describe(work: Work): Json {
  if (work.kind === 'power') return { power: work.target }
  if (work.kind === 'call') return { question: work.question.name }
  return { verb: work.verb, step: work.steps[work.step] }
}
