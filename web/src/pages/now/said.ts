// What is said of a machine in a few letters, and in a sentence. The times come in already shown.
import type { Machine, Waiting } from '../../../../src/client/status.ts'
import { traitShown } from '../../parts/trait.ts'
import { words } from '../../words.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `56m`, `4h`, `3d`: to the nearest, and never nothing. */
export function leftShort(ms: number): string {
  if (ms < HOUR_MS - MINUTE_MS / 2) return `${Math.max(1, Math.round(ms / MINUTE_MS))}m`
  if (ms < DAY_MS - HOUR_MS / 2) return `${Math.round(ms / HOUR_MS)}h`
  return `${Math.round(ms / DAY_MS)}d`
}

/** What of a day is left, in percent; null if it is more. */
export const footOf = (ms: number): number | null => (ms < DAY_MS ? Math.max(2, Math.round((ms / DAY_MS) * 100)) : null)

const hasPerson = ({ state, kind }: Machine) => kind !== null && (state === 'taken' || state === 'held')

export const whoShown = ({ who, project, mine }: Machine, isWall = false): string =>
  mine && !isWall ? words.you : (who ?? project ?? words.someone)

/** The second line of a tile: who, or why not, or until when. */
export function tileLine(machine: Machine, isWall: boolean, shownDay: (at: string) => string): string {
  const { state, verb, provision, reason, next } = machine
  if (hasPerson(machine)) return whoShown(machine, isWall)
  if (state === 'working') return verb ?? words.states.working.word
  if (state === 'maintenance' || state === 'retired') return reason ?? ''
  if (state === 'broken') return provision.replace(/ failed$/, '')
  if (state === 'setup') return provision === 'manageable' ? words.now.provideNext : provision
  if (state === 'booked' && next !== null) return words.now.till(shownDay(next.start))
  return ''
}

/** The whole machine in a sentence, for those who hear it. */
export function sentenceOf(machine: Machine, shown: (at: string) => string): string {
  const { name, uuid, state, verb, what, until, next, reason, error, maintenance } = machine
  const isWorking = state === 'working' && verb !== null
  const parts = [
    name ?? uuid,
    isWorking ? verb : Object.hasOwn(words.states, state) ? words.states[state].word : state,
    hasPerson(machine) ? whoShown(machine) : null,
    what === null ? null : words.now.forWhat(what),
    until === null ? null : words.now.until(shown(until)),
    state === 'booked' && next !== null ? words.now.freeUntil(shown(next.start)) : null,
    state === 'broken' ? error : null,
    maintenance && state !== 'maintenance' ? words.states.maintenance.word : null,
    state === 'maintenance' || state === 'retired' ? reason : null,
  ]
  return parts.filter(part => part !== null && part !== '').join(', ')
}

const TRAITS_SHOWN = 6

/** What it is: its class and traits, those that the lab named first. */
export function makeOf(machine: Machine, traits: readonly string[]): string {
  const named = traits.filter(trait => trait.startsWith('CUSTOM_') && !isOfRack(trait, machine))
  const others = traits.filter(trait => !trait.startsWith('CUSTOM_'))
  const all = [...named.map(traitShown), ...others]
  const rest = all.length - TRAITS_SHOWN
  const shown = rest > 1 ? [...all.slice(0, TRAITS_SHOWN), words.now.more(rest)] : all
  return [machine.class ?? words.now.noClass, ...shown].join(' · ')
}

/** Traits for a narrow column. */
export const traitsShort = (machine: Machine, traits: readonly string[]): string =>
  traits
    .filter(trait => trait.startsWith('CUSTOM_') && !isOfRack(trait, machine))
    .map(traitShown)
    .join(' ')

/** A trait that only says the rack again. */
const isOfRack = (trait: string, { rack }: Machine) =>
  rack !== null && `CUSTOM_${rack}`.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase() === trait

/** What comes after: the next booking, or who waits for this very machine. */
export function thenOf(machine: Machine, waiting: readonly Waiting[], shown: (at: string) => string): string | null {
  const { next, uuid } = machine
  if (next !== null) return words.now.thenBooked(next.name ?? words.someone, next.who, shown(next.start))
  const first = waiting.find(({ because, state }) => state === 'waiting' && because?.machine === uuid)
  if (!first) return null
  return words.now.thenWaits(first.name ?? words.someone, first.place ?? 1, first.of, first.who)
}

/** How full a host is: what it has least left of, in percent. */
export function fullness(used: Readonly<Record<string, number>>, capacity: Readonly<Record<string, number>>): number {
  const shares = Object.entries(capacity)
    .filter(([, size]) => size > 0)
    .map(([name, size]) => (used[name] ?? 0) / size)
  return Math.round(100 * Math.max(0, ...shares))
}
