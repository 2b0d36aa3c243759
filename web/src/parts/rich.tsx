// A sentence of words.ts in which some words are strong.
import { type Component, For } from 'solid-js'
import { strongParts } from './strong.ts'

export const Rich: Component<{ text: string }> = props => (
  <For each={strongParts(props.text)}>{({ text, isStrong }) => (isStrong ? <b>{text}</b> : text)}</For>
)
