// What a machine is, in one word. This is the one rule: whoever says "free" asks it.
import type { Busy, State, Waiting } from '../store/schema/states.ts'

export const WORDS = [
  'retired',
  'broken',
  'taken',
  'maintenance',
  'held',
  'working',
  'setup',
  'booked',
  'free',
] as const

export type Word = (typeof WORDS)[number]

export interface Facts {
  provision_state: State
  maintenance: 0 | 1
  retired: 0 | 1
  /** What a conductor found wrong with it by itself. */
  fault: string | null
  /** Someone has it: an allocation, an instance, a lease, or a claim in the ledger. */
  isClaimed: boolean
  /** A hold on it has not expired. */
  isHeld: boolean
  /** A lease has booked it and didn't get it yet. */
  isBooked: boolean
}

/** What a conductor is doing, by the state in which it does it, or waits for the machine to do it. */
const WORK: Readonly<Record<Busy | Waiting, string>> = {
  verifying: 'verifying',
  inspecting: 'inspecting',
  'inspect wait': 'inspecting',
  adopting: 'adopting',
  cleaning: 'cleaning',
  'clean wait': 'cleaning',
  deploying: 'deploying',
  'wait call-back': 'deploying',
  deleting: 'deleting',
  rescuing: 'rescuing',
  'rescue wait': 'rescuing',
  unrescuing: 'unrescuing',
}

/** What a conductor is doing with it; null if none is at work. */
export const workIn = (state: State): string | null => (Object.hasOwn(WORK, state) ? WORK[state as Busy] : null)

const isFailed = (state: State) => state === 'error' || state.endsWith(' failed')
/** A machine runs on it, whether or not anybody said whose it is. */
const isRunning = (state: State) => state === 'active' || state === 'rescue'

/** The first that is true, from the top. */
const RULES: readonly (readonly [Word, (facts: Facts) => boolean])[] = [
  ['retired', ({ retired }) => retired === 1],
  ['broken', ({ provision_state, fault }) => isFailed(provision_state) || fault !== null],
  ['taken', ({ isClaimed, provision_state }) => isClaimed || isRunning(provision_state)],
  ['maintenance', ({ maintenance }) => maintenance === 1],
  ['held', ({ isHeld }) => isHeld],
  ['working', ({ provision_state }) => workIn(provision_state) !== null],
  ['setup', ({ provision_state }) => provision_state !== 'available'],
  ['booked', ({ isBooked }) => isBooked],
]

export const stateOf = (facts: Facts): Word => RULES.find(([, holds]) => holds(facts))?.[0] ?? 'free'
