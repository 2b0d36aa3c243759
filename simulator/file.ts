// The database files of runs on the embedded store: a migrated template, a copy of it for each run, and a connection to
// the copy beside those of the simulated processes.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { addStandardNames } from '../src/ledger/standard.ts'
import { migrate } from '../src/store/migrate.ts'
import { SqliteStore } from '../src/store/sqlite.ts'
import { STARTED } from './time.ts'

export class SqliteFiles {
  readonly #folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'holdfast-simulator-'))
  readonly #template = join(this.#folder, 'template.db')
  #made = 0

  async create(): Promise<SqliteFile> {
    if (!existsSync(this.#template)) await this.#makeTemplate()
    const path = join(this.#folder, `run-${++this.#made}.db`)
    copyFileSync(this.#template, path)
    return new SqliteFile(path)
  }

  stop(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #makeTemplate(): Promise<void> {
    const store = new SqliteStore(this.#template)
    try {
      await migrate(store, STARTED)
      await store.write(() => addStandardNames(STARTED))
    } finally {
      await store.close()
    }
  }
}

export class SqliteFile {
  readonly #path: string
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  /** What unixepoch() says. */
  now = STARTED

  constructor(path: string) {
    this.#path = path
    this.#database = new DatabaseSync(path)
    this.#database.function('unixepoch', { varargs: true }, () => this.now / 1_000)
  }

  get address(): string {
    return `sqlite:${this.#path}`
  }

  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    let statement = this.#statements.get(text)
    if (!statement) this.#statements.set(text, (statement = this.#database.prepare(text)))
    return statement.all(...(values as SQLInputValue[])) as Row[]
  }

  close(): void {
    this.#database.close()
    for (const end of ['', '-wal', '-shm', '.lock', '.lock-journal']) rmSync(this.#path + end, { force: true })
  }
}
