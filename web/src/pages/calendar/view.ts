// What time is across the calendar, and how it moves. The address follows, a moment after the hand rests.
import { useSearchParams } from '@solidjs/router'
import { type Accessor, createEffect, createMemo, createSignal, on, onCleanup } from 'solid-js'
import { minute, zone } from '../../data/clock.ts'
import { showSpans } from '../../data/live.ts'
import {
  gridBefore,
  later,
  nextZoom,
  type Scale,
  scaleOf,
  xOf,
  type Zoom,
  zoomedAt,
} from '../../parts/timeline/scale.ts'
import { instantOf, startOf, startText, type View, viewIn, type Window, windowFor } from './address.ts'

export interface CalendarView {
  scale: Accessor<Scale>
  zoom: Accessor<Zoom>
  isToday: Accessor<boolean>
  today: () => void
  /** So many views earlier or later. */
  page: (step: 1 | -1) => void
  pan: (pixels: number) => void
  zoomTo: (zoom: Zoom) => void
  /** One zoom nearer or wider; the instant at `x` stays where it is. */
  zoomBy: (step: 1 | -1, x: number | null) => void
  /** Moves so far that an instant is in view. */
  reveal: (at: number) => void
}

const WRITE_MS = 250
/** On a page narrower than this a part of the time is across, as wide as it is on a desk. */
const NARROW_PX = 560
const DESK_PX = 1_036

export function createView(width: Accessor<number>): CalendarView {
  const [view, setView] = createAddressed()
  const room = () => ({ zone: zone(), width: width(), leastWidth: width() < NARROW_PX ? DESK_PX : 0 })
  const scale = createMemo(
    () => {
      const { start, zoom } = view()
      const { from: now, to } = scaleOf({ from: minute(), zoom }, room())
      const from = instantOf(start, { now: minute(), zone: zone(), length: to - now })
      return scaleOf({ from, zoom }, room())
    },
    undefined,
    { equals: sameScale },
  )
  useSpans(scale)
  const startAt = (at: number, zoom = view().zoom) => setView({ start: startOf(at, zone()), zoom })
  return {
    scale,
    zoom: () => view().zoom,
    isToday: () => view().start === null,
    today: () => setView({ ...view(), start: null }),
    page: step => {
      const { from, to, zoom } = scale()
      const isWhole = width() >= NARROW_PX
      startAt(isWhole ? later(from, zoom, zone(), step) : gridBefore(from + step * (to - from), zoom, zone()))
    },
    pan: pixels => {
      const { from, to } = scale()
      startAt(Math.round(from + (pixels / width()) * (to - from)))
    },
    zoomTo: zoom => setView({ ...view(), zoom }),
    zoomBy: (step, x) => {
      const zoom = nextZoom(view().zoom, step)
      if (zoom === view().zoom) return
      if (x === null) setView({ ...view(), zoom })
      else startAt(zoomedAt(scale(), zoom, x, room()).from, zoom)
    },
    reveal: at => {
      const x = xOf(scale(), at)
      const { from, to } = scale()
      if (x < 0 || x > width()) startAt(gridBefore(at - (to - from) * (x < 0 ? 0.75 : 0.25), view().zoom, zone()))
    },
  }
}

const sameScale = (a: Scale | undefined, b: Scale) =>
  a !== undefined && a.from === b.from && a.to === b.to && a.width === b.width && a.zone === b.zone && a.zoom === b.zoom

/** The view as the address says it, and back. */
function createAddressed(): [Accessor<View>, (view: View) => void] {
  const [query, setQuery] = useSearchParams()
  const [view, setView] = createSignal(viewIn(query))
  const textOf = ({ start, zoom }: View) => ({ from: startText(start), span: zoom === '2w' ? null : zoom })
  let timer: ReturnType<typeof setTimeout> | null = null
  // Back and forth, and links to here.
  createEffect(
    on(
      () => [query['from'], query['span']],
      () => {
        if (timer === null) setView(viewIn(query))
      },
      { defer: true },
    ),
  )
  const write = () => {
    timer = null
    setQuery(textOf(view()), { replace: true })
  }
  const change = (next: View) => {
    setView(next)
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(write, WRITE_MS)
  }
  onCleanup(() => timer !== null && clearTimeout(timer))
  return [view, change]
}

/** Asks for what is promised in view, with room on both sides. */
function useSpans(scale: Accessor<Scale>): void {
  let loaded: Window | null = null
  createEffect(() => {
    const wanted = windowFor(scale(), loaded)
    if (wanted === loaded) return
    loaded = wanted
    showSpans(wanted.from, wanted.to)
  })
}
