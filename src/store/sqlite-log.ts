// Merges the log of an embedded database (its WAL) into the file, soon after it was written.
import type { DatabaseSync } from 'node:sqlite'
import { limits } from '../shared/limits.ts'

export class SqliteLog {
  readonly #database: DatabaseSync
  #timer: NodeJS.Timeout | null = null
  #wroteAt = -Infinity

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  wrote(): void {
    this.#wroteAt = performance.now()
    this.#timer ??= setTimeout(() => this.#merge(), limits.walIdleCheckpointMs).unref()
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer)
  }

  /**
   * Copies the log into the file. The log stays there to be written over: a commit that makes it grow costs the file
   * system half as much again. It is emptied only if it has become too large, behind an outside reader.
   */
  #merge(): void {
    this.#timer = null
    const isQuiet = performance.now() - this.#wroteAt >= limits.walIdleCheckpointMs
    try {
      const { log: pages, checkpointed } = this.#checkpoint('passive')
      const isSmall = Number(pages) <= limits.walPagesMax
      if (isQuiet && pages === checkpointed && (isSmall || this.#checkpoint('truncate')['busy'] === 0)) return
    } catch {
      // A full or failing disk. Nothing is lost: the log stays, and the next write reports the error.
    }
    this.#timer = setTimeout(() => this.#merge(), limits.walIdleCheckpointMs).unref()
  }

  #checkpoint(how: 'passive' | 'truncate') {
    return this.#database.prepare(`pragma wal_checkpoint(${how})`).get()!
  }
}
