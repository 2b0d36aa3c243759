// What the server says is promised, as the rows of a drawn calendar. Pure.
import type { Machine, Span, Status } from '../../client/index.ts'
import { shownWhen, zoneShown } from '../../shared/when.ts'
import { inOrder } from '../status/words.ts'
import type { Bar, ChartRow, Look } from './drawing.ts'

const LOOK_OF: Record<Span['kind'], Look> = {
  allocation: 'taken',
  server: 'taken',
  instance: 'taken',
  claim: 'taken',
  hold: 'held',
  lease: 'booked',
  maintenance: 'maintenance',
}

/** A row for each machine, below its class if there are several. */
export function chartRowsOf({ machines, spans, now }: Status, from: number): ChartRow[] {
  const byMachine = Map.groupBy(spans, ({ machine }) => machine)
  const rowOf = (machine: Machine): ChartRow => ({
    name: machine.name ?? machine.uuid,
    bars: [...(byMachine.get(machine.uuid) ?? []).map(span => barOf(span, from)), ...outage(machine, Date.parse(now))],
  })
  const classes = [...Map.groupBy(inOrder(machines), machine => machine.class)]
  if (classes.length === 1) return classes[0]![1].map(rowOf)
  return classes.flatMap(([name, members]) => [
    { name: name ?? 'no class', bars: [], isHeading: true },
    ...members.map(rowOf),
  ])
}

/** Nobody knows until when, and it must not look free. */
const outage = ({ state }: Machine, now: number): Bar[] =>
  state === 'broken' || state === 'setup' || state === 'retired'
    ? [{ look: state, start: now, end: null, label: state }]
    : []

const barOf = ({ kind, name, who, start, end }: Span, from: number): Bar => ({
  look: LOOK_OF[kind],
  start: start === null ? from : Date.parse(start),
  end: end === null ? null : Date.parse(end),
  label: [who, name].filter(word => word !== null).join(' '),
})

/** The same for programs: one promise a row. */
export function spanRowsOf({ machines, spans }: Status) {
  const names = new Map(machines.map(({ uuid, name }) => [uuid, name ?? uuid]))
  return spans.map(({ machine, may: _, ...span }) => ({ machine: names.get(machine) ?? machine, ...span }))
}

interface Shown {
  from: number
  to: number
  now: number
  zone: string
}

/** The answer first: how many machines nobody has, and in whose time all of this is. */
export function sentenceOf(rows: readonly ChartRow[], { from, to, now, zone }: Shown): string {
  const machineRows = rows.filter(({ isHeading }) => !isHeading)
  const all = machineRows.length
  const none = machineRows.filter(({ bars }) => bars.length === 0).length
  const [begin, end] = [from, to].map(at => shownWhen(at, { now, zone }))
  const machines =
    none === 0
      ? `None of ${counted(all)} is free all the time`
      : `${none} of ${counted(all)} ${none === 1 ? 'is' : 'are'} free all the time`
  const called = zoneShown(now, zone)
  return `${machines} from ${begin} to ${end}. Times are those of ${called === zone.replace(/^Etc\//, '') ? called : `${zone} (${called})`}.`
}

const counted = (count: number) => `${count} ${count === 1 ? 'machine' : 'machines'}`
