// The chart: the axis above, a row for each group, machine or host, and time across. Only rows in view are in the page.
import {
  type Accessor,
  type Component,
  createMemo,
  createSignal,
  For,
  type JSX,
  onCleanup,
  onMount,
  Show,
} from 'solid-js'
import { isUtc, switchZone, when } from '../../data/clock.ts'
import type { Bar } from '../../parts/timeline/bars.ts'
import { Axis, Grid, NowLine, NowTag } from '../../parts/timeline/axis.tsx'
import type { LaneHandlers } from '../../parts/timeline/lane.tsx'
import type { Scale } from '../../parts/timeline/scale.ts'
import { createWindow } from '../../parts/window.ts'
import { words } from '../../words.ts'
import { createFocus } from './focus.ts'
import { useHands } from './hands.ts'
import { RowOf } from './drawn-row.tsx'
import type { Row } from './rows.ts'
import type { CalendarView } from './view.ts'

export interface BarShown {
  machine: string
  bar: Bar
  anchor: HTMLElement
}

/** What whoever composes bookings draws and does on the lanes. */
export interface Composing {
  handlers: (machine: string, scale: Accessor<Scale>) => LaneHandlers
  over: (machine: string, scale: Accessor<Scale>) => JSX.Element
  /** Tells which machine a lane shows. */
  lane?: (machine: string, element: HTMLElement) => void
  /** Between the axis and the rows: where it would fit. */
  ruler?: (scale: Accessor<Scale>) => JSX.Element
}

interface ChartProps {
  label: string
  /** What the zone is called. */
  zone: string
  view: CalendarView
  rows: readonly Row[]
  /** What all names begin with. */
  prefix: string
  /** All rows are in the page, to be printed. */
  isWhole: boolean
  /** Says what is above the rows while no booking is composed. */
  summary: string
  fold: (row: Row, isOpen: boolean) => void
  showQuiet: (row: Row) => void
  open: (shown: BarShown) => void
  hold: (isHeld: boolean) => void
  composing: Composing | null
  /** Measures how wide the time is. */
  timeRef: (element: HTMLElement) => void
}

/** Heights in rem, as in the style sheet. */
const OUTER_REM = 1.9375
const TOUCH_OUTER_REM = 2.25

/** How high rows are, in pixels: they follow the size of type, and are higher for fingers. */
function createHeights(): Accessor<{ outer: number; lane: number }> {
  const measure = () => {
    const style = getComputedStyle(document.documentElement)
    const rem = parseFloat(style.fontSize)
    const lane = parseFloat(style.getPropertyValue('--lane-h')) || 1.5
    return { outer: (lane > 1.5 ? TOUCH_OUTER_REM : OUTER_REM) * rem, lane: lane * rem }
  }
  const [heights, setHeights] = createSignal(measure(), { equals: (a, b) => a.outer === b.outer && a.lane === b.lane })
  const look = () => setHeights(measure())
  addEventListener('resize', look)
  onCleanup(() => removeEventListener('resize', look))
  return heights
}

export const Chart: Component<ChartProps> = props => {
  let chart!: HTMLDivElement
  let time!: HTMLDivElement
  let body!: HTMLDivElement
  const scale = () => props.view.scale()
  const heights = createHeights()
  const each = createMemo(() => {
    const { outer, lane } = heights()
    return props.rows.map(row => (row.kind === 'group' && row.level === 1 ? outer : lane))
  })
  const tops = createMemo(() => {
    let sum = 0
    return each().map(height => (sum += height) - height)
  })
  const places = createMemo(() => new Map(props.rows.map((row, place) => [row.key, place])))
  const inView = createWindow({ heights: each, element: () => body, margin: 400 })
  const focus = createFocus({
    view: () => props.view,
    rows: () => props.rows,
    places,
    topOf: place => body.getBoundingClientRect().top + (tops()[place] ?? 0),
    fold: (row, isOpen) => props.fold(row, isOpen),
  })
  /** The keys of rows that are in the page; the one with the focus always is. */
  const shown = createMemo(() => {
    if (props.isWhole) return props.rows.map(({ key }) => key)
    const { from, to } = inView()
    const keys = props.rows.slice(from, to).map(({ key }) => key)
    const active = focus.active()
    if (active !== null && places().has(active.key) && !keys.includes(active.key)) keys.push(active.key)
    return keys
  })
  useHands({ chart: () => chart, time: () => time, view: props.view })
  onMount(() => props.timeRef(time))
  return (
    <>
      <div
        ref={chart}
        class="cal"
        role="treegrid"
        aria-label={props.label}
        aria-rowcount={props.rows.length + 2}
        on:keydown={focus.keyDown}
        onFocusIn={() => props.hold(true)}
        onFocusOut={event => !chart.contains(event.relatedTarget as Node | null) && props.hold(false)}
      >
        <div class="axis" role="row" aria-rowindex={1}>
          <div class="lab" role="columnheader">
            <span class="dimmer">{words.calendar.timesIn(props.zone)}</span>
            <button type="button" class="btn quiet small" aria-pressed={isUtc()} onClick={switchZone}>
              {words.calendar.utc}
            </button>
          </div>
          <div ref={time} role="columnheader" aria-label={props.label}>
            <Axis scale={scale()} />
          </div>
        </div>
        <div class="axis ruler" role="row" aria-rowindex={2}>
          <div class="lab" role="rowheader">
            <span class="dimmer cut">{props.summary}</span>
          </div>
          <div class="fits" role="gridcell">
            {props.composing?.ruler?.(scale)}
            <NowTag scale={scale()} />
          </div>
        </div>
        <div
          class="rows-all"
          onPointerEnter={event => event.pointerType === 'mouse' && props.hold(true)}
          onPointerLeave={event =>
            event.pointerType === 'mouse' && !chart.contains(document.activeElement) && props.hold(false)
          }
        >
          <div class="across">
            <Grid scale={scale()} />
          </div>
          <div
            ref={body}
            class="rows"
            role="rowgroup"
            style={{ height: `${(tops().at(-1) ?? 0) + (each().at(-1) ?? 0)}px` }}
          >
            <For each={shown()}>
              {key => (
                <Show when={props.rows[places().get(key) ?? -1]}>
                  {row => (
                    <RowOf
                      row={row()}
                      place={places().get(key) ?? 0}
                      top={tops()[places().get(key) ?? 0] ?? 0}
                      height={each()[places().get(key) ?? 0] ?? 0}
                      scale={scale()}
                      prefix={props.prefix}
                      focus={focus}
                      fold={isOpen => props.fold(row(), isOpen)}
                      showQuiet={() => props.showQuiet(row())}
                      open={props.open}
                      composing={props.composing}
                    />
                  )}
                </Show>
              )}
            </For>
          </div>
          <div class="across over">
            <NowLine scale={scale()} />
          </div>
        </div>
      </div>
      <p class="vh" role="status">
        <Show when={focus.cursor()}>{at => when(at())}</Show>
      </p>
    </>
  )
}
