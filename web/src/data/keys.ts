// Keys: `g n`, `/`, `Escape`. Each place adds its own while it is shown, with a word for the list. Single keys can be
// switched off, because some people speak to their computer or press keys by accident.
import { createSignal, onCleanup } from 'solid-js'
import { keep, kept } from './settings.ts'

export interface Key {
  /** As `KeyboardEvent.key` says it, small letters; two of them with a space between for a sequence. */
  keys: string
  /** For the list of keys; null for those that need no words. */
  words: string | null
  act: (event: KeyboardEvent) => void
}

const SEQUENCE_MS = 1_200
interface Group {
  title: string
  keys: readonly Key[]
}

/** Not in a signal: a page that goes while another comes would be put back by what the other writes. */
const groups = new Set<Group>()
const [version, setVersion] = createSignal(0)
/** The newest last. */
export const keyGroups = (): readonly Group[] => {
  version()
  return [...groups]
}
const [isOn, setIsOn] = createSignal(kept('keys') !== 'off')
export { isOn as areKeysOn }

export function switchKeys(): void {
  setIsOn(!isOn())
  keep('keys', isOn() ? null : 'off')
}

/** The keys of a part, while it is shown. Later ones win. */
export function useKeys(title: string, keys: readonly Key[]): void {
  const group = { title, keys }
  groups.add(group)
  setVersion(n => n + 1)
  onCleanup(() => {
    groups.delete(group)
    setVersion(n => n + 1)
  })
}

let before: { key: string; at: number } | null = null

// On the window, so that whatever has the focus comes first: its handlers are at the document.
addEventListener('keydown', event => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  const sequence = before !== null && event.timeStamp - before.at < SEQUENCE_MS ? `${before.key} ${key}` : null
  before = { key, at: event.timeStamp }
  if (!isOn() && key.length === 1) return
  const all = [...groups].flatMap(group => group.keys)
  const found = all.findLast(one => one.keys === sequence) ?? all.findLast(one => one.keys === key)
  if (!found) return
  before = null
  event.preventDefault()
  found.act(event)
})

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest('input:not([type=checkbox], [type=radio]), textarea, select, dialog') !== null)
