// A state as a shape and a colour: the same on every page. An unknown state is a ring with a question mark.
import type { Component } from 'solid-js'
import type { MachineState } from '../../../src/client/status.ts'
import { words } from '../words.ts'

/** The shapes, once in the document; each glyph points to one. */
export const Shapes: Component = () => (
  <svg class="shapes" aria-hidden="true">
    <symbol id="s-free" viewBox="0 0 12 12">
      <circle cx="6" cy="6" r="4.25" stroke="currentColor" stroke-width="1.5" />
    </symbol>
    <symbol id="s-taken" viewBox="0 0 12 12">
      <circle cx="6" cy="6" r="5" fill="currentColor" />
    </symbol>
    <symbol id="s-held" viewBox="0 0 12 12">
      <circle cx="6" cy="6" r="4.25" stroke="currentColor" stroke-width="1.5" />
      <path d="M6 1.75a4.25 4.25 0 0 0 0 8.5z" fill="currentColor" />
    </symbol>
    <symbol id="s-booked" viewBox="0 0 12 12">
      <circle cx="6" cy="6" r="4.25" stroke="currentColor" stroke-width="1.5" />
      <path d="M6 1.75a4.25 4.25 0 0 1 0 8.5z" fill="currentColor" />
    </symbol>
    <symbol id="s-maintenance" viewBox="0 0 12 12">
      <rect x="2" y="1.5" width="3" height="9" rx=".8" fill="currentColor" />
      <rect x="7" y="1.5" width="3" height="9" rx=".8" fill="currentColor" />
    </symbol>
    <symbol id="s-broken" viewBox="0 0 12 12">
      <path d="M2.4 2.4l7.2 7.2M9.6 2.4L2.4 9.6" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" />
    </symbol>
    <symbol id="s-setup" viewBox="0 0 12 12">
      <circle cx="6" cy="6" r="4.25" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2 1.34" />
    </symbol>
    <symbol id="s-working" viewBox="0 0 12 12">
      <path d="M6 1.75A4.25 4.25 0 1 1 1.75 6" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />
      <path d="M6 0v3.5L3.6 1.75z" fill="currentColor" />
    </symbol>
    <symbol id="s-retired" viewBox="0 0 12 12">
      <circle cx="6" cy="6" r="4.25" stroke="currentColor" stroke-width="1.5" />
      <path d="M3.2 8.8l5.6-5.6" stroke="currentColor" stroke-width="1.5" />
    </symbol>
    <symbol id="s-unknown" viewBox="0 0 12 12">
      <circle cx="6" cy="6" r="5" stroke="currentColor" stroke-width="1" />
      <path
        d="M4.6 4.8a1.4 1.4 0 1 1 1.4 1.6v.8M6 8.6v.3"
        stroke="currentColor"
        stroke-width="1.1"
        stroke-linecap="round"
      />
    </symbol>
  </svg>
)

const isKnown = (state: string): state is MachineState => Object.hasOwn(words.states, state)

/** The shape of a state: `s-SHAPE` in the document, `g-SHAPE` for its colour. */
export const shapeOf = (state: string): string => (isKnown(state) ? state : 'unknown')

export const Glyph: Component<{ state: string }> = props => (
  <svg class={`g g-${shapeOf(props.state)}`} aria-hidden="true">
    <use href={`#s-${shapeOf(props.state)}`} />
  </svg>
)

/** The glyph with its word. A machine that a conductor works on shows the verb instead: `cleaning`. */
export const StateWord: Component<{ state: string; verb?: string | null }> = props => (
  <span class={`st st-${props.state}`}>
    <Glyph state={props.state} />
    {(props.state === 'working' && props.verb) || (isKnown(props.state) ? words.states[props.state].word : props.state)}
  </span>
)
