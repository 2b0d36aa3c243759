// One who waits: place, who, what, likely start, and when the machines come free.
import { type Component, createMemo, createSignal, createUniqueId, Show } from 'solid-js'
import type { Waiting } from '../../../../src/client/status.ts'
import { lasting, left, minute, when } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { isLive } from '../../data/live.ts'
import { requestName } from '../../data/requests.ts'
import { When } from '../../parts/time.tsx'
import { traitShown } from '../../parts/trait.ts'
import { nth, words } from '../../words.ts'
import { Chart } from './chart.tsx'
import { aheadOf, commonTraits, splitWhen, standOf, suitOf, tellingTraits } from './sayings.ts'
import { type Asked } from './sheets.tsx'
import { Why } from './why.tsx'

interface CardProps {
  row: Waiting
  isGone: boolean
  /** The chart is drawn at once; else on demand. */
  isOpen: boolean
  ask: (asked: Asked) => void
}

const PAGE = words.queue

/** As many as the status names. */
const SUITS_MAX = 100

export const Card: Component<CardProps> = props => {
  const [hasChart, setHasChart] = createSignal(props.isOpen)
  const [isWhy, setIsWhy] = createSignal(false)
  const id = createUniqueId()
  const suits = createMemo(() =>
    props.row.suits.flatMap(uuid => {
      const machine = fleet.machine(uuid)
      return machine ? [suitOf(machine, minute())] : []
    }),
  )
  const may = (verb: string) => !props.isGone && props.row.may.includes(verb)
  const caption = () =>
    suits().length === 0
      ? PAGE.nothingSuits
      : `${suits().length >= SUITS_MAX ? PAGE.whenFirst(suits().length) : PAGE.whenFree(suits().length)}:`
  return (
    <article classList={{ card: true, wt: true, gone: props.isGone }} aria-labelledby={`${id}-name`}>
      <header>
        <Place row={props.row} />
        <div class="grow">
          <h2 id={`${id}-name`}>{requestName(props.row)}</h2>
          <p class="dim">
            <Who row={props.row} /> · {wantedOf(props.row)}
          </p>
        </div>
        <Start row={props.row} />
      </header>
      <p class="cap">
        {caption()}
        <Show when={!hasChart() && suits().length > 0}>
          {' '}
          <button type="button" class="btn small quiet" onClick={() => setHasChart(true)}>
            {PAGE.showChart}
          </button>
        </Show>
      </p>
      <Show when={hasChart() && suits().length > 0}>
        <Chart
          suits={suits()}
          start={props.row.start}
          givesUp={props.row.gives_up}
          first={props.row.because?.machine ?? null}
        />
      </Show>
      <footer>
        <span class="dim">
          <Show when={!props.isGone} fallback={PAGE.gone}>
            <Since row={props.row} />
            {PAGE.stand(standOf(suits().map(({ state }) => state)))}
          </Show>
        </span>
        <span class="grow" />
        <Show when={!props.isGone}>
          <button
            type="button"
            class="btn small quiet"
            aria-expanded={isWhy()}
            aria-controls={`${id}-why`}
            onClick={() => setIsWhy(!isWhy())}
          >
            {PAGE.why}
          </button>
        </Show>
        <Show when={may('wait')}>
          <button
            type="button"
            class="btn small"
            disabled={!isLive()}
            title={isLive() ? undefined : words.doing.offline}
            onClick={() => props.ask({ kind: 'wait', row: props.row })}
          >
            {PAGE.waitLonger}
          </button>
        </Show>
        <Show when={may('delete')}>
          <button
            type="button"
            class="btn small danger"
            disabled={!isLive()}
            title={isLive() ? undefined : words.doing.offline}
            onClick={() => props.ask({ kind: 'cancel', row: props.row })}
          >
            {PAGE.cancel}
          </button>
        </Show>
      </footer>
      <div id={`${id}-why`}>
        <Show when={isWhy()}>
          <Why row={props.row} />
        </Show>
      </div>
    </article>
  )
}

const Place: Component<{ row: Waiting }> = props => (
  <span class="pos">
    <Show when={props.row.place} fallback={PAGE.noPlace}>
      {place => (
        <>
          {nth(place())}
          <em> {PAGE.outOf(props.row.of)}</em>
        </>
      )}
    </Show>
  </span>
)

/** Whose it is; a click leaves only theirs. */
export const Who: Component<{ row: Waiting }> = props => (
  <>
    <Show when={props.row.who} fallback={words.someone}>
      {who => (
        <a class="med ink" href={`/ui/queue?who=${encodeURIComponent(who())}`}>
          {who()}
        </a>
      )}
    </Show>{' '}
    <Show when={props.row.project}>
      {project => <a href={`/ui/queue?who=${encodeURIComponent(project())}`}>{project()}</a>}
    </Show>
  </>
)

/** The traits that every machine has, told anew when machines change. */
let usual: { version: number; traits: ReadonlySet<string> } | null = null
function usualTraits(): ReadonlySet<string> {
  const version = fleet.version()
  if (usual?.version !== version) usual = { version, traits: commonTraits(fleet.machines().map(fleet.traitsOf)) }
  return usual.traits
}

/** `1 gpu-h100 with NVLINK for 1 d`. */
export function wantedOf(row: Waiting): string {
  const traits = tellingTraits(row, usualTraits()).map(traitShown)
  const span = row.for === null ? PAGE.withoutEnd : PAGE.forSpan(lasting(Date.parse(row.for) - Date.parse(row.since)))
  return `${PAGE.wants(row.count, row.class)}${traits.length > 0 ? PAGE.withTraits(traits) : ''}${span}`
}

const Start: Component<{ row: Waiting }> = props => {
  const shown = () => (props.row.start === null ? null : splitWhen(when(props.row.start)))
  return (
    <div class="eta">
      <p class="dimmer">{PAGE.likelyStart}</p>
      <Show
        when={shown()}
        fallback={
          <>
            <p class="when none">{PAGE.nobodyCanTell}</p>
            <p class="dim">{PAGE.noEndInTime}</p>
          </>
        }
      >
        {start => (
          <>
            <p class="when">
              {start().time} <Show when={start().day}>{day => <span>{day()}</span>}</Show>
            </p>
            <p class="dim">{becauseOf(props.row)}</p>
          </>
        )}
      </Show>
    </div>
  )
}

/** `embed-wiki-7 ends on rack-b05-05, in 1 h 56 min`. */
function becauseOf({ because, start }: Waiting): string {
  if (because === null) return start === null ? '' : PAGE.otherEnds(left(start))
  const machine = fleet.machine(because.machine)
  const name = machine?.name ?? because.machine.slice(0, 8)
  if (because.what !== null) return PAGE.ends(because.what, name, left(because.end))
  if (machine?.state === 'held') return PAGE.holdLapses(name, left(because.end))
  // The machine's own end comes before: then it goes to one who is ahead.
  const own = machine?.until
  const isAhead = own !== null && own !== undefined && Date.parse(because.end) - Date.parse(own) > 1_000
  return (isAhead ? PAGE.aheadFirst : PAGE.comesFree)(name, left(because.end))
}

const Since: Component<{ row: Waiting }> = props => {
  const ahead = createMemo(() => aheadOf(props.row, fleet.waiting()))
  const shown = () => {
    const { seen, others } = ahead()
    if (seen.length + others === 0) return PAGE.nobodyBefore
    const named = seen.slice(0, 3).map(row => PAGE.request(requestName(row), row.who))
    return PAGE.behind(named, seen.length - named.length + others)
  }
  return (
    <>
      {PAGE.sinceBefore}
      <When at={props.row.since} isShort />
      {PAGE.sinceAfter}
      {shown()}
    </>
  )
}
