// A line to take elsewhere, with a button that copies it.
import { type Component, createSignal } from 'solid-js'
import { words } from '../words.ts'
import { Icon } from './icon.tsx'

const SHOWN_MS = 1_500

export const CopyButton: Component<{ text: string; label?: string }> = props => {
  const [isDone, setIsDone] = createSignal(false)
  const copy = async () => {
    await navigator.clipboard.writeText(props.text)
    setIsDone(true)
    setTimeout(() => setIsDone(false), SHOWN_MS)
  }
  return (
    <button
      type="button"
      class="icon copy"
      aria-label={isDone() ? words.doing.copied : (props.label ?? `${words.doing.copy}: ${props.text}`)}
      onClick={() => void copy().catch(() => {})}
    >
      <Icon name={isDone() ? 'check' : 'copy'} />
    </button>
  )
}

export const CopyLine: Component<{ text: string }> = props => (
  <p class="cli">
    <code class="cut">{props.text}</code>
    <CopyButton text={props.text} />
  </p>
)
