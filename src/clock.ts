// Time and chance, handed to whoever needs them, so that tests can set both.
import { randomUUID } from 'node:crypto'

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  newUuid(): string
}

export const systemClock: Clock = { now: () => Date.now(), newUuid: () => randomUUID() }
