// Time and chance, handed to whoever needs them, so that tests can set both.
import { randomInt, randomUUID } from 'node:crypto'

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  newUuid(): string
  /** For a shuffle that can be played again. */
  newSeed(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  newUuid: () => randomUUID(),
  newSeed: () => randomInt(2 ** 31),
}
