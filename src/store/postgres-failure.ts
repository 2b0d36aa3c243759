// Maps errors of PostgreSQL and of the connection to the store's failures.
import pg from 'pg'
import { LOCK_TIMEOUT, StoreConflict, StoreUnavailable } from './failure.ts'

// A unique or foreign key that fails means that someone was faster: the fresh start sees what they did,
// and the decision then finds the right words for it. HF001 is raised by our own calls, for the same reason.
const CONFLICTS: Record<string, string> = {
  '40001': 'serialization',
  '40P01': 'deadlock',
  '55P03': LOCK_TIMEOUT,
  '23505': 'unique',
  '23503': 'foreign_key',
  HF001: 'stale',
}

const READ_ONLY = '25006'
const AWAY_WORDS = 'the database is away'
export const NO_TIME =
  'this process got no time to go on with a transaction, and the database ended it: the machine is too busy'
/** What connections without a session of their own come to. */
export const SHARED =
  "the database's address leads to a pooler in transaction mode, which mixes up prepared statements and loses notifications: use session mode (PgBouncer: pool_mode = session), or PostgreSQL's own address"
// What the database is not to blame for. A prepared statement that is gone, or that was there before us, is another's.
const OTHERS: Record<string, string> = { '25P03': NO_TIME, '26000': SHARED, '42P05': SHARED }
// 08: connection, 53: out of something (connections, memory, disk), 57: shut down, starting or cancelled, 58: system
// error; 25006: takes no writes; 25P03 and 25P04: it ended a transaction that was idle or took too long.
const AWAY = /^(08|53|57|58|25006|25P03|25P04|26000|42P05)/

export function classify(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  if (code && code in CONFLICTS) return new StoreConflict(CONFLICTS[code]!, error)
  // Without an SQLSTATE the error is from the socket, or from the client after it lost its socket. Refusals that a
  // transaction throws have a class of their own, and may quote any word.
  const isPlain = Object.getPrototypeOf(error) === Error.prototype
  const isAway = code
    ? AWAY.test(code) || /^E[A-Z_]+$/.test(code)
    : isPlain && /[Cc]onnection|not queryable/.test(error.message)
  return isAway ? new StoreUnavailable(OTHERS[code ?? ''] ?? AWAY_WORDS, { cause: error }) : error
}

export const isReadOnly = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === READ_ONLY

/** The statement was prepared before a migration added a column to what it selects. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'
