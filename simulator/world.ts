// Virtual time: a heap of events, which run one after the other. Each belongs to an owner: a process, the clients, or the
// world itself. What an event sets off in microtasks is over before the next one runs, and belongs to the same owner.
import type { Stream } from './chance.ts'

/** Taken before anything is patched: these are for the world itself. */
export const real = { setImmediate, setTimeout, clearTimeout, now: performance.now.bind(performance), Date }

export class Owner {
  readonly name: string
  /** For what its code draws by itself: uuids, shuffles, secrets. */
  readonly chance: Stream
  /** By how much its wall clock is ahead. */
  skewMs = 0
  /** Its events never run again. */
  isDead = false
  isPaused = false
  /** What came due while it was paused. */
  readonly held: Event[] = []
  /** When its last immediate runs: they keep their order. */
  immediateAt = 0

  constructor(name: string, chance: Stream) {
    this.name = name
    this.chance = chance
  }
}

interface Event {
  at: number
  order: number
  owner: Owner
  run: () => void | Promise<void>
  isCancelled: boolean
}

export class World {
  /** Virtual milliseconds since 1970. */
  now: number
  /** Whose code runs now; null while the world itself works. */
  current: Owner | null = null
  steps = 0
  /** No further event runs. */
  isStopped = false
  /** Runs after each event, outside of virtual time. */
  afterStep: () => Promise<void> = async () => {}
  readonly #heap: Event[] = []
  readonly #held = new Set<Promise<unknown>>()
  #order = 0

  constructor(now: number) {
    this.now = now
  }

  /** Runs it after that many virtual milliseconds; returns how to cancel it. */
  after(ms: number, owner: Owner, run: Event['run']): () => void {
    return this.at(this.now + Math.max(ms, 0), owner, run)
  }

  at(at: number, owner: Owner, run: Event['run']): () => void {
    const event: Event = { at: Math.max(at, this.now), order: this.#order++, owner, run, isCancelled: false }
    this.#push(event)
    return () => void (event.isCancelled = true)
  }

  /** Runs events until the time has come or it is done. */
  async runUntil(end: number, isDone: () => boolean = () => false): Promise<void> {
    const isOver = () => this.isStopped || isDone()
    while (this.#heap.length > 0 && this.#heap[0]!.at <= end && !isOver()) await this.#step(this.#pop())
    if (!isOver()) this.now = Math.max(this.now, end)
  }

  /** Lets its code run in the present moment. */
  async as(owner: Owner, run: () => void): Promise<void> {
    this.current = owner
    try {
      run()
      await drained()
    } finally {
      this.current = null
    }
    await this.#released()
  }

  /** Virtual time stands still until this real work is done, and what waits for it has gone on. */
  hold<T>(work: Promise<T>): Promise<T> {
    this.#held.add(work)
    return work
  }

  async #released(): Promise<void> {
    while (this.#held.size > 0) {
      const held = [...this.#held]
      this.#held.clear()
      await Promise.allSettled(held)
      await drained()
    }
  }

  resume(owner: Owner): void {
    owner.isPaused = false
    for (const event of owner.held.splice(0)) this.#push({ ...event, at: this.now, order: this.#order++ })
  }

  async #step(event: Event): Promise<void> {
    const { owner } = event
    if (event.isCancelled || owner.isDead) return
    this.now = event.at
    if (owner.isPaused) return void owner.held.push(event)
    this.steps++
    this.current = owner
    try {
      const work = event.run()
      // Only the world's own events take real time.
      if (work) {
        this.current = null
        await work
      }
      await drained()
    } finally {
      this.current = null
    }
    await this.#released()
    await this.afterStep()
  }

  #push(event: Event): void {
    const heap = this.#heap
    let place = heap.push(event) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (isBefore(heap[parent]!, event)) break
      heap[place] = heap[parent]!
      place = parent
    }
    heap[place] = event
  }

  #pop(): Event {
    const heap = this.#heap
    const first = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return first
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[place] = heap[child]!
      place = child
    }
    heap[place] = last
    return first
  }
}

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order)

/** Resolves when all microtasks and ticks are done. */
export const drained = (): Promise<void> => new Promise(resolve => real.setImmediate(resolve))

/** Real time, for the world itself. */
export const realSleep = (ms: number): Promise<void> => new Promise(resolve => void real.setTimeout(resolve, ms))
