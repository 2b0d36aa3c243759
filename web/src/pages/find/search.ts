// Finds machines, people, projects, bookings and pages by a few letters. Pure, and quick with ten thousand machines.
import type { Machine, Waiting } from '../../../../src/client/status.ts'
import { textOf } from '../../data/machine-text.ts'
import { machinePath } from '../../data/machine-href.ts'

export type FoundKind = 'machine' | 'class' | 'deed' | 'person' | 'project' | 'booking' | 'page'

export interface Found {
  kind: FoundKind
  /** A machine's uuid, or a name. */
  id: string
  text: string
  /** In the dashboard, without /ui. */
  to: string
  /** What matched, if it isn't the name. */
  because: string | null
  booking?: { start: string | null; until: string | null; place: number | null; isWaiting: boolean }
}

export interface Searched {
  machines: readonly Machine[]
  traits: readonly string[]
  waiting: readonly Waiting[]
  pages: readonly { text: string; path: string }[]
}

/** Machines that were found by their notes, traits or people come after what is called so. */
const BY_TEXT = 4
const BY_TEXT_MOST = 5
const MOST: Readonly<Record<FoundKind, number>> = {
  machine: 8,
  class: 4,
  deed: 2,
  person: 4,
  project: 4,
  booking: 5,
  page: 6,
}

export function search(typed: string, all: Searched): Found[] {
  const parts = typed.toLowerCase().trim().split(/\s+/)
  if (parts[0] === '') return pagesFor(parts, all)
  const machines = machinesFor(parts, all)
  const others = [
    ...classesFor(parts, all),
    ...peopleFor(parts, all),
    ...bookingsFor(parts, all),
    ...pagesFor(parts, all),
  ]
  const isNamed = machines.some(({ because }) => because === null)
  return isNamed ? [...machines, ...others] : [...others, ...machines.slice(0, BY_TEXT_MOST)]
}

/** 0 is the best: the whole word, its beginning, the beginning of a part of it, anywhere. */
function rankOf(word: string, parts: readonly string[]): number | null {
  const small = word.toLowerCase()
  if (!parts.every(part => small.includes(part))) return null
  const [first = ''] = parts
  if (small === first) return 0
  if (small.startsWith(first)) return 1
  return /[-_ ./:]$/.test(small.slice(0, small.indexOf(first))) ? 2 : 3
}

function machinesFor(parts: readonly string[], { machines, traits }: Searched): Found[] {
  const ranks: Machine[][] = [[], [], [], [], []]
  const enough = (rank: number) => ranks[rank]!.length >= MOST.machine
  for (const machine of machines) {
    const rank = rankOf(machine.name ?? machine.uuid, parts)
    if (rank !== null) {
      if (!enough(rank)) ranks[rank]!.push(machine)
    } else if (!enough(BY_TEXT) && parts.every(part => textOf(machine, traits).includes(part)))
      ranks[BY_TEXT]!.push(machine)
  }
  return ranks
    .flat()
    .slice(0, MOST.machine)
    .map(machine => ({
      kind: 'machine',
      id: machine.uuid,
      text: machine.name ?? machine.uuid,
      to: machinePath(machine),
      because: rankOf(machine.name ?? machine.uuid, parts) === null ? lineWith(textOf(machine, traits), parts) : null,
    }))
}

/** The line of a machine's text that was found. */
const lineWith = (text: string, parts: readonly string[]): string | null => {
  const lines = text.split('\n')
  return (
    lines.find(line => parts.every(part => line.includes(part))) ?? lines.find(line => line.includes(parts[0]!)) ?? null
  )
}

function peopleFor(parts: readonly string[], { machines, waiting }: Searched): Found[] {
  const [people, projects] = [new Set<string>(), new Set<string>()]
  const add = (set: Set<string>, name: string | null | undefined) => typeof name === 'string' && set.add(name)
  for (const { who, project, owner, next } of machines) {
    add(people, who)
    add(people, next?.who)
    add(projects, project)
    add(projects, owner)
    add(projects, next?.project)
  }
  for (const { who, project } of waiting) {
    add(people, who)
    add(projects, project)
  }
  const found = (kind: 'person' | 'project', names: Set<string>, filter: string): Found[] =>
    best([...names], name => name, parts, MOST[kind]).map(name => ({
      kind,
      id: name,
      text: name,
      to: `/now?view=table&${filter}=${encodeURIComponent(name)}`,
      because: null,
    }))
  return [...found('person', people, 'who'), ...found('project', projects, 'project')]
}

const classesFor = (parts: readonly string[], { machines }: Searched): Found[] => {
  const names = new Set(machines.map(machine => machine.class))
  return best([...names], name => name ?? '', parts, MOST.class).flatMap(name =>
    name === null
      ? []
      : [{ kind: 'class', id: name, text: name, to: `/now?class=${encodeURIComponent(name)}`, because: null }],
  )
}

function bookingsFor(parts: readonly string[], { machines, waiting }: Searched): Found[] {
  const all = new Map<string, Found>()
  const add = (name: string | null, to: string, booking: NonNullable<Found['booking']>) => {
    if (name !== null && !all.has(name))
      all.set(name, { kind: 'booking', id: name, text: name, to, because: null, booking })
  }
  for (const { name, who, place, state } of waiting) {
    const to = `/queue${who === null ? '' : `?who=${encodeURIComponent(who)}`}`
    add(name, to, { start: null, until: null, place: state === 'waiting' ? place : null, isWaiting: true })
  }
  for (const { next, kind, what, since, until } of machines) {
    if (next !== null)
      add(next.name, dayOf(next.start), { start: next.start, until: next.end, place: null, isWaiting: false })
    if (kind === 'lease') add(what, dayOf(since), { start: null, until, place: null, isWaiting: false })
  }
  return best([...all.values()], ({ text }) => text, parts, MOST.booking)
}

const dayOf = (at: string | null) => (at === null ? '/calendar' : `/calendar?from=${at.slice(0, 10)}`)

const pagesFor = (parts: readonly string[], { pages }: Searched): Found[] =>
  best(pages, ({ text }) => text, parts, MOST.page).map(({ text, path }) => ({
    kind: 'page',
    id: path,
    text,
    to: path,
    because: null,
  }))

function best<T>(all: readonly T[], nameOf: (one: T) => string, parts: readonly string[], most: number): T[] {
  return all
    .flatMap(one => {
      const rank = rankOf(nameOf(one), parts)
      return rank === null ? [] : [{ one, rank }]
    })
    .sort((a, b) => a.rank - b.rank || (nameOf(a.one) < nameOf(b.one) ? -1 : 1))
    .slice(0, most)
    .map(({ one }) => one)
}
