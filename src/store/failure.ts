// What can go wrong with a database, in the words that matter to callers.

/** The database can't be reached or can't take the write; nothing was decided, try again later. */
export class StoreUnavailable extends Error {}

/** What is on disk can't be read as a database any more; trying again is of no use. */
export class StoreDamaged extends StoreUnavailable {}

export const LOCK_TIMEOUT = 'lock_timeout'

/** Another transaction was in the way; a fresh start may succeed. */
export class StoreConflict extends Error {
  readonly reason: string
  constructor(reason: string, cause?: unknown) {
    super(`conflict in the database: ${reason}`, { cause })
    this.reason = reason
  }
}

/** Someone keeps a row locked for longer than this transaction wanted to wait. */
export const isHeldUp = (error: unknown): boolean => error instanceof StoreConflict && error.reason === LOCK_TIMEOUT

/** A guard that our own decision had already checked didn't hold: a bug, stopped before it could do harm. */
export class GuardFailed extends Error {}
