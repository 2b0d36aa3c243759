// A sentence of words.ts in which some words are strong.
import { type Component, For } from 'solid-js'
import { STRONG } from '../words.ts'

export const Rich: Component<{ text: string }> = props => (
  <For each={partsOf(props.text)}>{({ text, isStrong }) => (isStrong ? <b>{text}</b> : text)}</For>
)

const partsOf = (sentence: string): { text: string; isStrong: boolean }[] =>
  sentence
    .split(STRONG.begin)
    .flatMap((part, place) => {
      if (place === 0) return [{ text: part, isStrong: false }]
      const [text = '', rest = ''] = part.split(STRONG.end)
      return [
        { text, isStrong: true },
        { text: rest, isStrong: false },
      ]
    })
    .filter(({ text }) => text !== '')
