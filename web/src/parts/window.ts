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

export interface RowWindow {
  from: number
  /** One after the last. */
  to: number
  /** Pixels before the first row that is kept, and of all rows. */
  before: number
  height: number
}

export function createWindow({ heights, element, margin = 600 }: WindowOptions): Accessor<RowWindow> {
  const [view, setView] = createSignal(
    { top: 0, bottom: 1_200 },
    { equals: (a, b) => a.top === b.top && a.bottom === b.bottom },
  )
  const look = () => {
    const at = element()?.getBoundingClientRect().top ?? 0
    // In steps, so that scrolling by a few pixels changes nothing.
    const step = margin / 2
    const top = Math.floor((-at - margin) / step) * step
    setView({ top, bottom: top + innerHeight + 2 * margin + step })
  }
  onMount(() => {
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    onCleanup(() => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    })
  })
  const ends = createMemo(() => endsOf(heights()))
  return createMemo(() => rowsIn(ends(), view()))
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
