// Composing by keys alone. On a lane: B starts a booking at its cursor, arrows change its end, Enter ends it.
// On a booking: M, then arrows move it and Shift with arrows stretches it; Enter keeps, Escape restores.
import type { Span } from '../../../../src/client/status.ts'
import { hasStarted } from '../../data/booking-draft.ts'
import { serverNow } from '../../data/clock.ts'
import { changeDraft, draft, dropDraft, startDraft, startMove } from '../../data/draft.ts'
import { areKeysOn } from '../../data/keys.ts'
import type { LanePoint } from '../timeline/lane.tsx'
import { nudged } from './gestures.ts'
import { type Lanes, mayBook, movable, soonest } from './lanes.ts'

export class Keys {
  readonly #lanes: Lanes
  readonly #moved: () => void
  /** What the arrows change now. */
  #held: 'new' | 'move' | null = null

  constructor(lanes: Lanes, moved: () => void) {
    this.#lanes = lanes
    this.#moved = moved
  }

  forget(): void {
    this.#held = null
  }

  keyDown(machine: string, event: KeyboardEvent, { bar, at }: LanePoint): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false
    const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    const isOnBar = event.target instanceof Element && event.target.closest('.tl-b') !== null
    if (steps !== undefined) return this.#arrow(machine, steps, event.shiftKey)
    if (event.key === 'Enter') return this.#enter(isOnBar)
    if (event.key === 'Escape') return drop()
    if (!areKeysOn()) return false
    const letter = event.key.toLowerCase()
    if (letter === 'b') return this.#book(machine, at)
    return letter === 'm' && bar !== null && this.#move(bar.spans)
  }

  /** Unless something is held, arrows move the cursor: that is the lane's. */
  #arrow(machine: string, steps: number, isShifted: boolean): boolean {
    const now = draft()
    if (now === null || this.#held === null) return false
    const isEnd = this.#held === 'new' || isShifted || hasStarted(now, serverNow())
    changeDraft(nudged(now, isEnd ? 'end' : 'whole', steps, this.#lanes.gridOn(machine)))
    return true
  }

  #book(machine: string, at: number): boolean {
    if (!mayBook(machine)) return false
    const start = Math.max(at, soonest())
    startDraft({ machines: [machine], start, end: this.#lanes.gridOn(machine).step(start, 1) })
    this.#held = 'new'
    return true
  }

  #move(spans: readonly Span[]): boolean {
    const lease = movable(spans)
    if (lease === null) return false
    startMove(lease)
    this.#held = 'move'
    return true
  }

  /** A move is written as soon as it is known to fit; a new one goes on to the button. */
  #enter(isOnBar: boolean): boolean {
    const held = this.#held
    if (held === null && (isOnBar || draft() === null)) return false
    this.#held = null
    if (held === 'move') this.#moved()
    else document.querySelector<HTMLElement>('.bk-book')?.focus()
    return true
  }
}

function drop(): boolean {
  if (draft() === null) return false
  dropDraft()
  return true
}
