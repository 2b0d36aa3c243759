// That a conductor is there: it signs in, and its heart beats by the database's clock. Others give up one that is silent,
// and then it is another one that goes on under its name.
import type { Logger } from 'pino'
import type { Clock } from '../../clock/clock.ts'
import type { Store } from '../../store/store.ts'
import { heartbeat, leave, signIn } from './rows.ts'

interface PresenceOptions {
  store: Store
  clock: Clock
  log: Logger
  hostname: string
  /** The name was given by the operator, who vouches that no other process has it. */
  isNameGiven: boolean
  group: string
  drivers: readonly string[]
  /** After this time without a heartbeat it is given up. */
  silentMs: number
}

export class Presence {
  readonly #options: PresenceOptions
  #hostname: string
  #incarnation: string
  #isSignedIn = false
  #hasLeft = false
  #beatAt = -Infinity
  /** When it was heard of again after a silence. */
  #backAt = -Infinity
  #beating: Promise<void> | null = null

  constructor(options: PresenceOptions) {
    this.#options = options
    this.#hostname = options.hostname
    this.#incarnation = options.clock.newUuid()
  }

  get hostname(): string {
    return this.#hostname
  }

  /** Another one after it was given up. */
  get incarnation(): string {
    return this.#incarnation
  }

  /** Others may have given this one up by now. */
  get isLate(): boolean {
    return performance.now() - this.#beatAt > this.#options.silentMs
  }

  /** When the database was away all were silent: whoever is first to be back leaves the others time to be heard. */
  get mayJudgeOthers(): boolean {
    return !this.isLate && performance.now() - this.#backAt > this.#options.silentMs
  }

  async signIn(): Promise<void> {
    const { store, drivers, hostname, isNameGiven, group, silentMs } = this.#options
    const who = { hostname, incarnation: this.#incarnation, group, drivers }
    const spare = `${hostname}-${this.#incarnation.slice(0, 8)}`
    const at = performance.now()
    this.#hostname = await store.write(() => signIn(who, isNameGiven, silentMs, spare))
    this.#isSignedIn = true
    this.#beatAt = at
  }

  /** Says that this conductor lives; starts anew if it was given up. */
  beat(): Promise<void> {
    return (this.#beating ??= this.#beatOnce().finally(() => (this.#beating = null)))
  }

  async #beatOnce(): Promise<void> {
    const { store, log, clock } = this.#options
    // The answer to signing in was lost: once more, as the same one.
    if (!this.#isSignedIn) return this.signIn()
    const at = performance.now()
    const { isLate } = this
    if (await store.write(() => heartbeat(this.#incarnation))) {
      if (isLate) this.#backAt = at
      this.#beatAt = at
      return
    }
    if (this.#hasLeft) return
    log.warn({ hostname: this.#hostname }, 'other conductors had given this one up; it starts anew')
    this.#incarnation = clock.newUuid()
    this.#isSignedIn = false
    await this.signIn()
  }

  async leave(): Promise<void> {
    this.#hasLeft = true
    await this.#options.store.write(() => leave(this.#incarnation))
  }
}
