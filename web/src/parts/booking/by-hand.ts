// Composing by hand: drag over an empty stretch, drag a booking or its edge; or click where it starts and where it ends.
import type { Span } from '../../../../src/client/status.ts'
import { type Draft, hasStarted } from '../../data/booking-draft.ts'
import { serverNow } from '../../data/clock.ts'
import { changeDraft, draft, dropDraft, ghosts, startDraft, startMove } from '../../data/draft.ts'
import { fleet } from '../../data/fleet.ts'
import type { LanePoint } from '../timeline/lane.tsx'
import { timeAt } from '../timeline/scale.ts'
import { Drag } from './drag.ts'
import { type Grip, meant, partOf, type Stretch } from './gestures.ts'
import { isSameClass, type Lanes, mayBook, movable, soonest } from './lanes.ts'

/** What a hand has got hold of. */
interface Hold {
  grip: Grip
  /** It has moved: now it counts. */
  begin: () => void
  /** Whether the lanes that it goes over are chosen. */
  picks: boolean
}

/** Where it is on the page, however that is scrolled. */
const topOf = (element: HTMLElement) => element.getBoundingClientRect().top + scrollY

const gripOf = (kind: 'start' | 'end' | 'whole', was: Stretch, at: number): Grip =>
  kind === 'whole' ? { kind, was, held: at - was.start } : { kind, was }

export class Hand {
  readonly #lanes: Lanes
  /** A move has been let go. */
  readonly #moved: () => void
  #drag: Drag | null = null
  /** The click that ends a drag is none. */
  #swallowsClick = false
  /** The machine on which the first of two clicks was. */
  #clicked: string | null = null

  constructor(lanes: Lanes, moved: () => void) {
    this.#lanes = lanes
    this.#moved = moved
  }

  stop(): void {
    this.#drag?.stop()
  }
  forget(): void {
    this.#clicked = null
  }

  pointerDown(machine: string, event: PointerEvent, point: LanePoint): boolean {
    this.#swallowsClick = false
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return false
    const hold = this.#holdAt(machine, point)
    if (hold === null) return false
    const from = topOf(point.element)
    this.#drag?.stop()
    this.#drag = new Drag(event, point.element, {
      begun: () => {
        this.#swallowsClick = true
        hold.begin()
      },
      moved: now => this.#move(machine, hold, now, point.element, topOf(point.element) - from),
      ended: isDone => {
        if (!isDone) dropDraft()
        else if (draft()?.kind === 'move') this.#moved()
      },
    })
    // Text isn't selected meanwhile.
    return event.pointerType === 'mouse' && point.bar === null
  }

  /** `shift`: how far what is above has pushed the lanes since. The hand means the lanes as they were. */
  #move(machine: string, { grip, picks }: Hold, event: PointerEvent, lane: HTMLElement, shift: number): void {
    const at = timeAt(this.#lanes.scale, event.clientX - lane.getBoundingClientRect().left)
    const stretch = meant(grip, { ...this.#lanes.gridOn(machine, event.altKey), at })
    const machines = picks
      ? this.#lanes
          .upTo(machine, { x: event.clientX, y: event.clientY + shift })
          .filter(one => mayBook(one) && isSameClass(one, machine))
      : []
    changeDraft({ ...stretch, ...(machines.length > 0 && { machines, count: machines.length }) })
  }

  #holdAt(machine: string, { at, bar, edge }: LanePoint): Hold | null {
    const now = draft()
    const ghost = ghosts().get(machine)
    const part = ghost && partOf(ghost, at, this.#lanes.edgeMs)
    if (now !== null && part && bar === null) {
      const kind = hasStarted(now, serverNow()) ? 'end' : part
      return { grip: gripOf(kind, now, at), begin: () => {}, picks: false }
    }
    if (bar !== null) return this.#holdOn(bar.spans, at, edge)
    if (!mayBook(machine) || at < serverNow() - this.#lanes.edgeMs) return null
    const grip: Grip = { kind: 'new', at }
    // A draft of any machines of this class only changes its time.
    const isAny = now?.kind === 'new' && now.machines.length === 0 && now.class === fleet.machine(machine)?.class
    if (isAny) return { grip, begin: () => {}, picks: false }
    const begin = () => startDraft({ machines: [machine], ...meant(grip, { ...this.#lanes.gridOn(machine), at }) })
    return { grip, begin, picks: true }
  }

  /** What has started stays where it is: only its end can be held. */
  #holdOn(spans: readonly Span[], at: number, edge: 'start' | 'end' | null): Hold | null {
    const lease = movable(spans)
    if (lease === null || (lease.start <= serverNow() && edge !== 'end')) return null
    return { grip: gripOf(edge ?? 'whole', lease, at), begin: () => startMove(lease), picks: false }
  }

  click(machine: string, event: MouseEvent, { bar, at: pointed }: LanePoint): boolean {
    if (this.#swallowsClick) {
      this.#swallowsClick = false
      return true
    }
    if (bar !== null || !mayBook(machine)) return false
    const now = draft()
    if ((event.ctrlKey || event.metaKey || event.shiftKey) && now?.kind === 'new') return toggle(now, machine)
    const { snap, step } = this.#lanes.gridOn(machine, event.altKey)
    const at = snap(pointed)
    if (now?.kind === 'new' && this.#clicked === machine && at > now.start) {
      this.#clicked = null
      changeDraft({ end: at })
      return true
    }
    if (at < serverNow() - this.#lanes.edgeMs) return false
    this.#clicked = machine
    const start = Math.max(at, soonest())
    startDraft({ machines: [machine], start, end: step(start, 1) })
    return true
  }
}

/** Chooses a machine more, or one less. */
function toggle({ machines }: Draft, machine: string): boolean {
  if (!isSameClass(machine, machines[0] ?? machine)) return true
  const chosen = machines.includes(machine) ? machines.filter(one => one !== machine) : [...machines, machine]
  if (chosen.length > 0) changeDraft({ machines: chosen, count: chosen.length })
  return true
}
