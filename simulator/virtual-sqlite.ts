// SQLite as simulated processes see it: every statement goes through the disk of the run. Must be loaded before anything
// that imports node:sqlite.
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Where simulated processes have their files. */
export interface Files {
  opened(database: DatabaseSync): void
  run<T>(sql: string, values: unknown[], work: () => T): T
}

let files: Files | null = null

/** From now on databases are opened there; null for the real thing. */
export function setFiles(next: Files | null): void {
  files = next
}

const sqlite = createRequire(import.meta.url)('node:sqlite') as { DatabaseSync: typeof DatabaseSync }
const RealDatabase = sqlite.DatabaseSync

class VirtualDatabase extends RealDatabase {
  readonly #files = files

  constructor(...args: ConstructorParameters<typeof DatabaseSync>) {
    super(...args)
    this.#files?.opened(this)
  }

  override exec(sql: string): void {
    if (!this.#files) return super.exec(sql)
    this.#files.run(sql, [], () => super.exec(sql))
  }

  override prepare(...args: Parameters<DatabaseSync['prepare']>): StatementSync {
    const statement = super.prepare(...args)
    const there = this.#files
    if (!there) return statement
    for (const name of ['run', 'all', 'get'] as const) {
      const work = statement[name].bind(statement) as (...values: never[]) => unknown
      const watched = (...values: never[]) => there.run(args[0], values, () => work(...values))
      Object.assign(statement, { [name]: watched })
    }
    return statement
  }
}

sqlite.DatabaseSync = VirtualDatabase
syncBuiltinESMExports()
