// The presence of a conductor: it signs in and sends heartbeats, by the database's clock. Others give up a silent one;
// it then signs in again as a new incarnation.
import type { Logger } from 'pino'
import { recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Store } from '../../store/store.ts'
import { heartbeat, leave, signIn } from './rows.ts'

interface PresenceOptions {
  store: Store
  clock: Clock
  log: Logger
  hostname: string
  /** The operator chose the name, and vouches that no other process has it. */
  isNameGiven: boolean
  group: string
  drivers: readonly string[]
  /** After this time without a heartbeat, others give it up. */
  silentMs: number
  witness: Witness
  /** Called when others have given this conductor up. */
  givenUp?: () => void
}

export class Presence {
  readonly #options: PresenceOptions
  #hostname: string
  #incarnation: string
  #isSignedIn = false
  #hasLeft = false
  #beatAt = -Infinity
  /** The time of the first heartbeat after a silence. */
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

  /** Changes after others have given this conductor up. */
  get incarnation(): string {
    return this.#incarnation
  }

  /** Others may have given this one up by now. */
  get isLate(): boolean {
    return performance.now() - this.#beatAt > this.#options.silentMs
  }

  /**
   * After an outage of the database all were silent, and after a jump of its clock all seem so: the first one back gives
   * the others time for a heartbeat.
   */
  get mayJudgeOthers(): boolean {
    return !this.isLate && performance.now() - this.#backAt > this.#options.silentMs
  }

  async signIn(): Promise<void> {
    const { store, drivers, hostname, isNameGiven, group, silentMs, witness } = this.#options
    const who = { hostname, incarnation: this.#incarnation, group, drivers }
    const spare = `${hostname}-${this.#incarnation.slice(0, 8)}`
    const at = performance.now()
    const entry = witness({ action: 'sign_in', outcome: 'done' })
    this.#hostname = await store.write(() => recorded(signIn(who, isNameGiven, silentMs, spare), entry))
    this.#isSignedIn = true
    this.#beatAt = at
  }

  /** Sends a heartbeat; signs in again if others have given this conductor up. */
  beat(): Promise<void> {
    return (this.#beating ??= this.#beatOnce().finally(() => (this.#beating = null)))
  }

  async #beatOnce(): Promise<void> {
    const { store, log, clock } = this.#options
    // The answer to the sign-in was lost: sign in again as the same incarnation.
    if (!this.#isSignedIn) return this.signIn()
    const at = performance.now()
    const { isLate } = this
    const heardMs = await store.write(() => heartbeat(this.#incarnation))
    if (heardMs !== null) {
      if (isLate || Math.abs(heardMs) > this.#options.silentMs) this.#backAt = at
      this.#beatAt = at
      return
    }
    if (this.#hasLeft) return
    log.warn({ hostname: this.#hostname }, 'other conductors had given this one up; it starts anew')
    this.#incarnation = clock.newUuid()
    this.#isSignedIn = false
    this.#options.givenUp?.()
    await this.signIn()
  }

  async leave(): Promise<void> {
    this.#hasLeft = true
    const { store, witness } = this.#options
    const entry = witness({ action: 'sign_off', outcome: 'done' })
    await store.write(() => recorded(leave(this.#hostname, this.#incarnation), entry))
  }
}
