// Steps that clients want in a deployment or a cleaning: how they are read, put together and put in order.
import { problem } from '../../problems/problem.ts'
import { isObject } from '../../shared/is-object.ts'
import { limits } from '../../shared/limits.ts'
import type { Json, WantedStep } from '../drivers/port.ts'

/** The interfaces that have steps. Of steps with the same priority, those of the first come first. */
export const STEP_INTERFACES = ['vendor', 'power', 'management', 'deploy', 'bios', 'raid'] as const
type StepInterface = (typeof STEP_INTERFACES)[number]

const refuse = (reason: string) => problem('invalid_parameter', { reason })
const MEMBERS: ReadonlySet<string> = new Set(['interface', 'step', 'args', 'priority'])
export const PRIORITY_MAX = 1_000_000

/** Reads the steps of a deployment: each has a priority, and no two are the same. `what` names them in a refusal. */
export function deployStepsIn(value: unknown, what: string): WantedStep[] {
  const steps = listIn(value, what).map(step => stepIn(step, what, priorityIn(step['priority'], what)))
  const seen = new Set<string>()
  for (const step of steps) {
    if (seen.has(nameOf(step))) throw refuse(`${what}: the step ${nameOf(step)} is there twice.`)
    seen.add(nameOf(step))
  }
  return steps
}

/** Reads the steps of a cleaning, which are done in this order. */
export function cleanStepsIn(value: unknown, what: string): WantedStep[] {
  return listIn(value, what).map(step => {
    if (step['priority'] !== undefined) throw refuse(`${what}: clean steps are done in their order, without priority.`)
    return stepIn(step, what, 0)
  })
}

function listIn(value: unknown, what: string): Json[] {
  if (!Array.isArray(value) || !value.every(isObject)) throw refuse(`${what} must be a list of steps.`)
  if (value.length > limits.stepsMax) throw refuse(`${what} has at most ${limits.stepsMax} steps.`)
  if (JSON.stringify(value).length > limits.nodeJsonBytesMax) throw refuse(`${what} is too large.`)
  return value
}

function stepIn(given: Json, what: string, priority: number): WantedStep {
  const unknown = Object.keys(given).find(name => !MEMBERS.has(name))
  if (unknown !== undefined)
    throw refuse(`${what}: a step has no member ${unknown.slice(0, 100)}, only ${[...MEMBERS].join(', ')}.`)
  const { interface: name, step, args = {} } = given
  if (!(STEP_INTERFACES as readonly unknown[]).includes(name)) {
    throw refuse(`${what}: the interface of a step is one of ${STEP_INTERFACES.join(', ')}.`)
  }
  if (typeof step !== 'string' || step === '' || step.length > 255) {
    throw refuse(`${what}: a step needs the name of the step, with at most 255 characters.`)
  }
  if (!isObject(args)) throw refuse(`${what}: args, those of a step, must be an object.`)
  return { interface: name as StepInterface, step, args, priority }
}

function priorityIn(given: unknown, what: string): number {
  const priority = typeof given === 'string' && /^\d{1,6}$/.test(given) ? Number(given) : given
  if (typeof priority === 'number' && Number.isInteger(priority) && priority >= 0 && priority <= PRIORITY_MAX) {
    return priority
  }
  throw refuse(`${what}: a step needs a priority, a whole number from 0 to ${PRIORITY_MAX}.`)
}

export const nameOf = (step: Pick<WantedStep, 'interface' | 'step'>): string => `${step.interface}.${step.step}`

/**
 * The steps of a deployment: those of the templates, and those of the request. The request's replace the same steps of
 * templates. Priority 0 switches a step off.
 */
export function mergedSteps(templates: readonly WantedStep[], given: readonly WantedStep[]): WantedStep[] {
  const replaced = new Set(given.map(nameOf))
  return inOrder([...given, ...templates.filter(step => !replaced.has(nameOf(step)))].filter(step => step.priority > 0))
}

const rank = (step: WantedStep) => (STEP_INTERFACES as readonly string[]).indexOf(step.interface)

/** The highest priority first. Equal ones keep their order, by interface. */
export const inOrder = <Step extends WantedStep>(steps: readonly Step[]): Step[] =>
  steps.toSorted((a, b) => b.priority - a.priority || rank(a) - rank(b))
