// The calendar as a list: each promise in view, and what is out of use, with its machine.
import type { Machine, Span } from '../../../../src/client/status.ts'
import { type Bar, type BarLook, barsOf } from '../../parts/timeline/bars.ts'
import type { Window } from './address.ts'

export interface ListItem {
  key: string
  machine: string
  name: string
  bar: Bar
}

export const COLUMNS = ['machine', 'what', 'who', 'from', 'to', 'state'] as const
export type Column = (typeof COLUMNS)[number]
export interface Sort {
  by: Column
  isDown: boolean
}

/** What it is, in words; for what is out of use with what is known about it. */
export const whatOf = ({ title, by, spans, look }: Bar): string =>
  isPromise({ spans }) || by === null || look === 'maintenance' ? title : `${title}: ${by}`
export const isPromise = ({ spans }: Pick<Bar, 'spans'>): boolean => spans.some(({ kind }) => kind !== 'maintenance')

/** What a bar is, as a state. */
export const stateOf = (look: BarLook) => (look === 'lease' || look === 'many' ? 'taken' : look)

interface Listed {
  machines: readonly Machine[]
  spansOf: (uuid: string) => readonly Span[]
  window: Window
  now: number
}

/** Machines come by name, and so do their items unless they are sorted otherwise. */
export function itemsOf({ machines, spansOf, window, now }: Listed): ListItem[] {
  return machines.flatMap(machine =>
    barsOf(machine, spansOf(machine.uuid), now)
      .filter(({ from, to }) => from < window.to && (to === null || to > window.from))
      .map(bar => ({
        key: `${machine.uuid} ${bar.key}`,
        machine: machine.uuid,
        name: machine.name ?? machine.uuid,
        bar,
      })),
  )
}

export const sameItems = (a: readonly ListItem[], b: readonly ListItem[]): boolean =>
  a.length === b.length &&
  a.every((item, at) => item.key === b[at]!.key && item.bar.title === b[at]!.bar.title && item.bar.by === b[at]!.bar.by)

/** After all names. */
const LAST = '\uffff'

const VALUE: Readonly<Record<Exclude<Column, 'machine'>, (bar: Bar) => string | number>> = {
  what: whatOf,
  who: bar => (isPromise(bar) && bar.by !== null ? bar.by : LAST),
  from: ({ from }) => from,
  to: ({ to }) => to ?? Infinity,
  state: ({ look }) => stateOf(look),
}

export function sorted(items: readonly ListItem[], { by, isDown }: Sort): readonly ListItem[] {
  if (by === 'machine') return isDown ? items.toReversed() : items
  const valueOf = VALUE[by]
  const sign = isDown ? -1 : 1
  return items.toSorted((a, b) => {
    const [one, other] = [valueOf(a.bar), valueOf(b.bar)]
    return one === other ? 0 : one < other ? -sign : sign
  })
}
