// The rows of the calendar: groups that fold, and in them machines. Machines that nobody can book, has or will have are
// quiet: they fold into one word. Pure, and of ids alone, so that rows stay while what they show changes.
import type { Machine, StatusHost } from '../../../../src/client/status.ts'
import type { Rows } from './address.ts'

type GroupBy = 'class' | 'rack' | 'project'

export interface GroupRow {
  kind: 'group'
  key: string
  level: number
  by: GroupBy
  /** null for machines that have none. */
  name: string | null
  ids: readonly string[]
  isOpen: boolean
  /** Whether machines are right under it. */
  isInner: boolean
  bookable: number
  quiet: number
  showsQuiet: boolean
}

export interface MachineRow {
  kind: 'machine'
  key: string
  level: number
  id: string
}

export interface HostRow {
  kind: 'host'
  key: string
  level: number
  id: string
}

export type Row = GroupRow | MachineRow | HostRow

/** What the viewer folded and unfolded. */
export interface Folds {
  /** By the key of a group. */
  open: ReadonlyMap<string, boolean>
  /** Groups that show their quiet machines too. */
  quiet: ReadonlySet<string>
}

interface Wanted {
  rows: Rows
  folds: Folds
  /** While a booking is composed: the machines that matter. The others are quiet. */
  only: ReadonlySet<string> | null
}

/** With more machines than this, groups are folded at first. */
const UNFOLDED_MAX = 400

const isQuiet = ({ state, bookable, kind, next }: Machine): boolean =>
  !bookable && kind === null && next === null && state !== 'broken' && state !== 'maintenance'

const NAME_OF: Readonly<Record<GroupBy, (machine: Machine) => string | null>> = {
  class: machine => machine.class,
  rack: ({ rack }) => rack,
  /** Who has it, else whose it is. */
  project: ({ project, lessee, owner }) => project ?? lessee ?? owner,
}

const collator = new Intl.Collator('en', { numeric: true })

function groupsIn(machines: readonly Machine[], by: GroupBy): [name: string | null, machines: Machine[]][] {
  const found = new Map<string | null, Machine[]>()
  for (const machine of machines) {
    const name = NAME_OF[by](machine)
    const some = found.get(name)
    if (some) some.push(machine)
    else found.set(name, [machine])
  }
  return [...found].sort(([a], [b]) => Number(a === null) - Number(b === null) || collator.compare(a ?? '', b ?? ''))
}

/** The rows for machines that come by name. */
export function rowsOf(machines: readonly Machine[], hosts: readonly StatusHost[], wanted: Wanted): Row[] {
  const { rows } = wanted
  if (rows === 'host') return hosts.map(({ uuid }) => ({ kind: 'host', key: `h ${uuid}`, level: 1, id: uuid }))
  if (rows === 'machine') return machines.map(({ uuid }) => rowOf(uuid, 1))
  const levels = rows.split(',') as GroupBy[]
  return nested(machines, levels, { ...wanted, isMany: machines.length > UNFOLDED_MAX, level: 1, above: '' })
}

const rowOf = (id: string, level: number): MachineRow => ({ kind: 'machine', key: `m ${id}`, level, id })

interface Nest extends Wanted {
  isMany: boolean
  level: number
  above: string
}

function nested(machines: readonly Machine[], [by, ...inner]: readonly GroupBy[], nest: Nest): Row[] {
  const { level, above, folds, only, isMany } = nest
  if (by === undefined) return machines.map(({ uuid }) => rowOf(uuid, level))
  return groupsIn(machines, by).flatMap(([name, members]) => {
    const key = `${above}/${by} ${name ?? ''}`
    const isInner = inner.length === 0
    const loud = members.filter(machine => (only ? only.has(machine.uuid) : !isQuiet(machine)))
    const isOpenFirst = !isInner || (loud.length > 0 && (!isMany || only !== null))
    const isOpen = folds.open.get(key) ?? isOpenFirst
    const showsQuiet = isInner && folds.quiet.has(key)
    const row: GroupRow = {
      kind: 'group',
      key,
      level,
      by,
      name,
      ids: members.map(({ uuid }) => uuid),
      isOpen,
      isInner,
      bookable: members.filter(({ bookable }) => bookable).length,
      quiet: members.length - loud.length,
      showsQuiet,
    }
    const shown = isInner && !showsQuiet ? loud : members
    return [row, ...(isOpen ? nested(shown, inner, { ...nest, level: level + 1, above: key }) : [])]
  })
}

/** Whether two lists of rows look the same. */
export const sameRows = (a: readonly Row[], b: readonly Row[]): boolean =>
  a.length === b.length && a.every((row, at) => sameRow(row, b[at]!))

function sameRow(a: Row, b: Row): boolean {
  if (a.key !== b.key || a.level !== b.level) return false
  if (a.kind !== 'group' || b.kind !== 'group') return a.kind === b.kind
  return (
    a.isOpen === b.isOpen &&
    a.showsQuiet === b.showsQuiet &&
    a.bookable === b.bookable &&
    a.quiet === b.quiet &&
    a.ids.length === b.ids.length &&
    a.ids.every((id, at) => id === b.ids[at])
  )
}

/** How many rows came or went. */
export function changesBetween(before: readonly { key: string }[], after: readonly { key: string }[]): number {
  const [old, fresh] = [new Set(before.map(({ key }) => key)), new Set(after.map(({ key }) => key))]
  return old.symmetricDifference(fresh).size
}
