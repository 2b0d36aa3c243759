// The lanes on which bookings are composed: which machine each shows, and the grid that times snap to.
import { onCleanup } from 'solid-js'
import type { Span } from '../../../../src/client/status.ts'
import type { Moved } from '../../data/booking-draft.ts'
import { serverNow } from '../../data/clock.ts'
import { fleet } from '../../data/fleet.ts'
import { type Scale, snapped, stepOnGrid } from '../timeline/scale.ts'

const MINUTE_MS = 60_000
/** So near its end is the edge of a stretch. */
const EDGE_PX = 7

export const mayBook = (machine: string): boolean => fleet.machine(machine)?.may.includes('book') ?? false
export const isSameClass = (one: string, other: string): boolean =>
  fleet.machine(one)?.class === fleet.machine(other)?.class

/** The minute that comes: nothing begins before. */
export const soonest = (): number => Math.ceil(serverNow() / MINUTE_MS) * MINUTE_MS

export class Lanes {
  readonly #scale: () => Scale
  readonly #machines = new Map<HTMLElement, string>()

  constructor(scale: () => Scale) {
    this.#scale = scale
  }

  get scale(): Scale {
    return this.#scale()
  }
  get edgeMs(): number {
    const { from, to, width } = this.scale
    return (EDGE_PX * (to - from)) / width
  }

  /** Tells which machine a lane shows, while it is shown. */
  add(element: HTMLElement, machine: string): void {
    this.#machines.set(element, machine)
    onCleanup(() => this.#machines.delete(element))
  }

  /** The machines of the lanes from one to the one at this point of the page, as they are shown. */
  upTo(first: string, { x, y }: { x: number; y: number }): string[] {
    const last = document.elementFromPoint(x, y)?.closest<HTMLElement>('.tl-lane')
    const shown = [...this.#machines.keys()].filter(lane => lane.isConnected)
    shown.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))
    const all = shown.map(lane => this.#machines.get(lane)!)
    const [one, other] = [all.indexOf(first), last ? shown.indexOf(last) : -1]
    return one < 0 || other < 0 ? [first] : all.slice(Math.min(one, other), Math.max(one, other) + 1)
  }

  /** `isLoose`: to the minute, and nowhere else. */
  gridOn(machine: string, isLoose = false) {
    const neighbours = [serverNow(), ...edgesOn(machine)]
    return {
      now: serverNow(),
      snap: (at: number) => (isLoose ? Math.round(at / MINUTE_MS) * MINUTE_MS : snapped(at, this.scale, neighbours)),
      step: (at: number, steps: number) => stepOnGrid(at, steps, this.scale),
    }
  }
}

const edgesOn = (machine: string): number[] =>
  fleet
    .spans(machine)
    .flatMap(({ start, end }) => [start, end].flatMap(time => (time === null ? [] : Date.parse(time))))

/** The lease or allocation behind a bar, if the viewer may move or stretch it. */
export function movable(spans: readonly Span[]): Moved | null {
  const [shown, ...more] = spans
  // A bar may have been drawn from what the machine's row says, which doesn't say what may be done.
  const only = shown && (fleet.spans(shown.machine).find(({ id }) => id === shown.id) ?? shown)
  if (!only || more.length > 0 || (only.kind !== 'lease' && only.kind !== 'allocation')) return null
  const { id, start, end, may, kind } = only
  if (id === null || end === null) return null
  if (!may.includes('move') && !may.includes('extend')) return null
  const machines = fleet.machines().filter(({ uuid }) => fleet.spans(uuid).some(one => one.id === id))
  return {
    kind,
    id,
    name: only.name ?? id,
    start: start === null ? serverNow() : Date.parse(start),
    end: Date.parse(end),
    machines: machines.map(({ uuid }) => uuid),
  }
}
