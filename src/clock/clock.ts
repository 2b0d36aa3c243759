// Time and randomness, passed in as arguments, so that tests can set both.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  newUuid(): string
  /** For a shuffle that can be repeated. */
  newSeed(): number
  /** For keys, salts and passwords. */
  newSecret(bytes: number): Buffer
}

export const systemClock: Clock = {
  now: () => Date.now(),
  newUuid: () => randomUUID(),
  newSeed: () => randomInt(2 ** 31),
  newSecret: bytes => randomBytes(bytes),
}
