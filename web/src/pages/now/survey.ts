// What is counted over all machines: by state, by class, and what each filter leaves out. One pass over the fleet.
import type { Machine, Waiting } from '../../../../src/client/status.ts'
import { isFree } from '../../data/free.ts'
import { failing, type FilterName, type Matcher } from '../../data/filter.ts'

type Counts = ReadonlyMap<string, number>

/** The order in which states are shown. */
export const STATES = ['free', 'booked', 'held', 'taken', 'working', 'setup', 'maintenance', 'broken', 'retired']
/** Those that are shown even if no machine is in them. */
const COMMON = new Set(['free', 'booked', 'held', 'taken', 'maintenance', 'broken'])

export interface Survey {
  /** Those that pass all filters. */
  shown: readonly Machine[]
  /** By state, of those that pass all other filters. */
  states: Counts
  /** How many pass all filters but that of the state, and how many of them are free. */
  of: number
  free: number
  /** How many more there would be without a filter. */
  without: ReadonlyMap<FilterName, number>
}

export function survey(machines: readonly Machine[], matcher: Matcher): Survey {
  const [states, without] = [new Map<string, number>(), new Map<FilterName, number>()]
  const shown: Machine[] = []
  let [of, free] = [0, 0]
  for (const machine of machines) {
    const failed = failing(matcher, machine)
    if (failed.length === 0) shown.push(machine)
    if (failed.length === 1) add(without, failed[0]!)
    if (failed.length === 0 || (failed.length === 1 && failed[0] === 'state')) {
      of++
      if (isFree(machine)) free++
      add(states, machine.state)
    }
  }
  return { shown, states, of, free, without }
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** The states to show: the common ones, those that occur, and those that are asked for. */
export function statesShown(counts: Counts, asked: readonly string[]): string[] {
  const all = new Set([...STATES, ...counts.keys(), ...asked])
  return [...all].filter(state => COMMON.has(state) || counts.has(state) || asked.includes(state))
}

export interface ClassSummary {
  /** null for machines without a class. */
  name: string | null
  count: number
  free: number
  states: Counts
  /** When the next of them ends, if none is free. */
  nextEnd: string | null
  waiting: number
}

export function classesOf(machines: readonly Machine[], waiting: readonly Waiting[]): ClassSummary[] {
  const found = new Map<
    string | null,
    { count: number; free: number; states: Map<string, number>; nextEnd: string | null }
  >()
  for (const machine of machines) {
    const { class: name, state, until } = machine
    let one = found.get(name)
    if (!one) found.set(name, (one = { count: 0, free: 0, states: new Map(), nextEnd: null }))
    one.count++
    if (isFree(machine)) one.free++
    add(one.states, state)
    const isEnding = until !== null && (state === 'taken' || state === 'held')
    if (isEnding && (one.nextEnd === null || until < one.nextEnd)) one.nextEnd = until
  }
  const waits = new Map<string | null, number>()
  for (const { class: name, state } of waiting) if (state === 'waiting') add(waits, name)
  return [...found]
    .map(([name, one]): ClassSummary => {
      return { name, ...one, nextEnd: one.free > 0 ? null : one.nextEnd, waiting: waits.get(name) ?? 0 }
    })
    .sort((a, b) => (a.name === null ? 1 : b.name === null ? -1 : a.name < b.name ? -1 : 1))
}

export interface GroupFacts {
  free: number
  states: Counts
  /** Of all machines in it; null if they have none, or several. */
  class: string | null
}

/** What is to be said of each group. */
export function factsBy(machines: readonly Machine[], keyOf: (machine: Machine) => string): Map<string, GroupFacts> {
  const found = new Map<string, { free: number; states: Map<string, number>; class: string | null }>()
  for (const machine of machines) {
    const key = keyOf(machine)
    let facts = found.get(key)
    if (!facts) found.set(key, (facts = { free: 0, states: new Map(), class: machine.class }))
    if (facts.class !== machine.class) facts.class = null
    if (isFree(machine)) facts.free++
    add(facts.states, machine.state)
  }
  return found
}
