// Composing by keys alone. On a lane: arrows move a cursor, B starts a booking there, arrows change its end, Enter ends it.
// On a booking: M, then arrows move it and Shift with arrows stretches it; Enter keeps, Escape restores.
import { createSignal } from 'solid-js'
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
  readonly #cursor = createSignal<{ machine: string; at: number } | null>(null)
  /** What the arrows change now. */
  #held: 'new' | 'move' | null = null

  constructor(lanes: Lanes, moved: () => void) {
    this.#lanes = lanes
    this.#moved = moved
  }

  forget(): void {
    this.#held = null
  }

  cursorOn(machine: string): number | null {
    const at = this.#cursor[0]()
    return at?.machine === machine ? at.at : null
  }

  keyDown(machine: string, event: KeyboardEvent, { bar }: LanePoint): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false
    const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    const isOnBar = event.target instanceof Element && event.target.closest('.tl-b') !== null
    if (steps !== undefined) return this.#arrow(machine, steps, event.shiftKey, isOnBar)
    if (event.key === 'Enter') return this.#enter(isOnBar)
    if (event.key === 'Escape') return drop()
    if (!areKeysOn()) return false
    const letter = event.key.toLowerCase()
    if (letter === 'b') return this.#book(machine)
    return letter === 'm' && bar !== null && this.#move(bar.spans)
  }

  #arrow(machine: string, steps: number, isShifted: boolean, isOnBar: boolean): boolean {
    const now = draft()
    const { scale } = this.#lanes
    const grid = this.#lanes.gridOn(machine)
    if (now !== null && this.#held !== null) {
      const isEnd = this.#held === 'new' || isShifted || hasStarted(now, serverNow())
      changeDraft(nudged(now, isEnd ? 'end' : 'whole', steps, grid))
      return true
    }
    if (isOnBar) return false
    const at = grid.step(this.cursorOn(machine) ?? Math.max(serverNow(), scale.from), steps)
    this.#cursor[1]({ machine, at: Math.min(scale.to, Math.max(scale.from, at)) })
    return true
  }

  #book(machine: string): boolean {
    if (!mayBook(machine)) return false
    const start = Math.max(this.cursorOn(machine) ?? 0, soonest())
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
