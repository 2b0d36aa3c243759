// Which machine's popover is shown: after the pointer has rested on its tile, or at once with a key.
import { type Accessor, createSignal, onCleanup } from 'solid-js'

interface Shown {
  id: string
  anchor: Element
  takesFocus: boolean
}

interface Hover {
  shown: Accessor<Shown | null>
  /** The pointer is over a tile, or over none. */
  over: (id: string | null, anchor: Element | null) => void
  show: (id: string, anchor: Element, takesFocus: boolean) => void
  close: () => void
  /** The pointer is in the popover, and leaves it. */
  keep: () => void
  leave: () => void
}

const REST_MS = 350
/** Time to move the pointer from the tile into the popover. */
const LINGER_MS = 180

export function createHover(isOn: () => boolean): Hover {
  const [shown, setShown] = createSignal<Shown | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined
  let overId: string | null = null
  const later = (ms: number, act: () => void) => {
    clearTimeout(timer)
    timer = setTimeout(act, ms)
  }
  onCleanup(() => clearTimeout(timer))
  const close = () => {
    clearTimeout(timer)
    overId = null
    setShown(null)
  }
  const closeUnlessFocused = () => {
    if (shown()?.takesFocus !== true) close()
  }
  return {
    shown,
    close,
    show: (id, anchor, takesFocus) => {
      clearTimeout(timer)
      setShown({ id, anchor, takesFocus })
    },
    over(id, anchor) {
      if (!isOn() || id === overId) return
      overId = id
      if (id === null || anchor === null) {
        later(LINGER_MS, closeUnlessFocused)
        return
      }
      if (shown()?.takesFocus === true) return
      later(shown() ? LINGER_MS : REST_MS, () => setShown({ id, anchor, takesFocus: false }))
    },
    keep: () => clearTimeout(timer),
    leave: () => {
      overId = null
      later(LINGER_MS, closeUnlessFocused)
    },
  }
}
