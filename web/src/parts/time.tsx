// Times and countdowns: in the viewer's zone, with UTC at hand.
import { type Component, Show } from 'solid-js'
import { left, utc, when } from '../data/clock.ts'

/** `Fri 19:00`, with UTC on hover. Short, it leaves out that it is today. */
export const When: Component<{ at: string | number; isShort?: boolean }> = props => (
  <time datetime={new Date(props.at).toISOString()} title={utc(props.at)}>
    {props.isShort ? when(props.at).replace(/^today /, '') : when(props.at)}
  </time>
)

/** `1 h 56 min`: how long until then. */
export const Left: Component<{ until: string | null; endless?: string }> = props => (
  <Show when={props.until} fallback={props.endless ?? '∞'}>
    {until => <span title={`${when(until())}, ${utc(until())}`}>{left(until())}</span>}
  </Show>
)
