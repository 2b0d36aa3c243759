// What clients were told, against what is there: answered is done, refused left no trace, unknown is one of the two.
import type { Client, Outcome, Reply } from './clients/actor.ts'

/** The state of an object that isn't there. */
export const GONE = 'gone'

/** One object, as the one client knows it that writes it. */
export class Known {
  readonly name: string
  #now = GONE
  /** Asked for without an answer: each may come at any time, or never. */
  readonly #open = new Set<string>()

  constructor(name: string) {
    this.name = name
  }

  /** After the last write that was answered. */
  get now(): string {
    return this.#now
  }

  /** No write is open, so it is as it was answered. */
  get isSure(): boolean {
    return this.#open.size === 0
  }

  mayBe(state: string): boolean {
    return state === this.#now || this.#open.has(state)
  }

  get possible(): string {
    return [this.#now, ...this.#open].join(' or ')
  }

  take(outcome: Outcome, to: string): void {
    if (outcome === 'done') this.#now = to
    if (outcome === 'unknown') this.#open.add(to)
  }
}

/** Reads the state of an object; null if no answer came. */
export type Look = (client: Client) => Promise<string | null>

interface Kept {
  known: Known
  look: Look
}

/** A write of several objects: all of it is there, or nothing. */
interface Group {
  known: Known
  before: string
  to: string
}

export class Model {
  readonly #kept: Kept[] = []
  readonly #groups: Group[][] = []
  /** Allocations that wait for the one node of their class, for the check of fairness. */
  readonly waits: Wait[] = []

  /** Remembers an object until the end. */
  keep(name: string, look: Look): Known {
    const known = new Known(name)
    this.#kept.push({ known, look })
    return known
  }

  get size(): number {
    return this.#kept.length
  }

  async write(known: Known, to: string, ask: () => Promise<Reply>): Promise<Reply> {
    const reply = await ask()
    known.take(reply.outcome, to)
    return reply
  }

  async writeAll(wanted: readonly (readonly [Known, string])[], ask: () => Promise<Reply>): Promise<Reply> {
    const group = wanted.map(([known, to]) => ({ known, before: known.now, to }))
    const reply = await ask()
    for (const { known, to } of group) known.take(reply.outcome, to)
    if (reply.outcome === 'unknown') this.#groups.push(group.filter(({ before, to }) => before !== to))
    return reply
  }

  /** Reads the object now. Only its writer may call this, and not while it writes. */
  async look(known: Known, client: Client): Promise<void> {
    const { look } = this.#kept.find(one => one.known === known)!
    const state = await look(client)
    if (state !== null) this.#compare(known, state, client)
  }

  /** When all is quiet: reads every object. */
  async examine(client: Client): Promise<void> {
    const found = new Map<Known, string>()
    for (const { known, look } of this.#kept) {
      const state = await look(client)
      if (state === null) client.found('model', `${known.name} can't be read, although all is quiet`)
      else {
        found.set(known, state)
        this.#compare(known, state, client)
      }
    }
    for (const group of this.#groups) {
      const done = group.filter(({ known, to }) => found.get(known) === to)
      if (done.length === 0 || done.length === group.length) continue
      const names = (some: readonly Group[]) => some.map(({ known }) => known.name).join(', ')
      const rest = group.filter(one => !done.includes(one))
      client.found('model', `half of one write is there: ${names(done)} but not ${names(rest)}`)
    }
  }

  #compare(known: Known, state: string, client: Client): void {
    if (!known.mayBe(state)) client.found('model', `${known.name} is ${state}, but may only be ${known.possible}`)
  }
}

/** An allocation that was asked for and may wait. */
export interface Wait {
  uuid: string
  resourceClass: string
  /** Before it was sent, and when it was known to be there. */
  askedAt: number
  answeredAt: number
}
