// The store's port. Two drivers implement it, and both must pass test/store/suite.ts.
import type { Report } from './log.ts'
import type { Read, Write } from './transaction.ts'

export interface Store {
  readonly dialect: 'sqlite' | 'postgres'
  /** Runs a transaction on one consistent state. The work may be started again, so it comes as a function. */
  read<T>(work: () => Read<T>, options?: ReadOptions): Promise<T>
  /** Runs a transaction whole or not at all; resolves when it is on disk. May start the work again after a conflict. */
  write<T>(work: () => Write<T>, options?: WriteOptions): Promise<T>
  /** Runs plain SQL in one transaction, one process at a time: for migrations, before anything else uses the store. */
  script<T>(work: (run: RunSql) => Promise<T>): Promise<T>
  /** Resolves when all our commits that others may see by now have gone through `onCommit`. */
  settled(): Promise<void>
  /** Resolves when everything that is committed has its place in the log. */
  ordered(): Promise<void>
  /** Calls `absorb` with the report of every commit from now on; the returned function removes it. */
  onCommit(absorb: Absorb): () => void
  /** Calls the listener when the log may have more, by any process; the returned function removes it. */
  onNews(listener: (news: News) => void): () => void
  ping(): Promise<void>
  close(): Promise<void>
}

/** `committed`: it has no place yet, and whoever wants to read it asks for one. `ordered`: it has. */
export type News = 'committed' | 'ordered'

export interface ReadOptions {
  /**
   * It has thousands of rows. On SQLite it runs on a thread of its own, so that others get turns. On PostgreSQL a write
   * gets plans that suit many rows.
   */
  isLong?: boolean
  /**
   * It reads whole tables into memory, with work between its statements: on PostgreSQL it may take longer than others. It
   * holds no rows, so nobody waits for it.
   */
  isLoad?: boolean
}

export interface WriteOptions extends Omit<ReadOptions, 'isLoad'> {
  /** A row that someone else has locked for longer than this is a conflict, and the work isn't started again. */
  lockWaitMs?: number
  /**
   * Only on PostgreSQL: the work is one command, which is a transaction by itself and writes the log by itself. It isn't
   * started again after a conflict. If only its answer is lost, it is given no rows.
   */
  isAlone?: boolean
}

export type RunSql = (sql: string) => Promise<Record<string, unknown>[]>

/** What a driver reports about itself, for the metrics. */
export interface StoreObserver {
  committed(transactions: number): void
  retried(reason: string): void
}

export const SILENT: StoreObserver = { committed: () => {}, retried: () => {} }

/**
 * Applies a commit to memory before the client is answered, so clients read their own writes. If it fails, the client
 * is answered all the same: SQLite's store retries it, PostgreSQL's reports a doubt, and then all is read again.
 */
export type Absorb = (report: Pick<Report, 'entries' | 'changes' | 'topics'>) => void | Promise<void>
