// What is shown where there is nothing: why, and what to do.
import { type ParentComponent, createSignal, onCleanup, Show } from 'solid-js'

export const Empty: ParentComponent<{ title: string; text?: string }> = props => (
  <div class="em">
    <h2>{props.title}</h2>
    <Show when={props.text}>
      <p class="dim">{props.text}</p>
    </Show>
    {props.children}
  </div>
)

const PATIENCE_MS = 150

/** Shown while something loads, but not for a blink. */
export const Patience: ParentComponent = props => {
  const [isLong, setIsLong] = createSignal(false)
  const timer = setTimeout(() => setIsLong(true), PATIENCE_MS)
  onCleanup(() => clearTimeout(timer))
  return (
    <Show when={isLong()}>
      <div class="sk" role="status" aria-label="…">
        {props.children ?? <i />}
      </div>
    </Show>
  )
}
