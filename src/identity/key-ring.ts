// This process's cache of the signing keys, refreshed at least twice a second while it gets tokens.
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import type { Store } from '../store/store.ts'
import { firstSigningKeys, isAccepted, type SigningKey, signingKeys } from './signing-keys.ts'
import { readToken, type TokenFacts, writeToken } from './token-text.ts'

interface KeyRingOptions {
  store: Store
  clock: Clock
  /** How long a token lasts at most. */
  lifeMs: number
}

export class KeyRing {
  readonly #options: KeyRingOptions
  #keys: readonly SigningKey[]
  #readAt: number
  #reading: Promise<void> | null = null

  private constructor(options: KeyRingOptions, keys: readonly SigningKey[]) {
    this.#options = options
    this.#keys = keys
    this.#readAt = options.clock.now()
  }

  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const { store, clock } = options
    return new KeyRing(options, await store.write(() => firstSigningKeys(clock.newSecret(32), clock.now())))
  }

  async sign(facts: TokenFacts): Promise<string> {
    await this.#refresh()
    return writeToken(facts, this.#keys[0]!.secret)
  }

  /** The facts of the token; null when no accepted key has signed it. */
  async read(text: string): Promise<TokenFacts | null> {
    // Without the database the cached keys still reject forged tokens; a valid one needs the database next, and fails.
    await this.#refresh().catch(() => {})
    const { clock, lifeMs } = this.#options
    const now = clock.now()
    for (const key of this.#keys) {
      const facts = isAccepted(key, now, lifeMs) ? readToken(text, key.secret) : null
      if (facts) return key.retiredAt === null || facts.issuedAt <= key.retiredAt + limits.tokenRecheckMs ? facts : null
    }
    return null
  }

  /** The accepted keys themselves, newest first. */
  async secrets(): Promise<Buffer[]> {
    await this.#refresh()
    const { clock, lifeMs } = this.#options
    return this.#keys.filter(key => isAccepted(key, clock.now(), lifeMs)).map(({ secret }) => secret)
  }

  #refresh(): Promise<void> {
    const { store, clock } = this.#options
    const age = clock.now() - this.#readAt
    if (age >= 0 && age < limits.tokenRecheckMs) return Promise.resolve()
    this.#reading ??= this.#readAgain(store, clock).finally(() => (this.#reading = null))
    return this.#reading
  }

  async #readAgain(store: Store, clock: Clock): Promise<void> {
    const began = clock.now()
    this.#keys = await store.read(signingKeys)
    this.#readAt = began
  }
}
