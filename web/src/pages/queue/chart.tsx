// Every machine that suits as a dot at its end. A picture with a summary; the list of who has them says the same.
import { useNavigate } from '@solidjs/router'
import { type Component, createMemo, createSignal, For, onCleanup, onMount, Show } from 'solid-js'
import { minute, when, zone } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { words } from '../../words.ts'
import { chartOf, type Suit, ticksOf } from './dots.ts'
import { splitWhen } from './sayings.ts'

interface ChartProps {
  suits: readonly Suit[]
  start: string | null
  givesUp: string | null
  /** The machine whose end it waits for. */
  first: string | null
}

/** In pixels of a root font of 16. */
const HEIGHT = 116
const GROUND = 97
const STEP = 13
const MARGIN = 22
const DOT = 11

const msOf = (at: string | null) => (at === null ? null : Date.parse(at))

/** The width of an element, as if the root font had 16 px. */
function createWidth(element: () => HTMLElement): () => number {
  const [width, setWidth] = createSignal(640)
  onMount(() => {
    const look = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16
      setWidth(Math.max(160, (element().clientWidth * 16) / rem))
    }
    const observer = new ResizeObserver(look)
    observer.observe(element())
    onCleanup(() => observer.disconnect())
  })
  return width
}

const machineSaid = (uuid: string): string => {
  const machine = fleet.machine(uuid)
  if (!machine) return uuid.slice(0, 8)
  const what = machine.what ?? (machine.state === 'held' ? words.queue.aHold : words.states[machine.state].word)
  const end = machine.state === 'taken' || machine.state === 'held' ? machine.until : null
  return words.queue.dot(machine.name ?? uuid.slice(0, 8), what, end && when(end))
}

export const Chart: Component<ChartProps> = props => {
  let axis!: HTMLDivElement
  const width = createWidth(() => axis)
  const room = () => width() - 2 * MARGIN
  const chart = createMemo(() =>
    chartOf({
      now: minute(),
      width: room(),
      suits: props.suits,
      start: msOf(props.start),
      givesUp: msOf(props.givesUp),
    }),
  )
  const xOf = (at: number) =>
    MARGIN + (Math.min(Math.max(0, at - minute()), chart().to - minute()) / (chart().to - minute())) * room()
  const ticks = createMemo(() => ticksOf({ now: minute(), to: chart().to, width: room(), zone: zone() }))
  const navigate = useNavigate()
  const open = ({ target }: Event) => {
    const uuid = (target as Element).closest('[data-machine]')?.getAttribute('data-machine')
    const name = uuid ? (fleet.machine(uuid)?.name ?? uuid) : null
    if (name !== null) navigate(`/machine/${encodeURIComponent(name)}`)
  }
  return (
    <div class="plot" role="img" aria-label={summaryOf(props.suits)} onClick={open}>
      <div class="px" ref={axis}>
        <svg viewBox={`0 0 ${width()} ${HEIGHT}`} aria-hidden="true">
          <For each={ticks()}>{at => <Tick at={at} x={xOf(at)} width={width()} />}</For>
          <path class="ground" d={`M0 ${GROUND}.5H${width()}`} />
          <path class="nowline" d={`M${MARGIN} 6V${GROUND}`} />
          <text class="nowword" x={MARGIN} y={HEIGHT - 5}>
            {words.queue.now}
          </text>
          <Show when={msOf(props.givesUp)}>{at => <GivesUp at={at()} x={xOf(at())} width={width()} />}</Show>
          <Show when={msOf(props.start)}>
            {at => <path class="start" d={`M${xOf(at()).toFixed(1)} 0V${GROUND}`} />}
          </Show>
          <For each={chart().dots}>
            {({ uuid, state, x, level }) => {
              const y = GROUND - 9 - level * STEP
              return (
                <g data-machine={uuid} class="dot">
                  <title>{machineSaid(uuid)}</title>
                  <rect class="target" x={MARGIN + x - STEP / 2} y={y - STEP / 2} width={STEP} height={STEP} />
                  <use
                    class={`g-${state}`}
                    href={`#s-${state}`}
                    x={MARGIN + x - DOT / 2}
                    y={y - DOT / 2}
                    width={DOT}
                    height={DOT}
                  />
                  <Show when={uuid === props.first}>
                    <circle class="first" cx={MARGIN + x} cy={y} r="8.5" />
                  </Show>
                </g>
              )
            }}
          </For>
          <For each={chart().more}>
            {({ x, count }) => (
              <text class="more" x={MARGIN + x} y="9">
                {words.queue.moreDots(count)}
              </text>
            )}
          </For>
        </svg>
      </div>
      <Show when={chart().noEnd.length + chart().later.length > 0}>
        <div class="pr">
          <Aside title={words.queue.noEnd} suits={chart().noEnd} />
          <Aside title={words.queue.later} suits={chart().later} />
        </div>
      </Show>
    </div>
  )
}

const Tick: Component<{ at: number; x: number; width: number }> = props => {
  const label = () => {
    const { time, day } = splitWhen(when(props.at))
    return time === '00:00' ? (day ?? time) : time
  }
  return (
    <>
      <path class="day" d={`M${props.x.toFixed(1)} 6V${GROUND}`} />
      {/* A word that would run into "now" or over the edge is left out. */}
      <Show when={props.x > MARGIN + 42 && props.x < props.width - 24}>
        <text x={props.x} y={HEIGHT - 5}>
          {label()}
        </text>
      </Show>
    </>
  )
}

const GivesUp: Component<{ at: number; x: number; width: number }> = props => (
  <>
    <path class="give" d={`M${props.x.toFixed(1)} 0V${GROUND}`} />
    <text
      classList={{ givesup: true, before: props.x > props.width * 0.6 }}
      x={props.x + (props.x > props.width * 0.6 ? -6 : 6)}
      y="15"
    >
      {words.queue.givesUp(when(props.at))}
    </text>
  </>
)

const ASIDE_MAX = 20

const Aside: Component<{ title: string; suits: readonly Suit[] }> = props => (
  <Show when={props.suits.length > 0}>
    <span class="pl">{props.title}</span>
    <div>
      <For each={props.suits.slice(0, ASIDE_MAX)}>
        {({ uuid, state }) => (
          <i data-machine={uuid} title={machineSaid(uuid)}>
            <Glyph state={state} />
          </i>
        )}
      </For>
      <Show when={props.suits.length > ASIDE_MAX}>
        <span class="pl">{words.queue.moreDots(props.suits.length - ASIDE_MAX)}</span>
      </Show>
    </div>
  </Show>
)

/** `When the 16 machines that would suit come free: 1 by today 20:07, 3 by tomorrow 06:07 and 3 without a known end.` */
function summaryOf(suits: readonly Suit[]): string {
  const ends = suits.flatMap(({ end }) => end ?? []).toSorted((a, b) => a - b)
  const steps = [0, Math.floor(ends.length / 2), ends.length - 1]
  const at = [...new Set(steps)].filter(step => ends[step] !== undefined)
  const parts = at.map(step => words.queue.chartFree(step + 1, when(ends[step]!)))
  const without = suits.length - ends.length
  return `${words.queue.whenFree(suits.length)}: ${words.queue.chart([...parts, ...(without > 0 ? [words.queue.chartNone(without)] : [])])}`
}
