// The order of machines on the page: in groups, each sorted. It holds only ids, so it stays the same while machines change.
import type { Machine, StatusHost } from '../../../../src/client/status.ts'
import { STATES } from './survey.ts'

export const GROUPINGS = ['rack', 'class', 'project', 'none'] as const
export type Grouping = (typeof GROUPINGS)[number]
export const SORTS = ['machine', 'state', 'who', 'for', 'until', 'next', 'traits', 'note'] as const
export type SortColumn = (typeof SORTS)[number]
export interface Sort {
  by: SortColumn
  isDown: boolean
}

export interface Group {
  key: string
  /** null for machines that have none, such as no rack. */
  name: string | null
  /** The name without what all groups begin with. */
  short: string
  /** What all names in it begin with. */
  prefix: string
  kind: 'machines' | 'hosts'
  ids: readonly string[]
}

export interface Layout {
  /** What was asked for: filters, groups and order. */
  question: string
  groups: readonly Group[]
}

const NO_GROUP = ''

const NAME_OF: Readonly<Record<Grouping, (machine: Machine) => string | null>> = {
  rack: ({ rack }) => rack,
  class: machine => machine.class,
  /** Who has it, else whose it is. */
  project: ({ project, lessee, owner }) => project ?? lessee ?? owner,
  none: () => null,
}

/** The key of a machine's group. */
export const groupKeyOf = (by: Grouping) => {
  const nameOf = NAME_OF[by]
  return (machine: Machine): string => nameOf(machine) ?? NO_GROUP
}

/** Machines come by name, and so do those in each group unless they are sorted otherwise. */
export function groupsOf(machines: readonly Machine[], by: Grouping, sort: Sort): Group[] {
  const keyOf = groupKeyOf(by)
  const found = new Map<string, Machine[]>()
  for (const machine of machines) {
    const key = keyOf(machine)
    const some = found.get(key)
    if (some) some.push(machine)
    else found.set(key, [machine])
  }
  const keys = [...found.keys()].sort(byNumbers)
  // A slot is told by its rack. Elsewhere the rack has to stay in the name.
  const shared = by === 'rack' ? null : commonPrefix(machines.map(machine => machine.name ?? ''))
  const cut = commonPrefix(keys.filter(key => key !== NO_GROUP)).length
  return keys.map(key => {
    const some = found.get(key)!
    const name = key === NO_GROUP ? null : key
    const prefix = shared ?? commonPrefix(some.map(machine => machine.name ?? ''))
    return { key, name, short: key.slice(cut), prefix, kind: 'machines', ids: sorted(some, sort).map(uuidOf) }
  })
}

const uuidOf = ({ uuid }: { uuid: string }) => uuid

/** Hosts by what their names begin with: compute-01 and compute-02 are compute. */
export function hostGroups(hosts: readonly StatusHost[]): Group[] {
  const found = new Map<string, StatusHost[]>()
  for (const host of hosts) {
    const key = host.name.replace(/[-_.]?\d+$/, '')
    const some = found.get(key)
    if (some) some.push(host)
    else found.set(key, [host])
  }
  return [...found]
    .sort(([a], [b]) => byNumbers(a, b))
    .map(([name, some]) => {
      const inOrder = some.toSorted((a, b) => byNumbers(a.name, b.name))
      const prefix = commonPrefix(inOrder.map(host => host.name))
      return { key: `hosts ${name}`, name, short: name, prefix, kind: 'hosts', ids: inOrder.map(uuidOf) }
    })
}

const collator = new Intl.Collator('en', { numeric: true })
/** What has no name comes last. */
function byNumbers(a: string, b: string): number {
  if (a === NO_GROUP || b === NO_GROUP) return a === b ? 0 : a === NO_GROUP ? 1 : -1
  return collator.compare(a, b)
}

/** What all names begin with, up to a mark between words. Nothing for one name alone. */
export function commonPrefix(names: readonly string[]): string {
  const [first, ...others] = names
  if (first === undefined || others.length === 0) return ''
  let length = first.length
  for (const name of others) {
    let at = 0
    while (at < length && name[at] === first[at]) at++
    length = at
  }
  return /^.*[-_ ./:]/.exec(first.slice(0, length))?.[0] ?? ''
}

/** What a tile calls the machine: its slot, or its name without what the group shares. */
export function shortName({ name, slot, uuid }: Machine, { prefix }: Pick<Group, 'prefix'>, by: Grouping): string {
  if (by === 'rack' && slot !== null) return slot
  if (name === null) return uuid.slice(0, 8)
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : name
}

type SortValue = string | number | null
const VALUE_OF: Readonly<Record<Exclude<SortColumn, 'machine'>, (machine: Machine) => SortValue>> = {
  state: ({ state }) => STATES.indexOf(state),
  who: ({ who }) => who,
  for: ({ what }) => what,
  until: ({ until, next }) => until ?? next?.start ?? null,
  next: ({ next }) => next?.start ?? null,
  traits: ({ traits }) => -traits.length,
  note: ({ error, reason, note }) => error ?? reason ?? note,
}

/** What is empty comes last, whichever way. Machines alike stay in the order of their names. */
function sorted(machines: readonly Machine[], { by, isDown }: Sort): readonly Machine[] {
  if (by === 'machine') return isDown ? machines.toReversed() : machines
  const valueOf = VALUE_OF[by]
  const compare = (a: SortValue, b: SortValue) => (a === b ? 0 : a! < b! ? -1 : 1)
  return machines
    .map((machine, place) => ({ machine, place, value: valueOf(machine) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) {
        return a.value === b.value ? a.place - b.place : a.value === null ? 1 : -1
      }
      const order = compare(a.value, b.value)
      return (isDown ? -order : order) || a.place - b.place
    })
    .map(({ machine }) => machine)
}

export function sameLayout(a: Layout, b: Layout): boolean {
  if (a.question !== b.question || a.groups.length !== b.groups.length) return false
  return a.groups.every((group, at) => {
    const other = b.groups[at]!
    const isAlike = group.key === other.key && group.ids.length === other.ids.length && group.prefix === other.prefix
    return isAlike && group.ids.every((id, place) => id === other.ids[place])
  })
}

/** How many machines came, went, or stand elsewhere. */
export function changesBetween(before: Layout, after: Layout): number {
  if (before === after) return 0
  const places = (layout: Layout) => {
    const found = new Map<string, string>()
    for (const { key, ids } of layout.groups) for (const id of ids) found.set(id, key)
    return found
  }
  const [old, fresh] = [places(before), places(after)]
  let changes = 0
  for (const [id, key] of old) if (fresh.get(id) !== key) changes++
  for (const id of fresh.keys()) if (!old.has(id)) changes++
  return changes + movesIn(before, after, old, fresh)
}

/** Of those that stay in their groups: how many stand at another place among them. */
function movesIn(before: Layout, after: Layout, old: Map<string, string>, fresh: Map<string, string>): number {
  const stay = ({ groups }: Layout) =>
    groups.flatMap(({ key, ids }) => ids.filter(id => old.get(id) === key && fresh.get(id) === key))
  const [one, other] = [stay(before), stay(after)]
  return one.filter((id, at) => other[at] !== id).length
}
