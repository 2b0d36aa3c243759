// Which machines are asked for, as the address says it. Several values of one filter are separated by commas: one of them
// is enough, but of traits all are wanted. `*` and `?` stand for anything, as in gpu-*.
import type { Machine } from '../../../src/client/status.ts'
import { textOf } from './machine-text.ts'
import { durationIn } from '../../../src/shared/when.ts'

export const FILTERS = ['class', 'state', 'trait', 'project', 'who', 'until', 'rack', 'q'] as const
export type FilterName = (typeof FILTERS)[number]
/** Each as it stands in the address; empty if it isn't asked. */
export type Filters = Readonly<Record<FilterName, string>>

/** What stands for machines without a class, a rack, a person or an end. */
export const NONE = 'none'
/** Stands for the viewer in `who`. */
const ME = 'me'

interface FilterContext {
  now: number
  /** The names that the machines' `traits` point to. */
  traits: readonly string[]
  /** Reads `tue 14:00` in the viewer's zone. */
  instantIn: (text: string) => number | null
}

type Test = (machine: Machine) => boolean

export interface Matcher {
  /** The filters that are set, in order. */
  tests: readonly (readonly [FilterName, Test])[]
  /** Those that nobody understands: they match nothing. */
  wrong: readonly FilterName[]
}

export function filtersIn(query: Readonly<Record<string, string | string[] | undefined>>): Filters {
  const one = (name: FilterName) => [query[name] ?? ''].flat().join(',').trim()
  return Object.fromEntries(FILTERS.map(name => [name, one(name)])) as Filters
}

export const valuesIn = (text: string): string[] =>
  text
    .split(',')
    .map(value => value.trim())
    .filter(value => value !== '')

export const isAnySet = (filters: Filters): boolean => FILTERS.some(name => filters[name] !== '')

/** Adds a value to a filter, or takes it away if it is there. */
export function toggled(text: string, value: string): string {
  const values = valuesIn(text)
  return (values.includes(value) ? values.filter(one => one !== value) : [...values, value]).join(',')
}

export function matcherOf(filters: Filters, context: FilterContext): Matcher {
  const tests: [FilterName, Test][] = []
  const wrong: FilterName[] = []
  for (const name of FILTERS) {
    if (filters[name] === '') continue
    const test = TESTS[name](filters[name], context)
    if (test === null) wrong.push(name)
    tests.push([name, test ?? (() => false)])
  }
  return { tests, wrong }
}

/** The filters that a machine doesn't pass; those after the second are not looked for. */
export function failing({ tests }: Matcher, machine: Machine): FilterName[] {
  const failed: FilterName[] = []
  for (const [name, test] of tests) {
    if (test(machine)) continue
    failed.push(name)
    if (failed.length === 2) break
  }
  return failed
}

/** Whether a word is one of those wanted. */
function wordTest(text: string): (word: string | null) => boolean {
  const globs = valuesIn(text).map(globOf)
  return word => globs.some(glob => glob(word ?? NONE))
}

export function globOf(text: string): (word: string) => boolean {
  const small = text.toLowerCase()
  if (!/[*?]/.test(small)) return word => word.toLowerCase() === small
  return word => isLike(word.toLowerCase(), small)
}

/**
 * Whether a word is like a pattern. Only the last star is tried again: a regular expression would try all of them, for
 * ever if there are many.
 */
function isLike(word: string, pattern: string): boolean {
  let [at, next] = [0, 0]
  let star: { next: number; at: number } | null = null
  while (at < word.length) {
    if (pattern[next] === '*') {
      star = { next: ++next, at }
    } else if (pattern[next] === '?' || pattern[next] === word[at]) {
      at++
      next++
    } else if (star) {
      next = star.next
      at = ++star.at
    } else return false
  }
  return /^\**$/.test(pattern.slice(next))
}

/** `rack-a01` is also called a01. */
function rackTest(text: string): Test {
  const is = wordTest(text)
  const isEnd = wordTest(
    valuesIn(text)
      .map(value => `*-${value}`)
      .join(','),
  )
  return ({ rack }) => is(rack) || (rack !== null && isEnd(rack))
}

function traitTest(text: string, { traits }: FilterContext): Test {
  const wanted = valuesIn(text).map(value => {
    const [is, isCustom] = [globOf(value), globOf(`CUSTOM_${value}`)]
    const places = traits.flatMap((trait, place) => (is(trait) || isCustom(trait) ? [place] : []))
    return new Set(places)
  })
  return machine => wanted.every(places => machine.traits.some(place => places.has(place)))
}

function whoTest(text: string): Test {
  const is = wordTest(text)
  const isMe = valuesIn(text).includes(ME)
  return ({ who, mine }) => is(who) || (isMe && mine)
}

function projectTest(text: string): Test {
  const is = wordTest(text)
  return ({ project, owner, lessee }) =>
    is(project ?? owner) || (owner !== null && is(owner)) || (lessee !== null && is(lessee))
}

/** `<2h`, `>1d`, `<fri 19:00`; `none` for those without an end. */
function untilTest(text: string, context: FilterContext): Test | null {
  if (text === NONE) return ({ until, kind }) => kind !== null && until === null
  const [, sign = '<', said = ''] = /^([<>]?)(.*)$/.exec(text) ?? []
  const at = untilIn(said.trim(), context)
  if (at === null) return null
  if (sign === '>') return ({ until }) => until !== null && Date.parse(until) >= at
  return ({ until }) => until !== null && Date.parse(until) <= at
}

function untilIn(said: string, { now, instantIn }: FilterContext): number | null {
  const span = /^\d+$/.test(said) ? null : durationIn(said)
  return span === null ? instantIn(said) : now + span
}

const TESTS: Readonly<Record<FilterName, (text: string, context: FilterContext) => Test | null>> = {
  class: text => {
    const is = wordTest(text)
    return machine => is(machine.class)
  },
  state: text => {
    const is = wordTest(text)
    return ({ state }) => is(state)
  },
  trait: traitTest,
  project: projectTest,
  who: whoTest,
  until: untilTest,
  rack: rackTest,
  q: (text, { traits }) => {
    const parts = text.toLowerCase().split(/\s+/)
    return machine => {
      const all = textOf(machine, traits)
      return parts.every(part => all.includes(part))
    }
  },
}
