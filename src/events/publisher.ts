// Follows the log for all who listen in this process: streams, long polls, webhooks. The newest events stay in memory,
// so that a thousand listeners cost one reader. Whoever is further behind reads pages from the database.
import { limits } from '../shared/limits.ts'
import { Runner } from '../shared/runner.ts'
import type { News, Store } from '../store/store.ts'
import { BEGINNING, type Cursor, endOf, type HoldfastEvent, isAfter } from './event.ts'
import { type EventKind, isQuiet } from './kinds.ts'
import { logEnds } from '../audit/order.ts'
import { eventsAfter, type Page, requireKept } from './read.ts'

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
  /** Nothing was committed since the last time that places were given. */
  #isOrdered = false
  #isStopped = false
  /** What is in memory may be of a log that is no more. */
  #isDoubted = false

  constructor({ store, failed }: PublisherOptions) {
    this.#store = store
    this.#looking = new Runner(() => this.#look(), failed)
  }

  start(): void {
    this.#unlisten = this.#store.onNews(news => this.#stir(news))
    this.#timer = setInterval(() => this.#stir('committed'), limits.eventPollMs).unref()
  }

  /** Whoever waits is woken, and nobody waits any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#unlisten()
    if (this.#timer) clearInterval(this.#timer)
    await this.#looking.stop()
    for (const { wake } of this.#waiters) wake()
  }

  /** Remembers nothing: the database may have lost the end of its log, and have written another. All who wait look again. */
  forget(): void {
    this.#isDoubted = true
    this.#stir('committed')
  }

  /** The place behind all that is in the log now. */
  async newest(): Promise<Cursor> {
    await this.#store.ordered()
    return endOf((await this.#store.read(() => logEnds())).newest)
  }

  /** The next events of these kinds after a place; none when there are none yet. */
  async read(after: Cursor, kinds: ReadonlySet<EventKind>): Promise<Page> {
    // Memory doesn't know whether there is more: nobody may have waited for a while. One look serves all who ask.
    if (this.#head === null || this.#isDoubted || !isAfter(this.#head, after)) {
      this.#isOrdered = false
      await this.#looking.run()
    }
    const remembered = this.#inMemory(after, kinds)
    if (remembered) return ofKinds(remembered, kinds)
    const page = await this.#store.read(() => eventsAfter(after, limits.eventPageMax))
    requireKept(after, page.kept)
    return ofKinds(page, kinds)
  }

  /** Resolves when `read` may find events of these kinds after a place, or when the signal is aborted. */
  async changed(after: Cursor, kinds: ReadonlySet<EventKind>, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isStopped || this.#mayHave(after, kinds)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { after, kinds, wake: () => resolve() }
    this.#waiters.add(waiter)
    signal.addEventListener('abort', waiter.wake)
    this.#stir('committed')
    await promise
    this.#waiters.delete(waiter)
    signal.removeEventListener('abort', waiter.wake)
  }

  /** Reads on, when someone waits. */
  #stir(news: News): void {
    if (news === 'committed') this.#isOrdered = false
    if (this.#waiters.size > 0) void this.#looking.run()
  }

  async #look(): Promise<void> {
    if (!this.#isOrdered) {
      this.#isOrdered = true
      await this.#store.ordered()
    }
    this.#head ??= this.#tail = await this.newest()
    for (let isLast = false; !isLast;) {
      const head: Cursor = this.#head
      const isDoubted = this.#isDoubted
      const page = await this.#store.read(() => eventsAfter(head, limits.eventPageMax))
      isLast = page.isLast
      const { newest } = page.kept
      // A database that took over from one that died may lack the end of the log: whoever is ahead of it has to know.
      const isAnew = isDoubted || head.sequence > newest
      // Or nobody has waited for long, so nobody needs all of that in memory.
      if (isAnew || newest - page.cursor.sequence > limits.eventsInMemory) this.#begin(endOf(newest))
      else this.#remember(page)
      if (isDoubted) this.#isDoubted = false
      for (const { after, kinds, wake } of this.#waiters) if (isAnew || this.#mayHave(after, kinds)) wake()
    }
  }

  /** Remembers nothing from before this place. */
  #begin(head: Cursor): void {
    this.#recent = []
    this.#head = this.#tail = head
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
    if (this.#head === null || this.#isDoubted || isAfter(this.#tail, after) || isAfter(after, this.#head)) return null
    if ([...kinds].some(isQuiet)) return null
    const first = this.#recent.findLastIndex(event => !isAfter(event, after)) + 1
    return { events: this.#recent.slice(first), cursor: this.#head, isLast: true }
  }
}

const ofKinds = (page: Page, kinds: ReadonlySet<EventKind>): Page => ({
  ...page,
  events: page.events.filter(({ kind }) => kinds.has(kind)),
})
