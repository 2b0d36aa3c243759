// What the server says is promised, as the rows of a drawn calendar. Pure.
import type { Span, Status } from '../../client/index.ts'
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

/** A row for each machine, by class and name. */
export function chartRowsOf({ machines, spans }: Status, from: number): ChartRow[] {
  const byMachine = Map.groupBy(spans, ({ machine }) => machine)
  return inOrder(machines).map(({ uuid, name }) => ({
    name: name ?? uuid,
    bars: (byMachine.get(uuid) ?? []).map(span => barOf(span, from)),
  }))
}

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
  const all = rows.length
  const none = rows.filter(({ bars }) => bars.length === 0).length
  const [begin, end] = [from, to].map(at => shownWhen(at, { now, zone }))
  const machines =
    none === 0
      ? `Each of ${all} machines is promised at some time`
      : none === all
        ? `Nobody has any of ${all} machines`
        : `Nobody has ${none} of ${all} machines`
  return `${machines} from ${begin} to ${end}. Times are those of ${zone} (${zoneShown(now, zone)}).`
}
