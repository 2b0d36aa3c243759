// The refusal beside the ghost that it is about: it never covers it, follows it, and is a sheet from below on a phone.
import { type Component, createEffect, createSignal, onCleanup, onMount, Show } from 'solid-js'
import { ghosts } from '../../data/draft.ts'
import { words } from '../../words.ts'
import { bookingAsked } from './open.ts'
import { refusal, RefusalBox } from './refusal-box.tsx'
import './booking.css'

const GAP = 16
const EDGE = 8

export const RefusalBeside: Component = () => (
  <Show when={refusal() !== null && bookingAsked() === null}>
    <Box />
  </Show>
)

interface Around {
  left: number
  right: number
  top: number
  bottom: number
}

/** Where the ghosts are that are seen: to the right of them, else to the left, else where there is room. */
function ghostsSeen(): Around | null {
  const all = [...document.querySelectorAll('.bk-gh')].map(ghost => ghost.getBoundingClientRect())
  const seen = all.filter(({ bottom, top }) => bottom > 0 && top < innerHeight)
  if (seen.length === 0) return null
  return {
    left: Math.min(...seen.map(({ left }) => left)),
    right: Math.max(...seen.map(({ right }) => right)),
    top: Math.min(...seen.map(({ top }) => top)),
    bottom: Math.max(...seen.map(({ bottom }) => bottom)),
  }
}

function placeBeside(
  around: Around | null,
  box: { width: number; height: number },
  page: { width: number; height: number },
) {
  const most = { left: page.width - box.width - EDGE, top: page.height - box.height - EDGE }
  if (around === null) return { left: most.left, top: Math.min(most.top, 140) }
  const isRight = around.right + GAP <= most.left
  const isLeft = around.left - GAP - box.width >= EDGE
  const left = isRight ? around.right + GAP : isLeft ? around.left - GAP - box.width : most.left
  const beside = isRight || isLeft
  const top = beside ? around.top - 40 : around.bottom + GAP
  return { left: Math.max(EDGE, left), top: Math.max(EDGE, Math.min(top, most.top)) }
}

const Box: Component = () => {
  let box!: HTMLDivElement
  const [at, setAt] = createSignal({ left: 0, top: 0 })
  const place = () => {
    const { width, height } = box.getBoundingClientRect()
    setAt(placeBeside(ghostsSeen(), { width, height }, { width: innerWidth, height: innerHeight }))
  }
  onMount(() => {
    const watch = new ResizeObserver(place)
    watch.observe(box)
    addEventListener('scroll', place, true)
    addEventListener('resize', place)
    onCleanup(() => {
      watch.disconnect()
      removeEventListener('scroll', place, true)
      removeEventListener('resize', place)
    })
  })
  createEffect(() => {
    ghosts()
    refusal()
    requestAnimationFrame(place)
  })
  return (
    <div
      ref={box}
      class="bk-box"
      role="dialog"
      aria-label={words.booking.doesNot}
      style={{ left: `${at().left}px`, top: `${at().top}px` }}
    >
      <RefusalBox />
    </div>
  )
}
