// The failures of a database, as callers need to tell them apart.

/** The database can't be reached or can't take the write; try again later. */
export class StoreUnavailable extends Error {}

/** The file on disk can't be read as a database any more; a retry doesn't help. */
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

/** A guard failed that our own decision had already checked: a bug, stopped before it could do harm. */
export class GuardFailed extends Error {}
