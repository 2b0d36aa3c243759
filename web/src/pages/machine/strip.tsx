// The machine's own calendar: two weeks from today.
import { type Component, createMemo, Show } from 'solid-js'
import type { Machine, Span } from '../../../../src/client/status.ts'
import { minute, when, zone } from '../../data/clock.ts'
import { Axis, createWidth, Grid, NowLine } from '../../parts/timeline/axis.tsx'
import { barsOf } from '../../parts/timeline/bars.ts'
import { Lane } from '../../parts/timeline/lane.tsx'
import { type Scale, scaleOf, startOfDay, xOf } from '../../parts/timeline/scale.ts'
import { words } from '../../words.ts'

/** Narrower than that, fewer days are shown. */
const LEAST_PX = 840

interface StripProps {
  machine: Machine
  spans: readonly Span[]
}

export const Strip: Component<StripProps> = props => {
  let box!: HTMLElement
  const width = createWidth(() => box)
  const scale = createMemo((): Scale =>
    scaleOf({ from: startOfDay(minute(), zone()), zoom: '2w' }, { zone: zone(), width: width(), leastWidth: LEAST_PX }),
  )
  const bars = createMemo(() => barsOf(props.machine, props.spans, minute()))
  return (
    <section ref={box} class="card strip" aria-label={words.machine.calendar}>
      <Axis scale={scale()} />
      <div class="ln">
        <Grid scale={scale()} />
        <Lane
          label={words.machine.lane(props.machine.name ?? props.machine.uuid)}
          bars={bars()}
          scale={scale()}
          isBookable={props.machine.bookable}
          role="group"
          open={() => {}}
        />
        <FreeFrom machine={props.machine} scale={scale()} ends={bars().map(({ to }) => to)} />
        <NowLine scale={scale()} />
      </div>
    </section>
  )
}

interface FreeProps {
  machine: Machine
  scale: Scale
  ends: readonly (number | null)[]
}

const LABEL_PX = 220

/** From when on it can be booked, where there is room to say so. */
const FreeFrom: Component<FreeProps> = props => {
  const from = () => Math.max(minute(), ...props.ends.map(end => end ?? Infinity))
  const x = () => xOf(props.scale, from()) + (props.ends.length > 0 ? 180 : 12)
  const isShown = () => props.machine.may.includes('book') && x() + LABEL_PX < props.scale.width
  return (
    <Show when={isShown()}>
      <span class="free" aria-hidden="true" style={{ transform: `translateX(${x()}px)` }}>
        {props.ends.length > 0 ? words.machine.freeFrom(when(from())) : words.machine.freeNow}
      </span>
    </Show>
  )
}
