// What a lane shows: a bar for each promise, and what keeps a machine out of use from now on. Where there is no room for
// bars of their own, several become one.
import type { Machine, Span } from '../../../../src/client/status.ts'
import { words } from '../../words.ts'
import { type Scale, xOf } from './scale.ts'

export type BarLook = 'taken' | 'lease' | 'booked' | 'held' | 'maintenance' | 'broken' | 'setup' | 'many'

export interface Bar {
  key: string
  look: BarLook
  from: number
  /** null without an end. */
  to: number | null
  isMine: boolean
  /** What it is: the promise's name, or why the machine is out of use. */
  title: string
  /** Who has it, or more about it. */
  by: string | null
  /** The promises that it stands for; none for what is known of the machine alone. */
  spans: readonly Span[]
}

/** Texts are read once: thousands of them are compared while the page moves. */
const times = new WeakMap<Span, { start: number | null; end: number | null }>()

function timesOf(span: Span): { start: number | null; end: number | null } {
  const known = times.get(span)
  if (known) return known
  const ms = (text: string | null) => (text === null ? null : Date.parse(text))
  const read = { start: ms(span.start), end: ms(span.end) }
  times.set(span, read)
  return read
}
/** When it begins; null if that isn't known. */
export const startOf = (span: Span): number | null => timesOf(span).start
/** When it ends; null without an end. */
export const endOf = (span: Span): number | null => timesOf(span).end

function lookOf({ kind }: Span, from: number, now: number): BarLook {
  if (kind === 'hold') return 'held'
  if (kind === 'lease') return from > now ? 'booked' : 'lease'
  return 'taken'
}

/** What is known of a machine's promises from its row alone: what has it, and the next booking. */
export function spansOfRow(machine: Machine): Span[] {
  const { uuid, kind, next, what, who, project, id, since, until, mine, may } = machine
  const own: Span = {
    machine: uuid,
    kind: kind ?? 'claim',
    id,
    name: what,
    who,
    project,
    start: since,
    end: until,
    mine,
    may,
  }
  const ahead = next === null ? [] : [{ ...next, machine: uuid, kind: 'lease' as const, mine: false, may: [] }]
  return kind === null ? ahead : [own, ...ahead]
}

/** The bars of a machine, by their start. Until its spans are there, those of its row. */
export function barsOf(machine: Machine | undefined, loaded: readonly Span[], now: number): Bar[] {
  const spans = loaded.length === 0 && machine ? spansOfRow(machine) : loaded
  const bars = spans.filter(({ kind }) => kind !== 'maintenance').map(span => barOf(span, now))
  bars.sort((a, b) => a.from - b.from)
  const out = machine && outOfUse(machine, spans)
  if (!out) return bars
  // What runs goes on: it is seen first.
  const ends = bars.filter(({ from }) => from <= now).map(({ to }) => to)
  if (ends.includes(null)) return bars
  const from = Math.max(now, ...ends.map(Number))
  return [{ ...out, key: out.look, from, to: null, isMine: false }, ...bars]
}

function barOf(span: Span, now: number): Bar {
  const from = startOf(span) ?? now
  const look = lookOf(span, from, now)
  return {
    key: `${span.kind} ${span.id ?? ''} ${span.start ?? ''} ${span.end ?? ''}`,
    look,
    from,
    to: endOf(span),
    isMine: span.mine,
    title: span.name ?? wordOf(look),
    by: span.mine ? words.you : span.who,
    spans: [span],
  }
}

/** What a bar without a name is called. */
const wordOf = (look: BarLook) =>
  look === 'booked' || look === 'held' ? words.states[look].word : words.states.taken.word

function outOfUse(machine: Machine, spans: readonly Span[]): Pick<Bar, 'look' | 'title' | 'by' | 'spans'> | null {
  const { state, provision, error, reason } = machine
  if (state === 'broken') return { look: 'broken', title: provision, by: error, spans: [] }
  if (machine.maintenance || state === 'maintenance')
    return {
      look: 'maintenance',
      title: reason ?? words.states.maintenance.word,
      by: words.timeline.noEnd,
      spans: spans.filter(({ kind }) => kind === 'maintenance'),
    }
  if (state === 'setup' || state === 'retired')
    return { look: 'setup', title: words.states[state].word, by: state === 'retired' ? reason : provision, spans: [] }
  return null
}

export interface PlacedBar {
  bar: Bar
  x: number
  width: number
  /** Where its words are: in it, after it, or nowhere. */
  label: 'in' | 'out' | 'none'
}

/** Narrower bars can't be told apart. */
const NARROW_PX = 4
/** What a finger or pointer needs (WCAG 2.5.8). */
export const TARGET_PX = 24
/** Less than this of a name says nothing. */
const NAME_PX = 48
const LETTER_PX = 6.1
const EDGE_PX = 6

/** Where bars are on a scale; those out of it are left out. */
export function placed(bars: readonly Bar[], scale: Scale): PlacedBar[] {
  const inView = bars.filter(({ from, to }) => from < scale.to && (to === null || to > scale.from))
  const found = merged(inView, scale).map(bar => {
    // A name begins where it is seen.
    const x = Math.max(-EDGE_PX, xOf(scale, bar.from))
    const end = Math.min(scale.width + EDGE_PX, bar.to === null ? Infinity : xOf(scale, bar.to))
    return { bar, x, width: Math.max(NARROW_PX, end - x) }
  })
  return found.map((one, place) => {
    const needed = (one.bar.title.length + (one.bar.by?.length ?? 0) + 1) * LETTER_PX + 2 * EDGE_PX
    const end = one.x + one.width
    const room = (found[place + 1]?.x ?? scale.width) - end
    const label = one.width >= needed ? 'in' : room >= needed ? 'out' : one.width >= NAME_PX ? 'in' : 'none'
    return { ...one, label }
  })
}

/** Narrow bars so near each other that none could be pointed at become one. */
function merged(bars: readonly Bar[], scale: Scale): Bar[] {
  const perPixel = (scale.to - scale.from) / scale.width
  const isNarrow = ({ from, to }: Bar) => to !== null && to - from < NARROW_PX * perPixel
  const found: Bar[] = []
  for (const bar of bars) {
    const last = found.at(-1)
    const isNear = last?.to && bar.from - last.from < TARGET_PX * perPixel
    if (last && isNear && isNarrow(bar) && (isNarrow(last) || last.look === 'many'))
      found[found.length - 1] = both(last, bar)
    else found.push(bar)
  }
  return found
}

function both(one: Bar, other: Bar): Bar {
  const spans = [...one.spans, ...other.spans]
  return {
    key: one.key,
    look: 'many',
    from: one.from,
    to: Math.max(one.to ?? 0, other.to ?? 0),
    isMine: one.isMine || other.isMine,
    title: words.timeline.many(spans.length),
    by: null,
    spans,
  }
}

/** The times at which a lane's promises begin and end: to snap to. */
export const edgesOf = (bars: readonly Bar[]): number[] =>
  bars.flatMap(({ from, to }) => (to === null ? [from] : [from, to]))
