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

interface Cost {
  N: number
  r: number
  p: number
}

function costOf(stored: string): Cost {
  const [, N, r, p] = stored.split('$').map(Number) as [number, number, number, number]
  return { N, r, p }
}

/** What a hash costs, in the smallest that there can be. */
const workOf = (stored: string): number => (costOf(stored).N / 2 ** 14) * costOf(stored).p

/** What the dearest of these hashes costs. */
export const dearest = (hashes: readonly string[]): number => Math.max(...[...hashes, NOBODY].map(workOf))

/**
 * The hashes to work out for a check: its own, and idle ones up to what the dearest costs. Otherwise a cheap hash, taken
 * over from elsewhere, tells its user's name from one that nobody has.
 */
export function hashesFor(stored: string, dearest: number): Cost[] {
  const idle: Cost[] = []
  for (let left = dearest - workOf(stored); left > 0; left -= 4) idle.push({ N: 2 ** 14, r: 8, p: Math.min(left, 4) })
  return [costOf(stored), ...idle]
}

async function isRight(stored: string, password: string, dearest: number): Promise<boolean> {
  const [, , , , salt, hash] = stored.split('$')
  const derived: Buffer[] = []
  for (const cost of hashesFor(stored, dearest)) {
    derived.push(await derive(password, Buffer.from(salt!, 'base64url'), cost))
  }
  return timingSafeEqual(derived[0]!, Buffer.from(hash!, 'base64url'))
}

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
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
  compare?: (stored: string, password: string, dearest: number) => Promise<boolean>
}

/** A secret to check. */
export interface Claim {
  /** Who is claimed to be here, whether there is such a one or not. */
  key: string
  /** The hash; null if there is none. */
  stored: string | null
  secret: string
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

  /** Was this secret right a short while ago? The hash is part of the key, so a changed one is not cached. */
  isKnown(claim: Claim): boolean {
    return claim.stored !== null && (this.#right.get(this.#keyOf(claim)) ?? 0) > this.#options.now()
  }

  /** Is the same check already running or waiting? */
  isBeingChecked(claim: Claim): boolean {
    return this.#checking.has(this.#keyOf(claim))
  }

  /**
   * Is the secret right? Takes as long without a stored hash. Equal checks at the same time share one result, but only of
   * one name, known or not: otherwise made-up names would answer together and those of users apart.
   */
  check(claim: Claim, dearest: number): Promise<boolean> {
    const key = this.#keyOf(claim)
    const present = this.#checking.get(key)
    if (present) return present
    const { compare = isRight, now } = this.#options
    const { stored, secret } = claim
    const check = this.#gate
      .pass(() => compare(stored ?? NOBODY, secret, dearest))
      .then(isRight => {
        const mayEnter = isRight && stored !== null
        if (mayEnter) this.#right.set(key, now() + limits.rightPasswordMs)
        return mayEnter
      })
      .finally(() => this.#checking.delete(key))
    this.#checking.set(key, check)
    return check
  }

  /** Hashes a new secret, in the same queue as the checks. */
  hash(password: string, salt: Buffer): Promise<string> {
    return this.#gate.pass(() => hashPassword(password, salt))
  }

  #keyOf({ key, stored, secret }: Claim): string {
    const text = JSON.stringify([key, stored ?? NOBODY, secret])
    return createHmac('sha256', this.#options.secret).update(text).digest('base64')
  }
}
