// One row of the chart: a group with its curve, a machine or a host with its lane.
import { A } from '@solidjs/router'
import { type Accessor, type Component, createMemo, Index, type JSX, Match, Show, Switch, untrack } from 'solid-js'
import type { Machine, Span } from '../../../../src/client/status.ts'
import { minute } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { isFree } from '../../data/free.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { barsOf } from '../../parts/timeline/bars.ts'
import { Lane } from '../../parts/timeline/lane.tsx'
import type { Scale } from '../../parts/timeline/scale.ts'
import { words } from '../../words.ts'
import type { BarShown, Composing } from './chart.tsx'
import { numbersOf, openCurve, pathsOf, stepsIn } from './curve.ts'
import type { ChartFocus } from './focus.ts'
import type { GroupRow, HostRow, MachineRow, Row } from './rows.ts'

interface RowProps<R extends Row> {
  row: R
  place: number
  top: number
  height: number
  scale: Scale
  prefix: string
  focus: ChartFocus
  fold: (isOpen: boolean) => void
  showQuiet: () => void
  open: (shown: BarShown) => void
  composing: Composing | null
}

export const RowOf: Component<RowProps<Row>> = props => (
  <Switch>
    <Match when={props.row.kind === 'group'}>
      <Group {...(props as RowProps<GroupRow>)} />
    </Match>
    <Match when={props.row.kind === 'machine'}>
      <MachineLane {...(props as RowProps<MachineRow>)} />
    </Match>
    <Match when={props.row.kind === 'host'}>
      <HostLane {...(props as RowProps<HostRow>)} />
    </Match>
  </Switch>
)

const Frame: Component<{ of: RowProps<Row>; class: string; isOpen?: boolean; children: JSX.Element }> = props => (
  <div
    class={`row ${props.class}`}
    role="row"
    aria-level={props.of.row.level}
    aria-rowindex={props.of.place + 3}
    aria-expanded={props.isOpen}
    style={{ top: `${props.of.top}px`, height: `${props.of.height}px` }}
  >
    {props.children}
  </div>
)

const Group: Component<RowProps<GroupRow>> = props => {
  const machines = createMemo(() => {
    fleet.version()
    // All of them change with the version: following each would cost more than it saves.
    return untrack(() => props.row.ids.flatMap(id => fleet.machine(id) ?? []))
  })
  const free = () => machines().filter(isFree).length
  const name = () => props.row.name ?? words.calendar.without[props.row.by]
  const isOuter = () => props.row.level === 1
  const said = () => {
    const { isOpen, isInner, quiet, bookable } = props.row
    if (!isOuter())
      return isOpen ? words.calendar.bookable(bookable) : words.calendar.folded(machines().length, bookable)
    // Beside the quiet ones there is room for one number.
    return isInner && isOpen && quiet > 0
      ? words.calendar.free(free())
      : words.calendar.freeOf(free(), machines().length)
  }
  return (
    <Frame of={props} class={isOuter() ? 'cls' : 'rk'} isOpen={props.row.isOpen}>
      <div class="lab" role="rowheader">
        <button
          ref={element => props.focus.register(props.row.key, 'head', element)}
          type="button"
          class="fold"
          tabindex={props.focus.isActive(props.row.key) ? 0 : -1}
          onFocus={() => props.focus.came(props.row.key, 'head')}
          onClick={() => props.fold(!props.row.isOpen)}
        >
          <Icon name={props.row.isOpen ? 'down' : 'right'} />
          <b class="cut">{isOuter() ? name() : shortOf(name(), props.prefix)}</b>
          <span class="dimmer cut">{said()}</span>
        </button>
        <Show when={props.row.isInner && props.row.isOpen && props.row.quiet > 0}>
          <button
            type="button"
            class="quiet-rows"
            tabindex={props.focus.isActive(props.row.key) ? 0 : -1}
            aria-pressed={props.row.showsQuiet}
            title={words.calendar.quietMeans}
            onClick={() => props.showQuiet()}
          >
            {words.calendar.quiet(props.row.quiet)}
          </button>
        </Show>
      </div>
      <div class="lane" role="gridcell">
        <Show when={isOuter() || !props.row.isOpen}>
          <Curve machines={machines()} scale={props.scale} hasNumbers={isOuter()} name={name()} />
        </Show>
      </div>
    </Frame>
  )
}

const shortOf = (name: string, prefix: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name)

const Curve: Component<{ machines: readonly Machine[]; scale: Scale; hasNumbers: boolean; name: string }> = props => {
  const all = createMemo(() => {
    fleet.version()
    const [machines, from] = [props.machines, minute()]
    return untrack(() => openCurve({ machines, spansOf: uuid => fleet.spans(uuid), from }))
  })
  const steps = createMemo(() => stepsIn(all(), props.scale))
  const paths = createMemo(() => pathsOf(steps(), props.machines.length, props.scale))
  const numbers = createMemo(() => (props.hasNumbers ? numbersOf(steps(), props.scale) : []))
  const label = () => {
    const counts = steps().map(({ open }) => open)
    return counts.length === 0
      ? words.calendar.noCurve
      : words.calendar.curve(props.name, counts[0]!, Math.min(...counts), Math.max(...counts))
  }
  return (
    <>
      <svg
        class="curve"
        viewBox={`0 0 ${props.scale.width} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label()}
      >
        <path class="ca" d={paths().area} />
        <path class="cl" d={paths().line} vector-effect="non-scaling-stroke" />
      </svg>
      <Index each={numbers()}>
        {(number, place) => (
          <span
            classList={{ cn: true, above: number().open < props.machines.length * 0.6 }}
            aria-hidden="true"
            style={{ left: `${number().x + 5}px` }}
          >
            {place === 0 ? words.calendar.open(number().open) : number().open}
          </span>
        )}
      </Index>
    </>
  )
}

const MachineLane: Component<RowProps<MachineRow>> = props => {
  const machine = () => fleet.machine(props.row.id)
  const spans = createMemo(() => fleet.spans(props.row.id), [], { equals: sameSpans })
  const bars = createMemo(() => barsOf(machine(), spans(), minute()))
  // One that is gone keeps its name as long as its row is held.
  const name = createMemo<string>(before => machine()?.name ?? before, props.row.id)
  const scale: Accessor<Scale> = () => props.scale
  const handlers = createMemo(() => props.composing?.handlers(props.row.id, scale) ?? null)
  const isActive = () => props.focus.isActive(props.row.key)
  const isOnLane = () => props.focus.active()?.key === props.row.key && props.focus.active()?.column === 'lane'
  return (
    <Frame of={props} class={machine()?.bookable ? '' : 'nb'}>
      <div class="lab" role="rowheader">
        <Glyph state={machine()?.state ?? 'unknown'} />
        <A
          ref={(element: HTMLElement) => props.focus.register(props.row.key, 'head', element)}
          class="mono cut"
          href={`/machine/${encodeURIComponent(name())}`}
          tabindex={isActive() ? 0 : -1}
          onFocus={() => props.focus.came(props.row.key, 'head')}
        >
          <span>
            <Show when={name().startsWith(props.prefix)} fallback={name()}>
              <span class="pre">{props.prefix}</span>
              {name().slice(props.prefix.length)}
            </Show>
            <span class="vh">{words.states[machine()?.state ?? 'retired'].word}</span>
          </span>
        </A>
        <Show when={machine()?.bookable}>
          <span class="bk" title={words.calendar.canBeBooked}>
            <Icon name="calendar" />
            <span class="vh">{words.calendar.canBeBooked}</span>
          </span>
        </Show>
      </div>
      <Lane
        label={words.calendar.emptyLane}
        bars={bars()}
        scale={props.scale}
        isBookable={machine()?.bookable ?? false}
        isActive={isActive()}
        cursor={isOnLane() ? props.focus.cursor() : null}
        ref={element => {
          props.focus.register(props.row.key, 'lane', element)
          props.composing?.lane?.(props.row.id, element)
        }}
        onFocus={() => props.focus.came(props.row.key, 'lane')}
        open={(bar, anchor) => props.open({ machine: props.row.id, bar, anchor })}
        handlers={handlers()}
        over={props.composing?.over(props.row.id, scale)}
      />
    </Frame>
  )
}

/** The spans of a machine are another list with each change of it alone. */
const sameSpans = (a: readonly Span[], b: readonly Span[]) => a === b || (a.length === 0 && b.length === 0)

const HostLane: Component<RowProps<HostRow>> = props => {
  const host = createMemo(() => fleet.hosts().find(({ uuid }) => uuid === props.row.id))
  const bars = createMemo(() => {
    const lease = host()?.lease
    if (!lease) return []
    const span: Span = { ...lease, machine: props.row.id, kind: 'lease', mine: false, may: [] }
    return barsOf(undefined, [span], minute())
  })
  return (
    <Frame of={props} class="nb">
      <div class="lab" role="rowheader">
        <Glyph state={host()?.lease ? 'taken' : 'free'} />
        <span class="mono cut">{host()?.name}</span>
      </div>
      <Lane
        label={words.calendar.emptyLane}
        bars={bars()}
        scale={props.scale}
        isBookable={false}
        isActive={props.focus.isActive(props.row.key)}
        cursor={props.focus.active()?.key === props.row.key ? props.focus.cursor() : null}
        ref={element => {
          props.focus.register(props.row.key, 'lane', element)
          props.focus.register(props.row.key, 'head', element)
        }}
        onFocus={() => props.focus.came(props.row.key, 'lane')}
        open={(bar, anchor) => props.open({ machine: props.row.id, bar, anchor })}
      />
    </Frame>
  )
}
