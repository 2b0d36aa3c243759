// Checks passwords with scrypt, off the event loop and a few at a time. A password that was just right is cached.
import { createHmac, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto'
import { limits } from '../shared/limits.ts'
import { BoundedMap } from '../shared/bounded-map.ts'
import { Gate } from '../shared/gate.ts'
import { problem } from '../problems/problem.ts'

// 32 MiB and about 80 ms for each hash: expensive for many guesses, acceptable for a login.
const COST = { N: 2 ** 15, r: 8, p: 1 }
const HASH_BYTES = 32

// At most 64 MiB for a hash, so that no users file can make a login use all memory.
export const HASH_PATTERN = '^scrypt\\$(16384|32768|65536)\\$8\\$[1-4]\\$[A-Za-z0-9_-]{16,64}\\$[A-Za-z0-9_-]{43}$'

export async function hashPassword(password: string, salt: Buffer): Promise<string> {
  const hash = await derive(password, salt, COST)
  const { N, r, p } = COST
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

async function isRight(stored: string, password: string): Promise<boolean> {
  const [, N, r, p, salt, hash] = stored.split('$')
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  const derived = await derive(password, Buffer.from(salt!, 'base64url'), cost)
  return timingSafeEqual(derived, Buffer.from(hash!, 'base64url'))
}

function derive(password: string, salt: Buffer, cost: { N: number; r: number; p: number }): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: 256 * cost.N * cost.r }
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

/** The hash of no password. Checking it makes an unknown name take as long as a wrong password. */
const NOBODY = `scrypt$${COST.N}$${COST.r}$${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`

interface PasswordsOptions {
  /** The HMAC key of the cache, known to this process alone. */
  secret: Buffer
  now: () => number
  /** How many hashes run at once. */
  threads: number
  /** Compares a hash with a password; tests replace it. */
  compare?: (stored: string, password: string) => Promise<boolean>
}

export class Passwords {
  readonly #options: PasswordsOptions
  readonly #right = new BoundedMap<string, number>(limits.rightPasswordsMax)
  readonly #checking = new Map<string, Promise<boolean>>()
  readonly #gate: Gate

  constructor(options: PasswordsOptions) {
    this.#options = options
    this.#gate = new Gate({
      places: options.threads,
      waitingMax: limits.hashesWaitingMax,
      refusal: () => problem('too_many_attempts', { retrySeconds: 1 }),
    })
  }

  /** Was this password right a short while ago? The hash is part of the key, so a changed password is not cached. */
  isKnown(stored: string | null, password: string): boolean {
    return stored !== null && (this.#right.get(this.#keyOf(stored, password)) ?? 0) > this.#options.now()
  }

  /** Is the same check already running or waiting? */
  isBeingChecked(stored: string | null, password: string): boolean {
    return this.#checking.has(this.#keyOf(stored ?? NOBODY, password))
  }

  /** Is the password right? Takes as long without a stored hash. Equal checks at the same time share one result. */
  check(stored: string | null, password: string): Promise<boolean> {
    const key = this.#keyOf(stored ?? NOBODY, password)
    const present = this.#checking.get(key)
    if (present) return present
    const { compare = isRight, now } = this.#options
    const check = this.#gate
      .pass(() => compare(stored ?? NOBODY, password))
      .then(right => {
        if (right) this.#right.set(key, now() + limits.rightPasswordMs)
        return right && stored !== null
      })
      .finally(() => this.#checking.delete(key))
    this.#checking.set(key, check)
    return check
  }

  /** Hashes a new secret, in the same queue as the checks. */
  hash(password: string, salt: Buffer): Promise<string> {
    return this.#gate.pass(() => hashPassword(password, salt))
  }

  #keyOf(stored: string, password: string): string {
    return createHmac('sha256', this.#options.secret).update(`${stored}\0${password}`).digest('base64')
  }
}
