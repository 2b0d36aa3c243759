// The states of a node and the transitions between them: one table for the API (allowed?) and conductors (what next?).
import type { Busy, Stable, State, Waiting } from '../../store/schema/states.ts'

export type { Stable, State } from '../../store/schema/states.ts'

/** One action of a conductor on the hardware. */
interface Step {
  /** The node's state while a conductor does it. */
  during: Busy
  /** The node's state while the machine works by itself and will call back. */
  waiting: Waiting | null
  failed: Stable
  /** What another conductor does with the step if the first one died in it. */
  onTakeOver: 'resume' | 'fail'
}

export const STEPS = {
  // These only read the hardware, so they can be repeated.
  verify: { during: 'verifying', waiting: null, failed: 'enroll', onTakeOver: 'resume' },
  inspect: { during: 'inspecting', waiting: 'inspect wait', failed: 'inspect failed', onTakeOver: 'resume' },
  adopt: { during: 'adopting', waiting: null, failed: 'adopt failed', onTakeOver: 'resume' },
  // The machine must end up empty and off, so this is repeated until it is.
  tearDown: { during: 'deleting', waiting: null, failed: 'error', onTakeOver: 'resume' },
  // The disk may be half erased or half written. A person or the next undeploy decides what to do.
  clean: { during: 'cleaning', waiting: 'clean wait', failed: 'clean failed', onTakeOver: 'fail' },
  deploy: { during: 'deploying', waiting: 'wait call-back', failed: 'deploy failed', onTakeOver: 'fail' },
  rescue: { during: 'rescuing', waiting: 'rescue wait', failed: 'rescue failed', onTakeOver: 'fail' },
  unrescue: { during: 'unrescuing', waiting: null, failed: 'unrescue failed', onTakeOver: 'fail' },
} as const satisfies Record<string, Step>

export type StepName = keyof typeof STEPS

export type Verb =
  | 'manage'
  | 'provide'
  | 'clean'
  | 'inspect'
  | 'adopt'
  | 'active'
  | 'rebuild'
  | 'deleted'
  | 'rescue'
  | 'unrescue'
  | 'abort'

export interface Transition {
  verb: Verb
  from: readonly State[]
  /** None: the change is made at once, without a conductor. */
  steps: readonly StepName[]
  to: Stable
}

export const TRANSITIONS: readonly Transition[] = [
  { verb: 'manage', from: ['enroll'], steps: ['verify'], to: 'manageable' },
  {
    verb: 'manage',
    from: ['available', 'clean failed', 'inspect failed', 'adopt failed'],
    steps: [],
    to: 'manageable',
  },
  { verb: 'provide', from: ['manageable'], steps: ['clean'], to: 'available' },
  { verb: 'clean', from: ['manageable'], steps: ['clean'], to: 'manageable' },
  { verb: 'inspect', from: ['manageable', 'inspect failed'], steps: ['inspect'], to: 'manageable' },
  { verb: 'adopt', from: ['manageable', 'adopt failed'], steps: ['adopt'], to: 'active' },
  { verb: 'active', from: ['available', 'deploy failed'], steps: ['deploy'], to: 'active' },
  { verb: 'rebuild', from: ['active', 'deploy failed', 'error'], steps: ['deploy'], to: 'active' },
  {
    verb: 'deleted',
    from: [
      'active',
      'wait call-back',
      'deploy failed',
      'error',
      'rescue',
      'rescue wait',
      'rescue failed',
      'unrescue failed',
    ],
    steps: ['tearDown', 'clean'],
    to: 'available',
  },
  {
    verb: 'rescue',
    from: ['active', 'rescue', 'rescue failed', 'unrescue failed'],
    steps: ['rescue'],
    to: 'rescue',
  },
  { verb: 'unrescue', from: ['rescue', 'rescue failed', 'unrescue failed'], steps: ['unrescue'], to: 'active' },
  { verb: 'abort', from: ['clean wait'], steps: [], to: 'clean failed' },
  { verb: 'abort', from: ['inspect wait'], steps: [], to: 'inspect failed' },
  { verb: 'abort', from: ['rescue wait'], steps: [], to: 'rescue failed' },
]

export function transitionFor(verb: Verb, state: State): Transition | null {
  return TRANSITIONS.find(transition => transition.verb === verb && transition.from.includes(state)) ?? null
}

function transitionsOf(verb: Verb): Transition[] {
  return TRANSITIONS.filter(transition => transition.verb === verb)
}

const SYNONYMS: Record<string, Verb> = { deploy: 'active', undeploy: 'deleted' }
const VERBS = new Set<string>(TRANSITIONS.map(({ verb }) => verb))

/** All words that mean a verb. */
export const VERB_WORDS: readonly string[] = [...VERBS, ...Object.keys(SYNONYMS)]

/** The verb that a client's word means, or null when there is none. */
export function verbOf(word: string): Verb | null {
  return Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word]! : VERBS.has(word) ? (word as Verb) : null
}

/** All states; `has` accepts any string. */
export const STATES: ReadonlySet<State> & { has(word: string): boolean } = new Set<State>([
  ...TRANSITIONS.flatMap(({ from, to }) => [...from, to]),
  ...Object.values(STEPS).flatMap(({ during, waiting, failed }) => [during, ...(waiting ? [waiting] : []), failed]),
])

/** The states in which a node's class and driver may change. */
export const FREE_TO_CHANGE: ReadonlySet<State> = new Set<State>([
  'enroll',
  'inspecting',
  'inspect wait',
  'manageable',
  'available',
])

export const DELETABLE: ReadonlySet<State> = new Set<State>(['enroll', 'manageable', 'available', 'adopt failed'])

interface Condition {
  provision_state: State
  maintenance: 0 | 1
  retired: 0 | 1
}

/** Whether the node can be given out. The ledger blocks all others. */
export function isUsable({ provision_state, maintenance, retired }: Condition): boolean {
  return provision_state === 'available' && maintenance === 0 && retired === 0
}

/** The state after a transition. A retired node becomes manageable instead of available. */
export const endOf = ({ to }: Transition, { retired }: Pick<Condition, 'retired'>): Stable =>
  retired && to === 'available' ? 'manageable' : to

/** States with a machine on the node, or with one being deployed or removed. Undeploying makes the node available. */
const WITH_MACHINE: ReadonlySet<State> = new Set<State>([
  ...transitionsOf('deleted').flatMap(({ from }) => from),
  'adopting',
  'deploying',
  'deleting',
  'rescuing',
  'unrescuing',
])

/** The same as a list, for SQL. */
export const MACHINE_STATES: readonly State[] = [...WITH_MACHINE]

export const hasMachine = ({ provision_state }: { provision_state: State }): boolean =>
  WITH_MACHINE.has(provision_state)

/** Whether the node will be available without an operator. `isGivenBack`: its holder will release it. */
export function comesBack(
  node: { provision_state: State; target_provision_state: State | null },
  isGivenBack: boolean,
): boolean {
  const { provision_state, target_provision_state } = node
  return provision_state === 'available' || target_provision_state === 'available' || (isGivenBack && hasMachine(node))
}

/** Busy states in which nobody's machine is on the node: an allocation may end in them. */
const LOOKED_AT: ReadonlySet<State> = new Set<State>(['verifying', 'inspecting', 'inspect wait'])
const ON_THE_WAY: ReadonlySet<State> = new Set<State>(
  Object.values(STEPS).flatMap(({ during, waiting }) => [during, ...(waiting ? [waiting] : [])]),
)

/** Whether a node's allocation may be ended while it is in this state. */
export function mayDeallocate({ provision_state: state, maintenance }: Omit<Condition, 'retired'>) {
  return maintenance === 1 || (state !== 'active' && (!ON_THE_WAY.has(state) || LOOKED_AT.has(state)))
}
