// A lane: what is promised of one machine, in time. Whoever shows it may draw over it, and take what is done on it.
import { type Component, createMemo, Index, type JSX, Show } from 'solid-js'
import { when } from '../../data/clock.ts'
import { words } from '../../words.ts'
import { type Bar, type PlacedBar, placed, TARGET_PX } from './bars.ts'
import { type Scale, timeAt, xOf } from './scale.ts'
import './timeline.css'

/** Where on a lane something is done. */
export interface LanePoint {
  /** The instant under the pointer, or at the cursor; not snapped. */
  at: number
  /** The bar there, and its edge if that is where it is. */
  bar: Bar | null
  edge: 'start' | 'end' | null
  /** Of the lane. */
  element: HTMLElement
}

/** What whoever composes bookings does on a lane. Each says whether it took the event; then nothing else happens. */
export interface LaneHandlers {
  pointerDown?: (event: PointerEvent, point: LanePoint) => boolean
  keyDown?: (event: KeyboardEvent, point: LanePoint) => boolean
  click?: (event: MouseEvent, point: LanePoint) => boolean
}

interface LaneProps {
  /** What a screen reader says; in a grid only where there are no bars that say it. */
  label: string
  bars: readonly Bar[]
  scale: Scale
  /** Lanes that can be booked are white. */
  isBookable: boolean
  /** Drawn over the bars. */
  over?: JSX.Element
  handlers?: LaneHandlers | null
  /** Shows what a bar is. */
  open: (bar: Bar, anchor: HTMLElement) => void
  /** Where the cursor of the keyboard is. */
  cursor?: number | null
  /** Whether Tab comes here: one lane of many at a time. */
  isActive?: boolean
  role?: 'gridcell' | 'group'
  ref?: (element: HTMLElement) => void
  onFocus?: () => void
}

/** So near its end is the edge of a bar. */
const EDGE_PX = 7

export const Lane: Component<LaneProps> = props => {
  let lane!: HTMLDivElement
  const shown = createMemo(() => placed(props.bars, props.scale))
  const barAt = (at: number) => props.bars.findLast(({ from, to }) => from <= at && (to === null || at < to)) ?? null
  const pointOf = (event: MouseEvent): LanePoint => {
    const x = event.clientX - lane.getBoundingClientRect().left
    const on = placedUnder(event.target, shown())
    const edge = on === null ? null : edgeOf(on, x)
    return { at: timeAt(props.scale, x), bar: on?.bar ?? null, edge, element: lane }
  }
  // Heard on the lane itself, before the keys of the page are.
  const keyDown = (event: KeyboardEvent) => {
    const on = placedUnder(event.target, shown())?.bar ?? null
    const at = on?.from ?? props.cursor ?? props.scale.from
    const point = { at, bar: on ?? barAt(at), edge: null, element: lane }
    if (props.handlers?.keyDown?.(event, point)) event.preventDefault()
  }
  return (
    <div
      ref={element => {
        lane = element
        props.ref?.(element)
      }}
      classList={{ 'tl-lane': true, nb: !props.isBookable }}
      role={props.role ?? 'gridcell'}
      aria-label={props.role === 'group' ? props.label : undefined}
      tabindex={props.isActive === false ? -1 : 0}
      onFocus={() => props.onFocus?.()}
      on:keydown={keyDown}
      onPointerDown={event => props.handlers?.pointerDown?.(event, pointOf(event)) && event.preventDefault()}
      onClick={event => {
        const point = pointOf(event)
        if (props.handlers?.click?.(event, point)) return
        if (point.bar && event.target instanceof HTMLElement) props.open(point.bar, event.target.closest('button')!)
      }}
    >
      <Index each={shown()}>
        {(one, place) => <BarOf placed={one()} place={place} isActive={props.isActive !== false} />}
      </Index>
      <Show when={props.role !== 'group' && shown().length === 0}>
        <span class="vh">{props.label}</span>
      </Show>
      {props.over}
      <Show when={props.cursor}>
        {at => <i class="tl-cursor" style={{ transform: `translateX(${xOf(props.scale, at())}px)` }} />}
      </Show>
    </div>
  )
}

/** The bar that was pointed at. */
function placedUnder(target: EventTarget | null, shown: readonly PlacedBar[]): PlacedBar | null {
  const found = target instanceof Element ? target.closest<HTMLElement>('.tl-b') : null
  return found ? (shown[Number(found.dataset['place'])] ?? null) : null
}

function edgeOf({ x, width, bar }: PlacedBar, at: number): 'start' | 'end' | null {
  // A bar that is hardly wider than its edges is held in the middle.
  const edge = Math.min(EDGE_PX, width / 4)
  if (bar.to !== null && at > x + width - edge) return 'end'
  return at < x + edge && x >= 0 ? 'start' : null
}

interface BarProps {
  placed: PlacedBar
  place: number
  isActive: boolean
}

/** What a screen reader says of a bar. */
const labelOf = ({ title, by, look, from, to, spans }: Bar): string => {
  const state = look === 'lease' || look === 'many' ? null : words.states[look].word
  const isTimed = spans.some(({ start }) => start !== null)
  return words.timeline.bar(
    [by === null ? title : `${title} ${by}`, state === title ? null : state],
    isTimed ? when(from) : null,
    to === null ? null : when(to),
  )
}

const BarOf: Component<BarProps> = props => {
  // A bar stays the same while it moves.
  const bar = createMemo(() => props.placed.bar)
  const label = createMemo(() => labelOf(bar()))
  const width = () => props.placed.width
  return (
    <>
      <button
        type="button"
        class="tl-b"
        tabindex={props.isActive ? 0 : -1}
        data-place={props.place}
        aria-label={label()}
        aria-haspopup="dialog"
        style={{ left: `${props.placed.x}px`, width: `${Math.max(TARGET_PX, width())}px` }}
      >
        <span
          class={`v b-${bar().look}`}
          classList={{ open: bar().to === null, mine: bar().isMine, sl: props.placed.label !== 'in' }}
          style={{ width: `${width()}px` }}
        >
          <Show when={props.placed.label === 'in'}>
            <Words bar={bar()} class="cut" />
          </Show>
        </span>
      </button>
      <Show when={props.placed.label === 'out'}>
        <span class="tl-out" aria-hidden="true" style={{ left: `${props.placed.x + width() + 6}px` }}>
          <Words bar={bar()} class={bar().isMine ? 'mine' : ''} />
        </span>
      </Show>
    </>
  )
}

const Words: Component<{ bar: Bar; class: string }> = props => (
  <span class={props.class}>
    <b>{props.bar.title}</b>{' '}
    <Show when={props.bar.by}>
      <em>{props.bar.by}</em>
    </Show>
  </span>
)
