// What has the focus may vanish: a verb that is no longer possible, a row that is gone. Who works with keys goes on from
// what was around it, not from the top of the page.
import { onCleanup, onMount } from 'solid-js'

/** Whoever takes something away may give the focus to something better first. */
const GRACE_MS = 60

export function useKeptFocus(): void {
  let isByKeys = false
  let around: Element[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const remember = ({ target }: FocusEvent) => {
    around = []
    for (let at = target instanceof Element ? target : null; at !== null; at = at.parentElement) around.push(at)
  }
  const isLost = () => {
    const now = document.activeElement
    return isByKeys && (now === null || now === document.body) && around[0]?.isConnected === false
  }
  const keep = () => {
    if (!isLost()) return
    const rest = around.find(part => part.isConnected)
    if (rest instanceof HTMLElement && rest !== document.body) focusOn(rest)
  }
  const watcher = new MutationObserver(() => {
    if (!isLost()) return
    clearTimeout(timer)
    timer = setTimeout(keep, GRACE_MS)
  })
  const onKey = () => (isByKeys = true)
  const onPointer = () => (isByKeys = false)
  onMount(() => {
    watcher.observe(document.body, { childList: true, subtree: true })
    document.addEventListener('focusin', remember)
    document.addEventListener('keydown', onKey, true)
    document.addEventListener('pointerdown', onPointer, true)
  })
  onCleanup(() => {
    watcher.disconnect()
    clearTimeout(timer)
    document.removeEventListener('focusin', remember)
    document.removeEventListener('keydown', onKey, true)
    document.removeEventListener('pointerdown', onPointer, true)
  })
}

/** On what is around, for as long as the focus is there: a key pressed too much presses nothing. */
function focusOn(part: HTMLElement): void {
  if (part.hasAttribute('tabindex')) return part.focus()
  part.tabIndex = -1
  part.addEventListener('blur', () => part.removeAttribute('tabindex'), { once: true })
  part.focus()
}
