// Room in memory for large answers: taken while they are made, and held until they are sent. Who finds none waits in line.
import { type Problem, problem } from '../problems/problem.ts'
import { limits } from '../shared/limits.ts'
import { Shares } from './shares.ts'

interface RoomOptions {
  /** All that may be held, in bytes. */
  max: number
  /** The fraction of it for one caller, once half is held. */
  share: number
  waitMsMax: number
}

interface Waiter {
  caller: string
  bytes: number
  admit: () => void
}

export class Room {
  readonly #options: RoomOptions
  readonly #shares: Shares
  readonly #line = new Set<Waiter>()

  constructor(options: RoomOptions) {
    this.#options = options
    this.#shares = new Shares(options)
  }

  /** The bytes that are held. */
  get held(): number {
    return this.#shares.all
  }

  /** How many wait. */
  get waiting(): number {
    return this.#line.size
  }

  /** Takes room for an answer that will have about so many bytes. Without room it waits in line. */
  async enter(caller: string, bytes: number): Promise<Held> {
    const waiter: Waiter = { caller, bytes, admit: () => {} }
    this.#line.add(waiter)
    this.#admit()
    if (this.#line.has(waiter)) await this.#wait(waiter)
    return new Held(this, caller, bytes)
  }

  #wait(waiter: Waiter): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#line.delete(waiter)
        reject(refusal('all'))
        this.#admit()
      }, this.#options.waitMsMax)
      waiter.admit = () => {
        clearTimeout(late)
        resolve()
      }
    })
  }

  /** In their order. Those whose own share is used up let others pass. */
  #admit(): void {
    for (const waiter of this.#line) {
      const refused = this.#shares.take(waiter.caller, waiter.bytes)
      // Smaller ones behind it would keep it waiting for ever.
      if (refused === 'all') return
      if (refused === 'share') continue
      this.#line.delete(waiter)
      waiter.admit()
    }
  }

  /** More for an answer that is being made. It doesn't wait: those who hold something would wait for each other. */
  grow(caller: string, bytes: number): void {
    const refused = this.#shares.take(caller, bytes)
    if (refused !== null) throw refusal(refused)
  }

  giveBack(caller: string, bytes: number): void {
    this.#shares.giveBack(caller, bytes)
    this.#admit()
  }
}

const refusal = (used: 'all' | 'share'): Problem =>
  used === 'share'
    ? problem('too_many_requests', { retrySeconds: limits.crowdedRetrySeconds })
    : problem('unavailable', { reason: 'Too many large answers are being made and read; try again.' })

/** The room of one answer. */
export class Held {
  readonly #room: Room
  readonly #caller: string
  #bytes: number
  #used = 0
  #isOver = false

  constructor(room: Room, caller: string, bytes: number) {
    this.#room = room
    this.#caller = caller
    this.#bytes = bytes
  }

  /** The client has left, so nobody needs the answer. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Counts a piece that was made. */
  use(bytes: number): void {
    this.#used += bytes
    if (this.#used <= this.#bytes || this.#isOver) return
    this.#room.grow(this.#caller, this.#used - this.#bytes)
    this.#bytes = this.#used
  }

  /** All is made: gives back what was taken beyond it. */
  settle(): void {
    if (this.#isOver || this.#used >= this.#bytes) return
    this.#room.giveBack(this.#caller, this.#bytes - this.#used)
    this.#bytes = this.#used
  }

  /** Gives all back. May be called again. */
  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#room.giveBack(this.#caller, this.#bytes)
  }
}
