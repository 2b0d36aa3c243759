// The machine's own calendar: two weeks from today.
import { useNavigate } from '@solidjs/router'
import { type Component, createEffect, createMemo, createSignal, on, onCleanup, Show } from 'solid-js'
import type { Machine, Span } from '../../../../src/client/status.ts'
import { minute, when, zone } from '../../data/clock.ts'
import type { Draft } from '../../data/booking-draft.ts'
import { draft, dropDraft } from '../../data/draft.ts'
import { useKeys } from '../../data/keys.ts'
import { RefusalBeside } from '../../parts/booking/beside.tsx'
import { createComposing } from '../../parts/booking/composing.ts'
import { BookingForm } from '../../parts/booking/form.tsx'
import { Ghosts } from '../../parts/booking/ghosts.tsx'
import { bookingAsked } from '../../parts/booking/open.ts'
import { Axis, createWidth, Grid, NowLine } from '../../parts/timeline/axis.tsx'
import { type Bar, barsOf } from '../../parts/timeline/bars.ts'
import { Lane, type LaneHandlers } from '../../parts/timeline/lane.tsx'
import { type Scale, scaleOf, startOfDay, xOf } from '../../parts/timeline/scale.ts'
import { Popover } from '../../parts/popover.tsx'
import { When } from '../../parts/time.tsx'
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
  const [shown, setShown] = createSignal<{ bar: Bar; anchor: HTMLElement } | null>(null)
  const navigate = useNavigate()
  const show = ({ start }: Draft) => navigate(`/calendar?from=${dayOf(start)}`)
  // A draft is about this machine: it doesn't go along to another.
  createEffect(on(() => props.machine.uuid, leave, { defer: true }))
  onCleanup(leave)
  const isComposed = () => draft() !== null && bookingAsked() === null
  const composing = createComposing({ scale, show })
  return (
    <>
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
            open={(bar, anchor) => setShown({ bar, anchor })}
            ref={element => composing.laneIs(props.machine.uuid, element)}
            handlers={onlyEmpty(composing.handlersFor(props.machine.uuid))}
            over={<Ghosts machine={props.machine.uuid} scale={scale()} />}
          />
          <Show when={draft() === null}>
            <FreeFrom machine={props.machine} scale={scale()} ends={bars().map(({ to }) => to)} />
          </Show>
          <NowLine scale={scale()} />
        </div>
        <Show when={shown()}>{one => <About {...one()} close={() => setShown(null)} />}</Show>
      </section>
      <Show when={isComposed()}>
        <Escape />
        <div class="compose">
          <BookingForm show={show} />
        </div>
      </Show>
      <RefusalBeside />
    </>
  )
}

const leave = () => {
  if (draft() !== null && bookingAsked() === null) dropDraft()
}

const dayOf = (at: number) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone()).toPlainDate().toString()

const Escape: Component = () => {
  useKeys(words.machine.keys, [{ keys: 'Escape', words: words.doing.cancel, act: dropDraft }])
  return null
}

/** Bookings are moved in the calendar, where all of their machines are seen. */
const onlyEmpty = ({ pointerDown, click, keyDown }: LaneHandlers): LaneHandlers => ({
  pointerDown: (event, point) => point.bar === null && (pointerDown?.(event, point) ?? false),
  click: (event, point) => point.bar === null && (click?.(event, point) ?? false),
  keyDown: (event, point) => point.bar === null && (keyDown?.(event, point) ?? false),
})

/** What a bar is. */
const About: Component<{ bar: Bar; anchor: HTMLElement; close: () => void }> = props => (
  <Popover anchor={props.anchor} label={props.bar.title} close={props.close} takesFocus>
    <p>
      <b>{props.bar.title}</b> <span class="dim">{props.bar.by}</span>
    </p>
    <p class="dim">
      <When at={props.bar.from} /> – {props.bar.to === null ? words.machine.endless : <When at={props.bar.to} />}
    </p>
    <p class="tools">
      <a class="btn small" href={`/ui/calendar?from=${dayOf(props.bar.from)}`}>
        {words.machine.inCalendar}
      </a>
    </p>
  </Popover>
)

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
