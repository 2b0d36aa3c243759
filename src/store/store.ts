// The store's port. Two drivers implement it, and suite.ts is what both must pass.
import type { Change } from './change.ts'
import type { Read, Write } from './transaction.ts'

export interface Store {
  readonly dialect: 'sqlite' | 'postgres'
  /** Runs a transaction on one consistent state. The work may be started again, so it comes as a function. */
  read<T>(work: () => Read<T>): Promise<T>
  /** Runs a transaction whole or not at all; resolves when it is on disk. May start the work again after a conflict. */
  write<T>(work: () => Write<T>, options?: WriteOptions): Promise<T>
  /** Runs plain SQL in one transaction, one process at a time: for migrations, before anything else uses the store. */
  script<T>(work: (run: RunSql) => Promise<T>): Promise<T>
  /** Resolves when all that others may see of our commits by now has gone through `onCommit`. */
  settled(): Promise<void>
  /** From now on every commit's changes go through this too, until it is taken off with what is answered. */
  onCommit(absorb: Absorb): () => void
  ping(): Promise<void>
  close(): Promise<void>
}

export interface WriteOptions {
  /** A row that someone else has locked for longer than this is a conflict, and the work isn't started again. */
  lockWaitMs?: number
}

export type RunSql = (sql: string) => Promise<Record<string, unknown>[]>

/** What a driver reports about itself; metrics.ts listens. */
export interface StoreObserver {
  committed(transactions: number): void
  retried(reason: string): void
}

export const SILENT: StoreObserver = { committed: () => {}, retried: () => {} }

/**
 * Takes in what was committed. Nobody is told of a commit before this is done, so clients read their own writes. When it fails, clients
 * are told of the commit all the same: SQLite's store hands it the changes again, PostgreSQL's reports a doubt, upon which all is read again.
 */
export type Absorb = (changes: readonly Change[]) => void | Promise<void>
