// The status in words: sentences and the cells of tables. Pure: what the server said, now and the zone go in.
import { quoted } from '../../shared/shell.ts'
import type { Machine, MachineState, Status, StatusFilter, Waiting } from '../../client/index.ts'
import { type Around, shownWhen } from '../../shared/when.ts'
import { causeIn } from '../reasons.ts'

/** What is asked for: the filters, and whether only one's own. */
export type Asked = StatusFilter & { mine?: boolean | undefined }

export const STATES: readonly MachineState[] = [
  'free',
  'booked',
  'held',
  'taken',
  'working',
  'setup',
  'maintenance',
  'broken',
  'retired',
]

export const MACHINE_COLUMNS = ['name', 'class', 'state', 'who', 'project', 'until', 'what', 'next', 'note'] as const
export const WAITING_COLUMNS = ['place', 'name', 'who', 'project', 'wants', 'since', 'start', 'because'] as const
export const GAVE_UP_COLUMNS = ['name', 'who', 'project', 'wants', 'since', 'reason'] as const

type Cells<Column extends string> = Record<Column, string | null>

/** `bob (nlp)`. */
const personOf = ({ who, project }: { who: string | null; project: string | null }): string | null =>
  who !== null && project !== null ? `${who} (${project})` : (who ?? project)

/** What is more than a week away needs no hour, and what is far no weekday: `Fri 27 Nov`, `4 Mar 2030`. */
const shown = (at: string | null, around: Around) =>
  at === null
    ? null
    : shownWhen(Date.parse(at), around)
        .replace(/(?<=\d [A-Z]\w{2}( \d{4})?) \d\d:\d\d$/, '')
        .replace(/^\w{3} (?=\d+ \w{3} \d{4}$)/, '')

const joined = (parts: readonly (string | null | false)[], by: string) =>
  parts.filter(part => part !== null && part !== false && part !== '').join(by) || null

/** By class and name, as people count: n2 before n10. */
const ORDER = new Intl.Collator('en', { numeric: true })
const nameOf = ({ name, uuid }: { name: string | null; uuid: string }) => name ?? uuid

export const inOrder = (machines: readonly Machine[]): Machine[] =>
  machines.toSorted(
    (a, b) => ORDER.compare(a.class ?? '\uffff', b.class ?? '\uffff') || ORDER.compare(nameOf(a), nameOf(b)),
  )

export function machineCells(machine: Machine, around: Around): Cells<(typeof MACHINE_COLUMNS)[number]> {
  const { state, verb, what, purpose, until, kind, next, maintenance, reason } = machine
  const common = { name: nameOf(machine), class: machine.class, state: state === 'working' ? (verb ?? state) : state }
  if (state === 'booked' && next) {
    // Read across: booked by bob of nlp from Fri 19:00 for the course.
    const { who, project, name } = next
    return {
      ...common,
      who,
      project,
      until: `from ${shown(next.start, around)}`,
      what: name,
      next: null,
      note: machine.note,
    }
  }
  return {
    ...common,
    who: machine.who,
    project: machine.project,
    until: kind !== null && until === null ? 'no end' : shown(until, around),
    what: joined([what, purpose], ': ') ?? whyNot(machine),
    next: next && joined([shown(next.start, around), personOf(next) ?? next.name], ' '),
    note: joined([maintenance && kind !== null && joined(['in maintenance', reason], ': '), machine.note], '; '),
  }
}

/** Why a machine that nobody has can't be had. */
function whyNot({ state, reason, error }: Machine): string | null {
  if (state === 'broken') return error ?? reason
  return state === 'maintenance' || state === 'retired' ? reason : null
}

export function waitingCells(waiting: Waiting, status: Status, around: Around): Cells<string> {
  const { place, of, since, because, reason } = waiting
  return {
    place: place === null ? null : `${place} of ${of}`,
    name: nameOf(waiting),
    who: waiting.who,
    project: waiting.project,
    wants: wantsOf(waiting),
    since: shown(since, around),
    start: startOf(waiting, around),
    because: because && becauseOf(because, status),
    reason: reason && causeIn(reason),
  }
}

function startOf({ start, gives_up }: Waiting, around: Around): string {
  if (start !== null) return Date.parse(start) <= around.now ? 'any moment' : shown(start, around)!
  // Nothing is known to end before that.
  return gives_up === null ? "can't tell" : `gives up ${shown(gives_up, around)}`
}

/** What has it may have no name, or none that is told. */
function becauseOf({ machine, what }: NonNullable<Waiting['because']>, { machines }: Status): string {
  const name = machines.find(({ uuid }) => uuid === machine)?.name ?? machine
  return what === null ? `${name} becomes free` : `${what} ends on ${name}`
}

/** `2 gpu with A100`: the prefix of custom traits says nothing to people. */
export function wantsOf({ class: of, traits, count }: Pick<Waiting, 'class' | 'traits' | 'count'>): string {
  const marks = traits.map(trait => trait.replace(/^CUSTOM_/, '')).join(', ')
  return `${count > 1 ? `${count} ` : ''}${of}${marks === '' ? '' : ` with ${marks}`}`
}

/** The answer first: how many are free, or what one has. */
export function sentenceOf(status: Status, asked: Asked, around: Around): string {
  const { machines, waiting } = status
  if (asked.mine) return mineOf(machines, waiting, around)
  if (machines.length === 0) return emptyOf(status, asked)
  const { who, project, state } = asked
  const counts = countsOf(machines)
  const place = placeOf(asked)
  const all = joined([machinesIn(machines.length), place], ' ')!
  if (who !== undefined || project !== undefined) {
    const whose = joined([who !== undefined && `of ${who}`, project !== undefined && `of project ${project}`], ' ')
    return `${all} ${whose}: ${counted(counts)}.`
  }
  if (state !== undefined) return `${all} ${machines.length === 1 ? 'is' : 'are'} ${IN_A_SENTENCE[state] ?? state}.`
  const free = counts.get('free') ?? 0
  const others = counted(new Map([...counts].filter(([word]) => word !== 'free')))
  if (free === machines.length) return `${all}, ${free === 1 ? 'and it is free' : 'all free'}.`
  const be = free === 1 || machines.length === 1 ? 'is' : 'are'
  return `${free} of ${all} ${be} free; ${others}.`
}

const machinesIn = (count: number) => `${count} ${count === 1 ? 'machine' : 'machines'}`

const counted = (counts: ReadonlyMap<MachineState, number>) =>
  [...counts].map(([state, count]) => `${count} ${IN_A_SENTENCE[state] ?? state}`).join(', ')

const IN_A_SENTENCE: Partial<Record<MachineState, string>> = { maintenance: 'in maintenance', setup: 'in setup' }

const placeOf = ({ class: of, trait, rack }: Asked) =>
  joined(
    [
      of !== undefined && `of class ${of}`,
      trait !== undefined && `with ${trait}`,
      rack !== undefined && `in rack ${rack}`,
    ],
    ' ',
  )

function emptyOf({ me, hosts }: Status, asked: Asked): string {
  const isFiltered = Object.values(asked).some(value => value !== undefined)
  if (isFiltered) {
    const { trait } = asked
    const hint =
      trait === undefined || /^[A-Z]+_/.test(trait)
        ? ''
        : ` Is it CUSTOM_${trait.toUpperCase().replace(/^CUSTOM_/, '')}?`
    return `No machine is like that.${hint} holdfast status without options shows all that you may see.`
  }
  if (!me.may.includes('create node')) {
    const project = me.project ?? 'PROJECT'
    return `There is no machine that you may see. An admin gives some to your project: holdfast node set NAME --owner ${quoted(project)}.`
  }
  if (hosts.length > 0) {
    const many = hosts.length === 1 ? '1 compute host' : `${hosts.length} compute hosts`
    return `There is no bare metal machine, but ${many}: holdfast provider list, and holdfast lease list for what is booked.`
  }
  return 'There is no machine yet. Add one (holdfast node create --help), import many (holdfast import --help), or try a simulated fleet (holdfast demo).'
}

function mineOf(machines: readonly Machine[], waiting: readonly Waiting[], around: Around): string {
  const waits = waiting.filter(({ state }) => state === 'waiting').length
  const queue = waits === 0 ? '' : ` You wait for ${waits} more.`
  if (machines.length === 0) return `You have no machine.${queue}`
  const ends = machines.flatMap(({ until }) => (until === null ? [] : [Date.parse(until)])).toSorted((a, b) => a - b)
  const first = ends[0]
  const next = first === undefined ? '' : `; the first ends ${shownWhen(first, around)}`
  return `You have ${machinesIn(machines.length)}${machines.length === 1 ? next.replace('the first', 'it') : next}.${queue}`
}

/** In the order of the states. */
function countsOf(machines: readonly Machine[]): Map<MachineState, number> {
  const groups = Map.groupBy(machines, ({ state }) => state)
  return new Map(STATES.flatMap(state => (groups.has(state) ? [[state, groups.get(state)!.length] as const] : [])))
}

/** A row for each class: how many are in each state, and when the next is free if none is. */
export function classCells(machines: readonly Machine[], around: Around): { columns: string[]; rows: Cells<string>[] } {
  const states = [...countsOf(machines).keys()]
  const rows = [...Map.groupBy(inOrder(machines), machine => machine.class)].map(([of, members]) => {
    const counts = countsOf(members)
    const cells = states.map(state => [state, counts.get(state) ?? 0] as const)
    return {
      class: of ?? 'none',
      all: String(members.length),
      ...Object.fromEntries(cells.map(([state, count]) => [state, count === 0 ? '-' : String(count)])),
      'next free': counts.has('free') ? null : nextFree(members, around),
    }
  })
  const isLate = rows.some(row => row['next free'] !== null)
  return { columns: ['class', 'all', ...states, ...(isLate ? ['next free'] : [])], rows }
}

/** The first end after which nobody has booked the machine at once. */
function nextFree(machines: readonly Machine[], around: Around): string | null {
  const ends = machines.flatMap(({ until, next }) =>
    until === null || (next !== null && next.start <= until) ? [] : [Date.parse(until)],
  )
  return ends.length === 0 ? null : shownWhen(Math.min(...ends), around)
}

/** How to go on with machines that can't be had yet, for those who may. */
export function setupHint(machines: readonly Machine[]): string | null {
  const next = machines.find(
    ({ state, may }) => state === 'setup' && (may.includes('manage') || may.includes('provide')),
  )
  if (!next) return null
  const verbs = next.may.includes('provide') ? ['provide'] : ['manage', 'provide']
  const lines = verbs.map(verb => `holdfast node ${verb} ${nameOf(next)} --wait`)
  return `What is in setup becomes free with ${lines.join(', then ')}.`
}
