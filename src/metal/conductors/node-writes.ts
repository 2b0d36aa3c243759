// A conductor's writes on nodes. Each transaction first checks that the lock is still this conductor's: a late
// conductor finds another incarnation or another term there, and changes nothing.
import type { Entry } from '../../audit/entry.ts'
import { noted } from '../../audit/record.ts'
import { EMPTY, jsonIn, jsonText, MEMBERS } from '../../shared/json.ts'
import type { HistoryLine } from '../../store/node-history.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Write } from '../../store/transaction.ts'
import { keptOn } from '../allocations/keeping.ts'
import { answerLocked } from '../calls/rows.ts'
import type { Done, Part, StepResult } from '../drivers/port.ts'
import { internalAfter } from './internal-info.ts'
import { keepBios } from '../nodes/bios.ts'
import { inspected, type Inspecting } from '../nodes/after-inspection.ts'
import { lockNodeById, type NodeRow, saveNode } from '../nodes/rows.ts'
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

/** The node under this lock. `isDone`: an earlier write, whose answer was lost, has ended this step already. */
export function* locked({ node: id, incarnation, term, step }: Turn): Write<{ node: NodeRow; isDone: boolean }> {
  const node = yield* lockNodeById(id)
  // Taking a lock and taking it over both raise its term. So a free lock of our term was released by us.
  if (!node || node.lock_term !== term || (node.lock_incarnation ?? incarnation) !== incarnation) throw new LockLost()
  return { node, isDone: node.lock_incarnation === null || stepOf(workOf(node)!) !== step }
}

/** The index of the current step. */
export const stepOf = (work: Work): number => (work.kind === 'provision' ? work.step : 0)

export const UNLOCKED = { reservation: null, lock_incarnation: null }
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
  const { traits } = jsonIn(instance_info, MEMBERS)
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

export function* fail(node: NodeRow, reason: string, now: number): Write<NodeRow> {
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
