// A box beside what it is about: not modal, closed by Escape and by a click elsewhere; the focus goes back.
import { createEffect, onCleanup, onMount, type ParentComponent } from 'solid-js'

interface PopoverProps {
  /** What it stands beside. */
  anchor: Element
  label: string
  close: () => void
  /** Moves the focus into it; not for what is shown on hover. */
  takesFocus?: boolean
  class?: string
}

const GAP = 6
const EDGE = 8

export const Popover: ParentComponent<PopoverProps> = props => {
  let box!: HTMLDivElement
  const place = () => {
    const about = props.anchor.getBoundingClientRect()
    const { width, height } = box.getBoundingClientRect()
    const isBelow = about.bottom + GAP + height <= innerHeight - EDGE || about.top < height + GAP
    const left = Math.max(EDGE, Math.min(about.left, innerWidth - width - EDGE))
    const top = isBelow ? about.bottom + GAP : about.top - GAP - height
    box.style.left = `${left}px`
    box.style.top = `${Math.max(EDGE, Math.min(top, innerHeight - height - EDGE))}px`
  }
  onMount(() => {
    box.showPopover()
    place()
    const before = document.activeElement
    if (props.takesFocus) (box.querySelector<HTMLElement>('button, a, input, select') ?? box).focus()
    const onPointer = ({ target }: Event) => {
      if (target instanceof Node && !box.contains(target) && !props.anchor.contains(target)) props.close()
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      props.close()
    }
    document.addEventListener('pointerdown', onPointer, true)
    document.addEventListener('keydown', onKey, true)
    addEventListener('scroll', place, true)
    addEventListener('resize', place)
    onCleanup(() => {
      document.removeEventListener('pointerdown', onPointer, true)
      document.removeEventListener('keydown', onKey, true)
      removeEventListener('scroll', place, true)
      removeEventListener('resize', place)
      if (props.takesFocus && before instanceof HTMLElement && before.isConnected) before.focus()
    })
  })
  createEffect(() => {
    void props.anchor
    if (box.isConnected) queueMicrotask(place)
  })
  return (
    <div
      ref={box}
      popover="manual"
      class={`pop ${props.class ?? ''}`}
      role="dialog"
      aria-label={props.label}
      tabindex="-1"
    >
      {props.children}
    </div>
  )
}
