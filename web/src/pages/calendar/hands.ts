// What hands do with the calendar: the wheel, fingers, and dragging the axis. Booking by dragging is elsewhere.
import { onCleanup, onMount } from 'solid-js'
import type { CalendarView } from './view.ts'

interface HandsOptions {
  /** All of the chart, and the part of it that has the time across. */
  chart: () => HTMLElement
  time: () => HTMLElement
  view: CalendarView
}

/** So much wheeling is one zoom. */
const ZOOM_DELTA = 60
const LINE_PX = 16
const THRESHOLD_PX = 4
/** A finger that rests so long before it moves books; it doesn't pan. */
const LONG_PRESS_MS = 380
/** Fingers so much apart or together are one zoom. */
const PINCH = 1.4

export function useHands({ chart, time, view }: HandsOptions): void {
  onMount(() => {
    const element = chart()
    const x = (clientX: number) => clientX - time().getBoundingClientRect().left
    const stops = [onWheel(element, x, view), onFingers(element, x, view), onAxis(element, view)]
    onCleanup(() => {
      for (const stop of stops) stop()
    })
  })
}

type PlaceOf = (clientX: number) => number

function onWheel(element: HTMLElement, x: PlaceOf, view: CalendarView): () => void {
  let wheeled = 0
  const pan = perFrame(view.pan)
  const turn = (event: WheelEvent) => {
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1
    if (event.ctrlKey) {
      event.preventDefault()
      wheeled += event.deltaY * unit
      if (Math.abs(wheeled) < ZOOM_DELTA) return
      view.zoomBy(wheeled > 0 ? 1 : -1, x(event.clientX))
      wheeled = 0
      return
    }
    const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
    if (!isAcross) return
    event.preventDefault()
    pan((event.deltaX || event.deltaY) * unit)
  }
  element.addEventListener('wheel', turn, { passive: false })
  return () => element.removeEventListener('wheel', turn)
}

/** Adds up what comes within a frame. */
function perFrame(act: (sum: number) => void): (part: number) => void {
  let sum = 0
  let frame: number | null = null
  return part => {
    sum += part
    frame ??= requestAnimationFrame(() => {
      const all = sum
      frame = null
      sum = 0
      act(all)
    })
  }
}

/** One finger across pans, two zoom. Up and down is the page's. */
function onFingers(element: HTMLElement, x: PlaceOf, view: CalendarView): () => void {
  const fingers = new Map<number, { x: number; startX: number; startAt: number }>()
  let isPanning = false
  let apart = 0
  const pan = perFrame(view.pan)
  const distance = () => {
    const [one, other] = [...fingers.values()]
    return one && other ? Math.max(1, Math.abs(one.x - other.x)) : 0
  }
  const down = (event: PointerEvent) => {
    if (event.pointerType !== 'touch') return
    fingers.set(event.pointerId, { x: event.clientX, startX: event.clientX, startAt: event.timeStamp })
    apart = distance()
  }
  const move = (event: PointerEvent) => {
    const finger = fingers.get(event.pointerId)
    if (!finger) return
    const by = finger.x - event.clientX
    finger.x = event.clientX
    if (fingers.size === 2) return pinch()
    if (!isPanning && event.timeStamp - finger.startAt > LONG_PRESS_MS) return up(event)
    isPanning ||= Math.abs(event.clientX - finger.startX) > THRESHOLD_PX
    if (isPanning) pan(by)
  }
  const pinch = () => {
    const now = distance()
    if (now / apart < PINCH && apart / now < PINCH) return
    const middle = [...fingers.values()].reduce((sum, finger) => sum + finger.x, 0) / fingers.size
    view.zoomBy(now > apart ? -1 : 1, x(middle))
    apart = now
  }
  const up = (event: PointerEvent) => {
    fingers.delete(event.pointerId)
    apart = distance()
    if (fingers.size === 0) isPanning = false
  }
  return listen(element, { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up })
}

/** The axis can be dragged with a mouse. */
function onAxis(element: HTMLElement, view: CalendarView): () => void {
  let last: number | null = null
  const pan = perFrame(view.pan)
  const down = (event: PointerEvent) => {
    const axis = event.target instanceof Element ? event.target.closest<HTMLElement>('.tl-days') : null
    if (!axis || event.pointerType === 'touch' || event.button !== 0) return
    last = event.clientX
    element.setPointerCapture(event.pointerId)
  }
  const move = (event: PointerEvent) => {
    if (last === null) return
    pan(last - event.clientX)
    last = event.clientX
  }
  const up = () => {
    last = null
  }
  return listen(element, { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up })
}

function listen(element: HTMLElement, listeners: Record<string, (event: PointerEvent) => void>): () => void {
  const all = Object.entries(listeners) as [string, EventListener][]
  for (const [name, act] of all) element.addEventListener(name, act)
  return () => {
    for (const [name, act] of all) element.removeEventListener(name, act)
  }
}
