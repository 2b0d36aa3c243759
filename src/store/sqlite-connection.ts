// A connection to a database file, with the settings that all of ours share, and the statements that it has prepared.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { limits } from '../shared/limits.ts'
import { OpenedFile } from './sqlite-file.ts'
import type { Compiled } from './statement.ts'
import type { Answer } from './transaction.ts'

export type Values = (string | number | null)[]

/** SQLite's own default, as every file of ours has it. */
const PAGE_BYTES = 4096

/** `passive` waits for nobody; `truncate` also empties the log, if nobody needs it. */
export type CheckpointMode = 'passive' | 'truncate'
/** Pages in the log, and how many of them are in the file by now. */
export interface Checkpointed {
  isBusy: boolean
  pages: number
  copied: number
}

export class SqliteConnection {
  readonly database: DatabaseSync
  readonly #file: OpenedFile
  readonly #statements: StatementSync[] = []

  constructor(path: string | URL) {
    this.database = new DatabaseSync(path, { timeout: limits.busyMsMax })
    this.#file = new OpenedFile(path)
    // SQLite's own wait for a busy file blocks the thread. While opening, that harms nobody; later we wait ourselves.
    // FULL, not NORMAL: after a power cut NORMAL may lose claims we have already answered 204 for.
    this.database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma foreign_keys = on;
      pragma temp_store = memory;
      pragma cache_size = -${limits.sqliteCacheKib};
      pragma wal_autocheckpoint = ${limits.walPagesMax};
      pragma journal_size_limit = ${limits.walPagesKept * PAGE_BYTES};
      pragma busy_timeout = 0;
    `)
  }

  /** Throws if what is written now would be lost. */
  requireFile(): void {
    this.#file.requireThere()
  }

  /** Runs a statement once for each of these lists of values. */
  execute({ id, sql, returnsRows }: Pick<Compiled, 'id' | 'sql' | 'returnsRows'>, runs: readonly Values[]): Answer {
    const statement = (this.#statements[id] ??= this.database.prepare(sql))
    if (returnsRows) {
      const rows = runs.length === 1 ? statement.all(...runs[0]!) : runs.flatMap(values => statement.all(...values))
      return { rows, count: rows.length }
    }
    let count = 0
    for (const values of runs) count += Number(statement.run(...values).changes)
    return { rows: [], count }
  }

  /** Copies the log into the file. */
  checkpoint(mode: CheckpointMode): Checkpointed {
    const { busy, log, checkpointed } = this.database.prepare(`pragma wal_checkpoint(${mode})`).get()!
    return { isBusy: busy !== 0, pages: Number(log), copied: Number(checkpointed) }
  }
}
