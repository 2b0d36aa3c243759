// The draft as it would lie on a lane: dashed ink where it is free, red where something is in the way.
import { type Component, createMemo, For, Show } from 'solid-js'
import type { Ghost } from '../../data/booking-lanes.ts'
import { lasting, stretch } from '../../data/clock.ts'
import { ghosts } from '../../data/draft.ts'
import { words } from '../../words.ts'
import { type Scale, xOf } from '../timeline/scale.ts'
import './booking.css'

const LETTER_PX = 6.4

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
  const span = () => {
    const { start, end } = stretch(props.ghost.start, props.ghost.end)
    return words.booking.span(start, end)
  }
  /** As much as there is room for. */
  const label = () => {
    const length = lasting(props.ghost.end - props.ghost.start)
    return [span(), length].find(text => text.length * LETTER_PX + 16 < place().width) ?? ''
  }
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
          <em>{label()}</em>
        </Show>
      </span>
    </Show>
  )
}
