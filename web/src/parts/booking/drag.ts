// A drag of one pointer: by mouse from a few pixels on, by touch after a long press. Escape breaks it off.

/** A hand that hardly moves clicks. */
const THRESHOLD_PX = 4
const LONG_PRESS_MS = 400

interface DragHandlers {
  begun: () => void
  moved: (event: PointerEvent) => void
  /** False if it was broken off. */
  ended: (isDone: boolean) => void
}

export class Drag {
  readonly #stop = new AbortController()
  readonly #from: PointerEvent
  readonly #handlers: DragHandlers
  #isOn = false
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(from: PointerEvent, element: HTMLElement, handlers: DragHandlers) {
    this.#from = from
    this.#handlers = handlers
    const options = { signal: this.#stop.signal }
    const isOurs = (event: PointerEvent) => event.pointerId === from.pointerId
    addEventListener('pointermove', event => isOurs(event) && this.#move(event), options)
    addEventListener('pointerup', event => isOurs(event) && this.#end(true), options)
    addEventListener('pointercancel', event => isOurs(event) && this.#end(false), options)
    addEventListener(
      'keydown',
      event => {
        if (event.key !== 'Escape' || !this.#isOn) return
        event.preventDefault()
        event.stopPropagation()
        this.#end(false)
      },
      { ...options, capture: true },
    )
    // Scrolling would take the finger away.
    element.addEventListener('touchmove', event => this.#isOn && event.preventDefault(), { ...options, passive: false })
    element.addEventListener('contextmenu', event => this.#isOn && event.preventDefault(), options)
    if (from.pointerType === 'touch') this.#timer = setTimeout(() => this.#begin(from), LONG_PRESS_MS)
  }

  stop(): void {
    this.#stop.abort()
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #begin(event: PointerEvent): void {
    this.#isOn = true
    this.#handlers.begun()
    this.#handlers.moved(event)
  }

  #move(event: PointerEvent): void {
    const far = Math.hypot(event.clientX - this.#from.clientX, event.clientY - this.#from.clientY) >= THRESHOLD_PX
    if (this.#isOn) this.#handlers.moved(event)
    else if (!far) return
    else if (event.pointerType === 'touch') this.stop()
    else this.#begin(event)
  }

  #end(isDone: boolean): void {
    this.stop()
    if (this.#isOn) this.#handlers.ended(isDone)
  }
}
