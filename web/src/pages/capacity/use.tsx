// How much is used of how much: in numbers and as a bar.
import { type Component, For, Show } from 'solid-js'
import { amountShown, type Use } from '../../data/capacity-tree.ts'
import { words } from '../../words.ts'
import { nameShown } from './answer.tsx'

const PAGE = words.capacity

const Meter: Component<{ use: Use; isBig?: boolean }> = props => (
  <span classList={{ mt: true, big: props.isBig ?? false }} aria-hidden="true">
    <i style={{ width: `${share(props.use) * 100}%` }} />
  </span>
)

const share = ([used, capacity]: Use) => (capacity <= 0 ? 0 : Math.min(1, used / capacity))

/** `16 / 96` with a bar; with the name of the resource where the column doesn't say it. */
export const UseOf: Component<{ resource: string; use: Use; isNamed: boolean }> = props => (
  <span class="mm" title={`${PAGE.usedOf(String(props.use[0]), String(props.use[1]))}: ${props.resource}`}>
    <em>
      {amountShown(props.resource, props.use[0])}
      <span>
        {' / '}
        {amountShown(props.resource, props.use[1])}
        <Show when={props.isNamed}> {nameShown(props.resource)}</Show>
      </span>
    </em>
    <Meter use={props.use} />
  </span>
)

const TOTALS_MAX = 10

/** What there is in all, a card for each resource. */
export const Totals: Component<{ totals: readonly (readonly [string, Use])[] }> = props => (
  <ul class="tot">
    <For each={props.totals.slice(0, TOTALS_MAX)}>
      {([resource, use]) => (
        <li>
          <p>
            <b class="cut" title={resource}>
              {nameShown(resource)}
            </b>
            <span>{PAGE.percent(Math.round(share(use) * 100))}</span>
          </p>
          <Meter use={use} isBig />
          <p class="dimmer">{PAGE.usedOf(amountShown(resource, use[0]), amountShown(resource, use[1]))}</p>
        </li>
      )}
    </For>
  </ul>
)
