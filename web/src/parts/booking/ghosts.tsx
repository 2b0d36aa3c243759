// The draft as it would lie on a lane: dashed ink where it is free, red where something is in the way.
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Ghost } from '../../data/booking-lanes.ts'
import { when } from '../../data/clock.ts'
import { ghosts } from '../../data/draft.ts'
import { words } from '../../words.ts'
import { type Scale, xOf } from '../timeline/scale.ts'
import './booking.css'

/** Less than this has no room for its times. */
const LABEL_PX = 130

export const Ghosts: Component<{ machine: string; scale: Scale }> = props => (
  <Show when={ghosts().get(props.machine)}>{ghost => <GhostOf ghost={ghost()} scale={props.scale} />}</Show>
)

const GhostOf: Component<{ ghost: Ghost; scale: Scale }> = props => {
  const place = createMemo(() => {
    const { width } = props.scale
    const start = Math.max(-8, xOf(props.scale, props.ghost.start))
    const end = Math.min(width + 8, xOf(props.scale, props.ghost.end))
    return { start, width: Math.max(4, end - start), isSeen: end > 0 && start < width }
  })
  const style = () => ({ left: `${place().start}px`, width: `${place().width}px` })
  const isFree = () => props.ghost.verdict === 'free'
  const isFirst = () => ghosts().values().next().value?.machine === props.ghost.machine
  const span = () => words.booking.span(when(props.ghost.start), when(props.ghost.end))
  /** The parts of it that are taken. */
  const hits = createMemo(() =>
    props.ghost.by.map(({ start, end }) => {
      const from = Math.max(props.ghost.start, start === null ? -Infinity : Date.parse(start))
      const to = Math.min(props.ghost.end, end === null ? Infinity : Date.parse(end))
      const length = props.ghost.end - props.ghost.start
      return {
        left: `${((from - props.ghost.start) / length) * 100}%`,
        width: `${((to - from) / length) * 100}%`,
      }
    }),
  )
  return (
    <Show when={place().isSeen}>
      <span
        classList={{ 'bk-gh': true, no: !isFree(), ok: isFree() }}
        style={style()}
        role="img"
        aria-label={words.booking.draftOn(span(), isFree())}
      >
        <For each={hits()}>{hit => <i style={hit} />}</For>
        <Show when={isFirst()}>
          <em classList={{ out: place().width < LABEL_PX }}>{span()}</em>
        </Show>
      </span>
    </Show>
  )
}
