// Where the keyboard is in the chart: a row, its name or its lane, and on a lane a time.
import { type Accessor, createSignal } from 'solid-js'
import { minute } from '../../data/clock.ts'
import { areKeysOn } from '../../data/keys.ts'
import { stepOnGrid, xOf } from '../../parts/timeline/scale.ts'
import type { Row } from './rows.ts'
import type { CalendarView } from './view.ts'

type Column = 'head' | 'lane'

export interface ChartFocus {
  active: Accessor<{ key: string; column: Column } | null>
  /** The time on the lane that has the focus. */
  cursor: Accessor<number | null>
  isActive: (key: string) => boolean
  /** Says where a row's name and lane are. */
  register: (key: string, column: Column, element: HTMLElement) => void
  /** Someone came here by other ways. */
  came: (key: string, column: Column) => void
  keyDown: (event: KeyboardEvent) => void
}

interface FocusOptions {
  view: () => CalendarView
  rows: () => readonly Row[]
  places: () => ReadonlyMap<string, number>
  /** Of a row, in the window. */
  topOf: (place: number) => number
  fold: (row: Row, isOpen: boolean) => void
}

/** What is at the top and at the foot hides so many pixels. */
const HIDDEN_TOP_PX = 140
const HIDDEN_FOOT_PX = 80
const PAGE_ROWS = 15

export function createFocus(options: FocusOptions): ChartFocus {
  const { view, rows, places } = options
  const [active, setActive] = createSignal<{ key: string; column: Column } | null>(null)
  const [cursor, setCursor] = createSignal<number | null>(null)
  const elements = new Map<string, HTMLElement>()
  /** Groups have no lane to stand on; whoever passes one goes on in the lanes. */
  let wanted: Column = 'head'

  const go = (place: number) => {
    const row = rows()[Math.max(0, Math.min(rows().length - 1, place))]
    if (!row) return
    const column = row.kind === 'group' ? 'head' : wanted
    setActive({ key: row.key, column })
    reveal(options.topOf(places().get(row.key)!))
    // It may have to be drawn first.
    requestAnimationFrame(() => elements.get(`${column} ${row.key}`)?.focus({ preventScroll: true }))
  }
  const moveCursor = (steps: number) => {
    const scale = view().scale()
    const before = cursor() ?? Math.max(scale.from, Math.min(scale.to, minute()))
    const at = stepOnGrid(before, steps, scale)
    setCursor(at)
    view().reveal(at)
  }
  const inHead = (row: Row, event: KeyboardEvent): boolean => {
    if (event.key === 'ArrowRight') {
      if (row.kind === 'group' && !row.isOpen) options.fold(row, true)
      else if (row.kind === 'group') return false
      else standOnLane(row)
      return true
    }
    if (event.key !== 'ArrowLeft') return false
    if (row.kind === 'group' && row.isOpen) options.fold(row, false)
    else go(outerOf(rows(), places().get(row.key)!))
    return true
  }
  const standOnLane = (row: Row) => {
    wanted = 'lane'
    go(places().get(row.key)!)
  }
  const onLane = (event: KeyboardEvent): boolean => {
    const zoom = { '+': -1, '=': -1, '-': 1 }[event.key] as 1 | -1 | undefined
    const at = cursor()
    if (zoom !== undefined && at !== null && areKeysOn()) {
      view().zoomBy(zoom, xOf(view().scale(), at))
      return true
    }
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined || event.shiftKey) return false
    moveCursor(step)
    return true
  }
  const move = (at: { key: string; column: Column }, key: string): boolean => {
    const place = places().get(at.key) ?? 0
    const to = { ArrowUp: place - 1, ArrowDown: place + 1, PageUp: place - PAGE_ROWS, PageDown: place + PAGE_ROWS }[key]
    if (to === undefined) return false
    if (at.column === 'lane') wanted = 'lane'
    go(to)
    return true
  }
  const keyDown = (event: KeyboardEvent) => {
    const at = active()
    const row = at && rows()[places().get(at.key) ?? -1]
    if (!at || !row || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const isOnBar = event.target instanceof Element && event.target.closest('.tl-b') !== null
    if (isOnBar && event.key === 'Escape') elements.get(`lane ${row.key}`)?.focus()
    else if (
      !move(at, event.key) &&
      !(at.column === 'lane' && !isOnBar ? onLane(event) : at.column === 'head' && inHead(row, event))
    )
      return
    event.preventDefault()
  }
  return {
    active,
    cursor,
    isActive: key => (active()?.key ?? rows()[0]?.key) === key,
    register: (key, column, element) => elements.set(`${column} ${key}`, element),
    came: (key, column) => {
      if (column === 'head') setCursor(null)
      else if (cursor() === null) setCursor(startingAt(view()))
      wanted = rows()[places().get(key) ?? -1]?.kind === 'group' ? wanted : column
      setActive({ key, column })
    },
    keyDown,
  }
}

/** A cursor starts now, or where the view begins. */
function startingAt(view: CalendarView): number {
  const scale = view.scale()
  const x = xOf(scale, minute())
  return stepOnGrid(x >= 0 && x <= scale.width ? minute() : scale.from - 1, 1, scale)
}

/** The group around a row. */
function outerOf(rows: readonly Row[], place: number): number {
  const { level } = rows[place]!
  for (let at = place - 1; at >= 0; at--) if (rows[at]!.level < level) return at
  return place
}

function reveal(top: number): void {
  if (top < HIDDEN_TOP_PX) scrollBy({ top: top - HIDDEN_TOP_PX })
  else if (top > innerHeight - HIDDEN_FOOT_PX) scrollBy({ top: top - innerHeight + HIDDEN_FOOT_PX + 30 })
}
