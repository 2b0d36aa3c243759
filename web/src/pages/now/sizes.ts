// How large tiles and rows are, in pixels. A probe tells, because they follow the font, the pointer and the wall.
import { type Accessor, createSignal, onCleanup, onMount } from 'solid-js'
import type { Grouping } from './groups.ts'
import type { TileSizes } from './strips.ts'

interface Sizes {
  width: number
  rem: number
  tile: number
  row: number
}

interface Probe {
  sizes: Accessor<Sizes>
  /** An element as wide as a rem and as high as a tile. */
  measure: (element: HTMLElement) => void
}

export function createProbe(): Probe {
  const [sizes, setSizes] = createSignal<Sizes>({ width: innerWidth, rem: 16, tile: 36, row: 28 })
  let probe: HTMLElement | undefined
  const look = () => {
    if (!probe) return
    const { width: rem, height: tile } = probe.getBoundingClientRect()
    const row = probe.firstElementChild?.getBoundingClientRect().height ?? 28
    if (rem > 0) setSizes({ width: innerWidth, rem, tile, row })
  }
  onMount(() => {
    const observer = new ResizeObserver(look)
    if (probe) observer.observe(probe)
    addEventListener('resize', look)
    look()
    onCleanup(() => {
      observer.disconnect()
      removeEventListener('resize', look)
    })
  })
  return { sizes, measure: element => (probe = element) }
}

/** The same widths as in the style sheet. */
export function tileSizes({ width, rem, tile }: Sizes, by: Grouping, isWall: boolean): TileSizes {
  // Whole names need more room than slots.
  const isNarrow = by === 'rack'
  if (width < 640) return { columns: 5, abreast: 1, strip: tile + 0.25 * rem, head: 1.625 * rem, foot: 0.625 * rem }
  const gap = 0.1875 * rem
  if (width < 1180 && !isWall) {
    return { columns: isNarrow ? 10 : 8, abreast: 1, strip: tile + gap, head: 0, foot: 0.3125 * rem }
  }
  return {
    columns: isNarrow ? 20 : 16,
    abreast: width >= 1900 && !isWall ? 2 : 1,
    strip: tile + gap,
    head: 0,
    foot: isNarrow ? 0 : 0.3125 * rem,
  }
}
