// Starts verbs of the state machine and power changes. Each is checked, then saved as work for a conductor, or done at
// once where no hardware is involved.
import { problem } from '../../problems/problem.ts'
import { jsonIn, jsonText, MEMBERS } from '../../shared/json.ts'
import { WORK } from '../../store/schema/json-columns.ts'
import { type Read, type Write, wake } from '../../store/transaction.ts'
import { type Access, isSeen } from '../access.ts'
import { requireConductor } from '../conductors/rows.ts'
import type { Done, Driver, Holder, Json, PowerTarget, WantedStep } from '../drivers/port.ts'
import type { CallId } from '../../store/schema/ids.ts'
import type { Question } from '../drivers/questions.ts'
import type { Drivers } from '../drivers/registry.ts'
import { withoutAgent } from './agent-info.ts'
import { AT_ONCE, lockNode, type NodeRow, requireUnlocked, saveNode } from './rows.ts'
import { holdOn } from '../holds/lookup.ts'
import { claimInstance, heldBy, holderOf, syncProvider, type Principal, requireNotRetired } from './provider.ts'
import {
  endOf,
  type Stable,
  type State,
  STEPS,
  type StepName,
  type Transition,
  transitionFor,
  type Verb,
} from './states.ts'
import { holderIn } from './holder.ts'
import { deployStepsOf, machineOf, requireDeployable, stepProblem } from './validation.ts'
import { called } from '../called.ts'

/** Work on a node, saved for the conductor that takes it. */
export type Work =
  | {
      kind: 'provision'
      verb: Verb
      steps: readonly StepName[]
      /** The index of the current step. */
      step: number
      to: Stable
      /** The machine has been in the waiting state of this step. */
      resumed: boolean
      /** The machine must call back until then, or the step has failed. */
      callBackBy?: number
      /** The part of the step that was begun last, and what those before it found out. */
      part?: number
      found?: Done
      /** Steps that another conductor may finish with this driver. */
      resumable?: readonly StepName[]
      /** Tells it from other work on this node; the same for whoever goes on with it. */
      attempt?: number
      /** For drivers that hand machines over: who has it, or had it. */
      holder?: Holder
      args: Json
      /** The request that asked for it. */
      request?: string
    }
  | {
      kind: 'power'
      target: PowerTarget
      part?: number
      found?: Done
      attempt?: number
      args: Json
      request?: string
    }
  | {
      kind: 'call'
      call: CallId
      question: Question
      /** Someone waits for the answer. Else a failure is the node's last_error. */
      isAwaited: boolean
      request?: string
    }

export const workOf = ({ transition }: NodeRow): Work | null =>
  transition === null ? null : (jsonIn(transition, WORK) as Work)

export interface Order {
  verb: Verb
  /** As the client spelled it. */
  word: string
  args: Json
  /** The hold that the client names as proof that the node is held for it. */
  reservation: string | null
  /** Throws unless the client may see a hold of this project. */
  permitHold?: Access['permit']
  who: Principal
  request?: string
}

/** Starts a verb, or makes the change at once if no hardware is involved. Returns whether a conductor has work. */
export function* startVerb(ident: string, access: Access, order: Order, drivers: Drivers, now: number): Write<boolean> {
  const node = yield* lockNode(ident, access)
  requireUnlocked(node)
  const found = transitionFor(order.verb, node.provision_state)
  if (!found) {
    throw problem('verb_refused', { verb: order.word, node: called(node), state: node.provision_state })
  }
  const transition = { ...found, to: endOf(found, node) }
  yield* requireAllowed(node, order, now)
  if (order.verb === 'active' || order.verb === 'rebuild')
    yield* requireDeployable({ ...node, ...givenWith(order.args, node) }, drivers)
  const args = yield* withSteps(node, order, drivers)
  const ours = yield* redeemed(node, order, access, now)
  const steps = stepsOf(node, transition)
  const after =
    steps.length === 0
      ? settled(ours, transition, now)
      : yield* begun(ours, transition, { ...order, args }, drivers, now)
  if (steps.length > 0) yield* requireConductor(node.driver, node.conductor_group)
  yield* saveNode(node, after)
  yield* syncProvider(after, now)
  if (steps.length > 0) yield* wake('nodes')
  return steps.length > 0
}

/** If the client names the hold, gives the node to the held instance: the claim replaces the hold. */
function* redeemed<N extends NodeRow>(node: N, order: Order, { view }: Access, now: number): Write<N> {
  const { reservation, who } = order
  const hold = yield* holdOn(node.id, now)
  if (!hold) {
    if (reservation === null) return node
    throw problem('node_refuses', { reason: `Node ${called(node)} is not reserved by it.` })
  }
  if (hold.uuid !== reservation || !isSeen(hold.owner, view)) throw heldBy(node, hold, view)
  order.permitHold?.({ project: hold.owner })
  yield* claimInstance(node, hold.instance_uuid, { ...who, project: hold.owner ?? who.project, view }, now)
  return { ...node, instance_uuid: hold.instance_uuid }
}

/** The arguments of the verb, with all steps that its work has; refused if the driver can't do one of them. */
function* withSteps(node: NodeRow, { verb, args }: Order, drivers: Drivers): Read<Json> {
  const { clean_steps: clean, deploy_steps: given = [], ...others } = args
  const isDeploying = verb === 'active' || verb === 'rebuild'
  if (!isDeploying && clean === undefined) return args
  const machine = machineOf(node)
  const steps = isDeploying ? yield* deployStepsOf(machine, given as WantedStep[]) : (clean as WantedStep[])
  const wrong = stepProblem(driverOf(node, drivers), machine, isDeploying ? 'deploy' : 'clean', steps)
  if (wrong) throw problem('invalid_parameter', { reason: wrong })
  if (!isDeploying) return args
  return steps.length > 0 ? { ...others, deploy_steps: steps } : others
}

/** Verbs that end with a machine on the node. */
const INSTALLING: ReadonlySet<Verb> = new Set<Verb>(['active', 'adopt', 'rebuild'])

function* requireAllowed(node: NodeRow, { verb, word }: Order, now: number): Write<void> {
  const name = called(node)
  if (node.maintenance) {
    throw problem('invalid_parameter', {
      reason: `The ${word} operation can't be performed on node ${name} because it's in maintenance mode.`,
    })
  }
  if (node.protected && (verb === 'deleted' || verb === 'rebuild')) {
    throw problem('node_protected', { node: name, action: verb === 'deleted' ? 'undeployed' : 'rebuilt' })
  }
  if (node.retired && verb === 'provide') {
    throw problem('node_refuses', { reason: `Node ${name} is retired and can not be made available.` })
  }
  if (verb === 'active' && node.provision_state === 'available') requireNotRetired(node)
  if (node.instance_uuid !== null || !INSTALLING.has(verb) || (yield* holdOn(node.id, now))) return
  // Without an instance nobody would end the deployment, and a lease would wait for the node for ever.
  if (node.leasable) {
    throw problem('node_refuses', {
      reason: `Node ${name} is enrolled for leasing and has no instance: only whoever has it may have it deployed.`,
    })
  }
  if (verb === 'active') {
    const holder = yield* holderOf(node, now)
    if (holder) {
      throw problem('node_refuses', {
        reason: `Node ${name} is claimed by consumer ${holder}; set instance_uuid to that to deploy it.`,
      })
    }
  }
}

/** Automatic cleaning can be switched off; an explicit `clean` can't. */
export function stepsOf({ automated_clean }: NodeRow, { verb, steps }: Transition): readonly StepName[] {
  return verb !== 'clean' && automated_clean === 0 ? steps.filter(step => step !== 'clean') : steps
}

function settled<N extends NodeRow>(node: N, { verb, to }: Transition, now: number): N {
  return {
    ...node,
    ...stateChange(node, to, now),
    target_provision_state: null,
    last_error: verb === 'abort' ? `${node.provision_state} was aborted by request.` : null,
    transition: null,
    due_at: null,
    updated_at: now,
  }
}

/** The node with this work before it. */
export function* begun<N extends NodeRow>(
  node: N,
  transition: Transition,
  { args, request }: Pick<Order, 'args' | 'request'>,
  drivers: Drivers,
  now: number,
): Read<N> {
  const { verb, to } = transition
  const steps = stepsOf(node, transition)
  const driver = driverOf(node, drivers)
  const { resumable } = driver
  const holder = driver.handsOver ? yield* holderIn(node) : null
  const work: Work = {
    kind: 'provision',
    verb,
    steps,
    step: 0,
    to,
    resumed: false,
    // Each change of the node raises its revision.
    attempt: node.revision,
    args,
    ...(holder && { holder }),
    ...(resumable.length > 0 && { resumable }),
    ...(request && { request }),
  }
  return {
    ...node,
    ...stateChange(node, STEPS[steps[0]!].during, now),
    target_provision_state: to,
    last_error: null,
    ...(steps[0] === 'inspect' && { inspection_started_at: now, inspection_finished_at: null }),
    ...givenWith(args, node),
    driver_internal_info: withoutAgent(node.driver_internal_info),
    transition: jsonText(work),
    due_at: AT_ONCE,
    updated_at: now,
  }
}

/** What the arguments of a verb change in the node. */
const givenWith = ({ configdrive }: Json, { instance_info }: NodeRow) =>
  configdrive === undefined ? {} : { instance_info: jsonText({ ...jsonIn(instance_info, MEMBERS), configdrive }) }

export const stateChange = (node: NodeRow, state: State, now: number) => ({
  provision_state: state,
  provision_updated_at: state === node.provision_state ? node.provision_updated_at : now,
})

interface PowerOrder {
  target: PowerTarget
  args: Json
  request?: string
}

/** Requests a power change. Refused while the node has other work. */
export function* startPower(ident: string, access: Access, order: PowerOrder, now: number): Write<void> {
  const node = yield* lockNode(ident, access)
  requireUnlocked(node)
  if (node.transition !== null) {
    throw problem('node_refuses', {
      reason: `Node ${called(node)} can not change its power while it is in state ${node.provision_state}.`,
    })
  }
  yield* requireConductor(node.driver, node.conductor_group)
  const { target } = order
  const work: Work = { kind: 'power', ...order, attempt: node.revision }
  yield* saveNode(node, {
    ...node,
    target_power_state: target.endsWith('power off') ? 'power off' : 'power on',
    last_error: null,
    transition: jsonText(work),
    due_at: AT_ONCE,
    updated_at: now,
  })
  yield* wake('nodes')
}

export function driverOf({ driver }: NodeRow, drivers: Drivers): Driver {
  const found = drivers.get(driver)
  if (!found) throw problem('metal_not_found', { what: 'Driver', name: driver })
  return found
}
