// How many machines of a group are open, over time: nobody has or has booked them then, and they are not out of use. Now,
// that is those that are free and those that are booked for later.
import type { Machine, Span } from '../../../../src/client/status.ts'
import { endOf, spansOfRow, startOf } from '../../parts/timeline/bars.ts'
import { type Scale, xOf } from '../../parts/timeline/scale.ts'

interface Step {
  at: number
  open: number
}

const OUT = new Set<Machine['state']>(['retired', 'broken', 'maintenance', 'setup'])

/** Whether it could be had at all. Broken machines, and those kept out of use, have no end to that. */
const isInUse = ({ state, maintenance }: Machine): boolean => !OUT.has(state) && !maintenance

interface Group {
  machines: readonly Machine[]
  spansOf: (uuid: string) => readonly Span[]
  from: number
}

/** From its start on, with a step wherever the number changes. Panning doesn't change it: it is made once. */
export function openCurve({ machines, spansOf, from }: Group): Step[] {
  let open = 0
  const changes = new Map<number, number>()
  const change = (at: number, by: number) => changes.set(at, (changes.get(at) ?? 0) + by)
  for (const machine of machines) {
    if (!isInUse(machine)) continue
    open++
    const loaded = spansOf(machine.uuid)
    const spans = loaded.length === 0 ? spansOfRow(machine) : loaded
    const covered = coveredBy(spans, from)
    // What a conductor works on isn't open now, and nobody knows how soon it is.
    if (machine.state === 'working' && !covered.some(({ from: start }) => start <= from)) {
      open--
      change(from + 1, 1)
    }
    for (const { from: start, to: end } of covered) {
      if (start <= from) open--
      else change(start, -1)
      if (end < Infinity) change(end, 1)
    }
  }
  const steps: Step[] = [{ at: from, open }]
  for (const at of [...changes.keys()].sort((a, b) => a - b)) {
    open += changes.get(at)!
    if (open !== steps.at(-1)!.open) steps.push({ at, open })
  }
  return steps
}

/** The times that are promised from then on, each once. */
function coveredBy(spans: readonly Span[], from: number): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  const ahead = spans
    .map(span => ({ from: startOf(span) ?? -Infinity, to: endOf(span) ?? Infinity }))
    .filter(({ to }) => to > from)
  if (ahead.length < 2) return ahead
  for (const span of ahead.sort((a, b) => a.from - b.from)) {
    const last = found.at(-1)
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to)
    else found.push(span)
  }
  return found
}

/** The part of a curve that is in view. */
export function stepsIn(steps: readonly Step[], { from, to }: Pick<Scale, 'from' | 'to'>): Step[] {
  const next = steps.findIndex(({ at }) => at > from)
  const first = steps[next < 0 ? steps.length - 1 : Math.max(0, next - 1)]
  if (!first || first.at >= to) return []
  const rest = next < 0 ? [] : steps.slice(next).filter(({ at }) => at > first.at && at < to)
  return [{ at: Math.max(first.at, from), open: first.open }, ...rest]
}

/** The height of a curve is 100; so much of it is for all machines. */
const FULL = 92

/** The line of a curve and the area under it, for an SVG as wide as the scale and 100 high. */
export function pathsOf(steps: readonly Step[], total: number, scale: Scale): { line: string; area: string } {
  const y = (open: number) => round(100 - (total === 0 ? 0 : (open / total) * FULL))
  const [first, ...rest] = steps
  if (!first) return { line: '', area: '' }
  const start = round(Math.max(0, xOf(scale, first.at)))
  const seen = visible(rest, scale)
  const line = `M${start} ${y(first.open)}${seen.map(({ at, open }) => `H${round(xOf(scale, at))}V${y(open)}`).join('')}H${scale.width}`
  return { line, area: `${line}V100H${start}Z` }
}

/** Steps closer than a pixel are one. */
function visible(steps: readonly Step[], scale: Scale): Step[] {
  const pixel = (scale.to - scale.from) / scale.width
  return steps.filter(({ at }, place) => (steps[place + 1]?.at ?? Infinity) - at >= pixel)
}

const round = (number: number) => Math.round(number * 10) / 10

/** Numbers need so much room, and are said of levels that last so long. */
const APART_PX = 76
const LASTS_PX = 26

/** Which of the numbers are written: the first, and those that last, with room between them. */
export function numbersOf(steps: readonly Step[], scale: Scale): { x: number; open: number }[] {
  const found: { x: number; open: number }[] = []
  steps.forEach(({ at, open }, place) => {
    const x = Math.max(0, xOf(scale, at))
    const next = steps[place + 1]
    const lasts = (next ? xOf(scale, next.at) : scale.width) - x
    const last = found.at(-1)
    if (!last || (x - last.x >= APART_PX && lasts >= LASTS_PX && open !== last.open)) found.push({ x, open })
  })
  return found
}
