// Follows the log for all who listen in this process: streams, long polls, webhooks. The newest events stay in memory,
// so that a thousand listeners cost one reader. Whoever is further behind reads pages from the database.
import { limits } from '../shared/limits.ts'
import { Runner } from '../shared/runner.ts'
import type { Store } from '../store/store.ts'
import { BEGINNING, type Cursor, endOf, type HoldfastEvent, isAfter } from './event.ts'
import { type EventKind, isQuiet } from './kinds.ts'
import { logEnds } from '../audit/order.ts'
import { eventsAfter, type Page } from './read.ts'

interface PublisherOptions {
  store: Store
  failed: (error: unknown) => void
}

interface Waiter {
  after: Cursor
  kinds: ReadonlySet<EventKind>
  wake: () => void
}

export class Publisher {
  readonly #store: Store
  /** All up to this place was told to those who wait. Null until someone waited. */
  #head: Cursor | null = null
  /** The newest events up to #head, without the quiet kinds: of those the database has more than memory should. */
  #recent: HoldfastEvent[] = []
  /** #recent begins after this place. */
  #tail: Cursor = BEGINNING
  readonly #waiters = new Set<Waiter>()
  readonly #looking: Runner
  #unlisten: () => void = () => {}
  #timer: NodeJS.Timeout | null = null

  constructor({ store, failed }: PublisherOptions) {
    this.#store = store
    this.#looking = new Runner(() => this.#look(), failed)
  }

  start(): void {
    this.#unlisten = this.#store.onNews(() => this.#stir())
    this.#timer = setInterval(() => this.#stir(), limits.eventPollMs).unref()
  }

  /** Whoever waits is woken. */
  async stop(): Promise<void> {
    this.#unlisten()
    if (this.#timer) clearInterval(this.#timer)
    await this.#looking.stop()
    for (const { wake } of this.#waiters) wake()
  }

  /** The place behind all that is in the log now. */
  async newest(): Promise<Cursor> {
    await this.#store.ordered()
    return endOf((await this.#store.read(() => logEnds())).newest)
  }

  /** The next events of these kinds after a place; none when there are none yet. */
  async read(after: Cursor, kinds: ReadonlySet<EventKind>): Promise<Page> {
    const page = this.#inMemory(after, kinds) ?? (await this.#store.read(() => eventsAfter(after, limits.eventPageMax)))
    return { ...page, events: page.events.filter(({ kind }) => kinds.has(kind)) }
  }

  /** Resolves when `read` may find events of these kinds after a place, or when the signal is aborted. */
  async changed(after: Cursor, kinds: ReadonlySet<EventKind>, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#mayHave(after, kinds)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { after, kinds, wake: () => resolve() }
    this.#waiters.add(waiter)
    signal.addEventListener('abort', waiter.wake)
    this.#stir()
    await promise
    this.#waiters.delete(waiter)
    signal.removeEventListener('abort', waiter.wake)
  }

  /** Reads on, when someone waits. */
  #stir(): void {
    if (this.#waiters.size > 0) void this.#looking.run()
  }

  async #look(): Promise<void> {
    this.#head ??= this.#tail = await this.newest()
    await this.#store.ordered()
    for (let isLast = false; !isLast;) {
      const head: Cursor = this.#head
      const page = await this.#store.read(() => eventsAfter(head, limits.eventPageMax))
      this.#remember(page)
      isLast = page.isLast
      for (const { after, kinds, wake } of this.#waiters) if (this.#mayHave(after, kinds)) wake()
    }
  }

  #remember({ events, cursor }: Page): void {
    this.#recent.push(...events.filter(({ kind }) => !isQuiet(kind)))
    const surplus = this.#recent.length - limits.eventsInMemory
    if (surplus > 0) this.#tail = this.#recent.splice(0, surplus).at(-1)!
    this.#head = cursor
  }

  #mayHave(after: Cursor, kinds: ReadonlySet<EventKind>): boolean {
    if (this.#head === null || !isAfter(this.#head, after)) return false
    const events = this.#inMemory(after, kinds)?.events
    return events === undefined || events.some(({ kind }) => kinds.has(kind))
  }

  /** Null when memory doesn't go back so far, or has not all of these kinds. */
  #inMemory(after: Cursor, kinds: ReadonlySet<EventKind>): Page | null {
    if (this.#head === null || isAfter(this.#tail, after) || isAfter(after, this.#head)) return null
    if ([...kinds].some(isQuiet)) return null
    const first = this.#recent.findLastIndex(event => !isAfter(event, after)) + 1
    return { events: this.#recent.slice(first), cursor: this.#head, isLast: true }
  }
}
