// What is said about requests: pure, from rows of the status.
import type { Machine, Waiting } from '../../../../src/client/status.ts'
import type { Suit } from './dots.ts'

/** When a machine that is not free comes free, as far as anybody knows. */
export function suitOf(machine: Machine, now: number): Suit {
  const { uuid, state, until, next } = machine
  const at = (time: string | null | undefined) => (time ? Date.parse(time) : null)
  const end = state === 'free' ? now : state === 'booked' ? at(next?.end) : at(until)
  return { uuid, state, end: ['taken', 'held', 'free', 'booked'].includes(state) ? end : null }
}

/** How many are in which state, most first. */
export function standOf(states: readonly string[]): [number, string][] {
  const counts = new Map<string, number>()
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, n]): [number, string] => [n, state]).toSorted((a, b) => b[0] - a[0])
}

interface Ahead {
  seen: Waiting[]
  /** Those before it that the viewer may not know of. */
  others: number
}

/** Who is before it: those that wait for some of the same machines, with a smaller place. */
export function aheadOf(row: Waiting, all: readonly Waiting[]): Ahead {
  const before = (row.place ?? 1) - 1
  if (before <= 0) return { seen: [], others: 0 }
  const suits = new Set(row.suits)
  const seen = all
    .filter(({ uuid, place }) => uuid !== row.uuid && place !== null && place < row.place!)
    .filter(other => other.class === row.class && other.suits.some(uuid => suits.has(uuid)))
    .slice(0, before)
  return { seen, others: before - seen.length }
}

/** The traits that tell something: what every machine of the class has needs no word. */
export function tellingTraits(row: Pick<Waiting, 'traits'>, common: ReadonlySet<string>): string[] {
  return row.traits.filter(trait => !common.has(trait))
}

/** The traits that all of these have, given the traits of each. */
export function commonTraits(all: readonly (readonly string[])[]): Set<string> {
  const [first = [], ...rest] = all
  const common = new Set(first)
  for (const traits of rest) {
    const has = new Set(traits)
    for (const trait of common) if (!has.has(trait)) common.delete(trait)
    if (common.size === 0) break
  }
  return common
}

/** `today 20:07` in two parts. */
export function splitWhen(shown: string): { time: string; day: string | null } {
  const parts = shown.split(' ')
  const at = parts.findLastIndex(part => /^\d\d:\d\d$/.test(part))
  if (at < 0) return { time: shown, day: null }
  const time = parts.slice(at).join(' ')
  const day = parts.slice(0, at).join(' ')
  return { time, day: day === 'today' || day === '' ? null : day }
}

/** `at 20:07` of today, else the day first: `tomorrow 02:07`. */
export function atShortly(shown: string): string {
  const { time, day } = splitWhen(shown)
  return day === null ? `at ${time}` : shown
}

/** Those whose place is another than before. */
export function movedPlaces(before: ReadonlyMap<string, string>, rows: readonly Waiting[]): Waiting[] {
  return rows.filter(
    ({ uuid, place, of }) => place !== null && before.has(uuid) && before.get(uuid) !== `${place} ${of}`,
  )
}
export const placesOf = (rows: readonly Waiting[]) =>
  new Map(rows.filter(({ place }) => place !== null).map(({ uuid, place, of }) => [uuid, `${place} ${of}`]))
