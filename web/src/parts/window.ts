// Which of many rows are in view. Rows have fixed heights, so a long page costs as much as what is seen of it.
import { type Accessor, createMemo, createSignal, onCleanup, onMount } from 'solid-js'

interface WindowOptions {
  /** The heights of all rows in pixels, or one for all. */
  heights: Accessor<readonly number[] | { each: number; count: number }>
  /** The element that holds the rows. The page itself scrolls. */
  element: () => HTMLElement | undefined
  /** Pixels above and below that are kept ready. */
  margin?: number
}

interface RowWindow {
  from: number
  /** One after the last. */
  to: number
  /** Pixels before the first row that is kept, and of all rows. */
  before: number
  height: number
}

/** Rows of so many pixels are added at each side in one frame, where they are seen and where not yet. With more of them the frame would come late. */
const SEEN_GROWTH_PX = 240
const GROWTH_PX = 120
/** Scrolling by less than this changes nothing. */
const GRAIN_PX = 60

interface Range {
  top: number
  bottom: number
}

export function createWindow({ heights, element, margin = 480 }: WindowOptions): Accessor<RowWindow> {
  const [view, setView] = createSignal<Range>({ top: 0, bottom: 1_200 }, { equals: isSame })
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    const top = -(element()?.getBoundingClientRect().top ?? 0)
    const seen = { top, bottom: top + innerHeight }
    const wanted = around(seen, margin)
    const next = grown(view(), seen, wanted)
    setView(next)
    stop()
    // Not before the next frame, even if this one hasn't come to its callbacks yet.
    if (!isSame(next, wanted)) frame = requestAnimationFrame(() => (timer = setTimeout(look)))
  }
  const stop = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
  onMount(() => {
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    // What is above the rows may grow or shrink, and moves them without a scroll.
    const observer = new ResizeObserver(look)
    observer.observe(document.body)
    onCleanup(() => {
      stop()
      observer.disconnect()
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    })
  })
  const ends = createMemo(() => endsOf(heights()))
  return createMemo(() => rowsIn(ends(), view()), undefined, { equals: isSameWindow })
}

const isSame = (a: Range, b: Range) => a.top === b.top && a.bottom === b.bottom
const isSameWindow = (a: RowWindow, b: RowWindow) =>
  a.from === b.from && a.to === b.to && a.before === b.before && a.height === b.height

const around = ({ top, bottom }: Range, margin: number): Range => ({
  top: Math.floor((top - margin) / GRAIN_PX) * GRAIN_PX,
  bottom: Math.ceil((bottom + margin) / GRAIN_PX) * GRAIN_PX,
})

/**
 * What is drawn next, on the way from what is drawn to what is wanted. What is seen comes first. After a jump it begins in
 * the middle: whoever jumped to a row finds it there.
 */
export function grown(drawn: Range, seen: Range, wanted: Range): Range {
  if (drawn.bottom <= seen.top || drawn.top >= seen.bottom) {
    const middle = (seen.top + seen.bottom) / 2
    return around({ top: middle, bottom: middle }, SEEN_GROWTH_PX / 2)
  }
  const { top, bottom } = around(seen, 0)
  return {
    top: Math.max(wanted.top, drawn.top - SEEN_GROWTH_PX, Math.min(top, drawn.top - GROWTH_PX)),
    bottom: Math.min(wanted.bottom, drawn.bottom + SEEN_GROWTH_PX, Math.max(bottom, drawn.bottom + GROWTH_PX)),
  }
}

type Ends = { each: number; count: number } | readonly number[]

function endsOf(heights: readonly number[] | { each: number; count: number }): Ends {
  if ('each' in heights) return heights
  let sum = 0
  return heights.map(height => (sum += height))
}

/** The rows between two heights. */
export function rowsIn(ends: Ends, { top, bottom }: { top: number; bottom: number }): RowWindow {
  if ('each' in ends) {
    const { each, count } = ends
    const from = Math.min(count, Math.max(0, Math.floor(top / each)))
    const to = Math.min(count, Math.max(from, Math.ceil(bottom / each)))
    return { from, to, before: from * each, height: count * each }
  }
  const from = firstOver(ends, top)
  const to = Math.min(ends.length, firstOver(ends, bottom) + 1)
  return { from, to: Math.max(from, to), before: from === 0 ? 0 : ends[from - 1]!, height: ends.at(-1) ?? 0 }
}

/** The place of the first end that is above this height. */
function firstOver(ends: readonly number[], height: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! > height) high = middle
    else low = middle + 1
  }
  return low
}
