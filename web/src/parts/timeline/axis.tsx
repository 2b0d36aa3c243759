// The days or hours above the lanes, the lines and shades behind them, and where now is.
import { type Component, createMemo, createSignal, Index, onCleanup, onMount, Show } from 'solid-js'
import { minute, utc, wallTime } from '../../data/clock.ts'
import { words } from '../../words.ts'
import { type Scale, xOf } from './scale.ts'
import { linesOf, type Tick, ticksOf, weekendsOf } from './ticks.ts'
import './timeline.css'

/** The pixels across of an element, as they change. */
export function createWidth(element: () => HTMLElement | undefined, before = 1_000): () => number {
  const [width, setWidth] = createSignal(before)
  onMount(() => {
    const watched = element()
    if (!watched) return
    const look = () => watched.clientWidth > 0 && setWidth(watched.clientWidth)
    look()
    const watch = new ResizeObserver(look)
    watch.observe(watched)
    onCleanup(() => watch.disconnect())
  })
  return width
}

/** Less of a label than this isn't worth showing. */
const LABEL_PX = 34

interface Placed {
  x: number
  width: number
}

const placeOf = (scale: Scale, { from, to }: { from: number; to: number }): Placed => {
  const x = Math.max(0, xOf(scale, from))
  return { x, width: Math.max(0, Math.min(scale.width, xOf(scale, to)) - x) }
}
const styleOf = ({ x, width }: Placed) => ({ left: `${x}px`, width: `${width}px` })

export const Axis: Component<{ scale: Scale }> = props => {
  const ticks = createMemo(() => ticksOf(props.scale))
  const today = (tick: Tick) => tick.at <= minute() && minute() < tick.end
  const place = (tick: Tick) => placeOf(props.scale, { from: tick.at, to: tick.end })
  const isCut = (tick: Tick) => tick.at < props.scale.from && place(tick).width < LABEL_PX
  return (
    <div class="tl-days">
      <Index each={ticks()}>
        {tick => (
          <span
            classList={{ we: tick().isWeekend, major: tick().isMajor, today: today(tick()) }}
            style={styleOf(place(tick()))}
            title={utc(tick().at)}
          >
            <Show when={!isCut(tick())}>
              <Show when={tick().weak}>
                <em>{tick().weak}</em>{' '}
              </Show>
              {tick().strong}
            </Show>
          </span>
        )}
      </Index>
    </div>
  )
}

/** What is behind the lanes: lines, weekends, and the past. */
export const Grid: Component<{ scale: Scale }> = props => {
  const inView = (at: number) => at > props.scale.from && at < props.scale.to
  const ticks = createMemo(() => ticksOf(props.scale).filter(({ at }) => inView(at)))
  const lines = createMemo(() => linesOf(props.scale).filter(inView))
  const left = (at: number) => ({ transform: `translateX(${xOf(props.scale, at)}px)` })
  return (
    <div class="tl-under" aria-hidden="true">
      <Show when={minute() > props.scale.from}>
        <span class="past" style={styleOf(placeOf(props.scale, { from: props.scale.from, to: minute() }))} />
      </Show>
      <Index each={weekendsOf(props.scale)}>
        {weekend => <span class="we" style={styleOf(placeOf(props.scale, weekend()))} />}
      </Index>
      <Index each={lines()}>{at => <i class="quiet" style={left(at())} />}</Index>
      <Index each={ticks()}>{tick => <i classList={{ major: tick().isMajor }} style={left(tick().at)} />}</Index>
    </div>
  )
}

const isShown = ({ from, to }: Scale) => minute() >= from && minute() <= to

/** The line of now, over the lanes. It moves once a minute, and nothing else does. */
export const NowLine: Component<{ scale: Scale }> = props => (
  <Show when={isShown(props.scale)}>
    <i class="tl-now" aria-hidden="true" style={{ transform: `translateX(${xOf(props.scale, minute())}px)` }} />
  </Show>
)

/** What time it is, at the line of now. */
export const NowTag: Component<{ scale: Scale }> = props => (
  <Show when={isShown(props.scale)}>
    <b class="tl-now-tag" style={{ transform: `translateX(${xOf(props.scale, minute())}px)` }}>
      <span title={utc(minute())} aria-label={words.timeline.now(wallTime(minute()))} role="img">
        {wallTime(minute())}
      </span>
    </b>
  </Show>
)
