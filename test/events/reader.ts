// A reader of events that is cut off again and again, and goes on from its last event, in any process.
import { type Cursor, cursorIn, type HoldfastEvent, textOf } from '../../src/events/event.ts'
import type { EventKind } from '../../src/events/kinds.ts'
import type { Process } from './world.ts'

const KINDS: ReadonlySet<EventKind> = new Set(['provider'])
/** A reader that hears nothing looks again: then the test fails by what it sees, not by hanging. */
const LOOK_MS = 2_000

export interface Habit {
  /** After so many events it is cut off, in turn. 0: before it took any. */
  readonly stops: readonly number[]
  /** Waits for events, or asks for pages again and again. */
  readonly isLive: boolean
  /** The process that it begins with. */
  readonly first: number
}

export class Reader {
  readonly seen: HoldfastEvent[] = []
  readonly #processes: readonly Process[]
  readonly #habit: Habit
  #cursor: Cursor
  #at: number
  #cuts = 0

  constructor(processes: readonly Process[], habit: Habit, from: Cursor) {
    this.#processes = processes
    this.#habit = habit
    this.#cursor = from
    this.#at = habit.first
  }

  /** Reads until it is enough. From `over` on it looks again and again: no more will happen. */
  async follow(isEnough: () => boolean, over: AbortSignal): Promise<void> {
    while (!isEnough()) {
      try {
        await this.#connect(isEnough, over)
      } catch {
        // The database cut it off.
        await new Promise(resolve => setTimeout(resolve, 5))
      }
      this.#at++
    }
  }

  /** All that there is after what it has seen. */
  async rest(): Promise<HoldfastEvent[]> {
    const found: HoldfastEvent[] = []
    for (let isLast = false; !isLast;) {
      const page = await this.#processes[0]!.publisher.read(this.#cursor, KINDS)
      found.push(...page.events)
      this.#cursor = page.cursor
      isLast = page.isLast
    }
    return found
  }

  async #connect(isEnough: () => boolean, over: AbortSignal): Promise<void> {
    const { stops, isLive } = this.#habit
    const { publisher, store } = this.#processes[this.#at % this.#processes.length]!
    let left = stops[this.#cuts++ % stops.length]!
    while (!isEnough()) {
      // Whoever asks for pages hears of no news, and of nothing that has no place yet.
      if (!isLive) await store.ordered()
      const page = await publisher.read(this.#cursor, KINDS)
      const taken = page.events.slice(0, left)
      this.seen.push(...taken)
      left -= taken.length
      if (taken.length < page.events.length) {
        const last = taken.at(-1)
        // It comes back with the text that it was given.
        if (last) this.#cursor = cursorIn(textOf(last))!
        return
      }
      this.#cursor = page.cursor
      if (!page.isLast || page.events.length > 0) continue
      if (isLive && !over.aborted) {
        const late = AbortSignal.any([over, AbortSignal.timeout(LOOK_MS)])
        await publisher.changed(this.#cursor, KINDS, late)
      } else await new Promise(resolve => setTimeout(resolve, 3))
    }
  }
}
