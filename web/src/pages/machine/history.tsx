// What happened to the machine, and who had it. New lines come as things happen.
import { type Component, createSignal, For, Show } from 'solid-js'
import type { Past } from '../../../../src/client/status.ts'
import { lasting, minute, utc, when, zone } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { words } from '../../words.ts'
import { storyOf, type Stretch, stretchesOf } from './story.ts'

/** So many are shown at first: a machine with a long past is opened as fast. */
const SHOWN_MAX = 200

export const History: Component<{ history: readonly Past[] }> = props => {
  const [isWho, setIsWho] = createSignal(false)
  return (
    <section class="card pt">
      <header>
        <h2>{words.machine.history}</h2>
        <span class="seg" role="group" aria-label={words.machine.whoseHistory}>
          <button type="button" aria-pressed={!isWho()} onClick={() => setIsWho(false)}>
            {words.machine.everything}
          </button>
          <button type="button" aria-pressed={isWho()} onClick={() => setIsWho(true)}>
            {words.machine.whoHad}
          </button>
        </span>
      </header>
      <Show when={isWho()} fallback={<Everything history={props.history} />}>
        <WhoHad stretches={stretchesOf(props.history)} />
      </Show>
    </section>
  )
}

const Everything: Component<{ history: readonly Past[] }> = props => (
  <Show when={props.history.length > 0} fallback={<p class="dim">{words.machine.nothingYet}</p>}>
    <ol class="hist">
      <For each={props.history.slice(0, SHOWN_MAX)}>{past => <Line past={past} />}</For>
    </ol>
  </Show>
)

const Line: Component<{ past: Past }> = props => {
  const story = () => storyOf(props.past)
  return (
    <li>
      <time datetime={props.past.at} title={utc(props.past.at)}>
        {shortTime(props.past.at)}
      </time>
      <Glyph state={story().glyph} />
      <span class="grow">
        <Show when={story().who}>
          {who => (
            <>
              <b class="med">{who()}</b> <span class="dimmer">{story().project}</span>{' '}
            </>
          )}
        </Show>
        {story().words} <Show when={story().strong}>{text => <b>{text()}</b>}</Show>
        <Show when={story().why}>{why => <span class="dim"> {why()}</span>}</Show>
        <Show when={props.past.output}>
          {output => (
            <details>
              <summary class="dimmer">{words.machine.output}</summary>
              <pre class="output">{output()}</pre>
            </details>
          )}
        </Show>
      </span>
      <Show when={props.past.request}>{request => <Request id={request()} />}</Show>
    </li>
  )
}

/** Operators find it in the audit. */
const Request: Component<{ id: string }> = props => (
  <Show
    when={fleet.me().may.includes('see health')}
    fallback={<span class="mono dimmer">{props.id.slice(0, 12)}</span>}
  >
    <a
      class="mono dimmer"
      href={`/ui/operator?audit=${encodeURIComponent(props.id)}`}
      aria-label={words.machine.toAudit(props.id)}
    >
      {props.id.slice(0, 12)}
    </a>
  </Show>
)

const WhoHad: Component<{ stretches: readonly Stretch[] }> = props => (
  <Show when={props.stretches.length > 0} fallback={<p class="dim">{words.machine.nobodyYet}</p>}>
    <ol class="hist who">
      <For each={props.stretches}>
        {stretch => (
          <li>
            <Glyph state={stretch.to === null ? 'taken' : 'free'} />
            <span class="grow cut">
              <b class="med">{stretch.who ?? words.someone}</b> <span class="dimmer">{stretch.project}</span>{' '}
              <b>{stretch.name}</b>
            </span>
            <span class="dim nowrap" title={stretch.from === null ? undefined : utc(stretch.from)}>
              {words.machine.from(stretch.from === null ? null : when(stretch.from))} –{' '}
              {stretch.to === null ? words.machine.lasting : when(stretch.to)}
            </span>
            <b class="med nowrap">{lengthOf(stretch)}</b>
          </li>
        )}
      </For>
    </ol>
  </Show>
)

const lengthOf = ({ from, to }: Stretch) =>
  from === null ? '' : lasting((to === null ? minute() : Date.parse(to)) - Date.parse(from))

/** To the second today, with the day before. */
function shortTime(at: string): string {
  const [then, now] = [Temporal.Instant.from(at), Temporal.Instant.fromEpochMilliseconds(minute())].map(instant =>
    instant.toZonedDateTimeISO(zone()),
  ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime]
  return then.toPlainDate().equals(now.toPlainDate())
    ? then.toPlainTime().toString({ smallestUnit: 'second' })
    : when(at)
}
