// The ground of runs on the embedded store: one file, who has it open, and a disk that fails on purpose. A statement is
// part of the event that runs it, so only a crash, a failing disk or the next event can come between two commits.
import type { DatabaseSync } from 'node:sqlite'
import type { Finding } from './port.ts'
import type { Stream } from './chance.ts'
import { findingOf, type Violation, violationsOnSqlite } from './checks/invariants.ts'
import type { SqliteFile } from './file.ts'
import type { Ground } from './ground.ts'
import type { History } from './history.ts'
import type { Files } from './virtual-sqlite.ts'
import type { Owner, World } from './world.ts'

interface DiskOptions {
  world: World
  chance: Stream
  history: History
  file: SqliteFile
  /** Called after each commit, with the tables that it has written to. */
  committed: (touched: ReadonlySet<string>) => void
}

type Moment = 'before' | 'after'

const FULL = { errcode: 13, message: 'database or disk is full' }
const BROKEN = { errcode: 10, message: 'disk I/O error' }
const WRITES = /^\s*(with\b[\s\S]*\b)?(insert into|update|delete from)\b/i
/** Writes to anything that invariants look at. */
const TOUCHES = /\b(?:insert into|update|delete from) "(?!conductors"|log")(\w+)"/g

export class Disk implements Ground, Files {
  readonly dialect = 'sqlite'
  readonly casts = [['serve']] as const
  // The clock of the process is the only one there is.
  readonly skewMsMax = 0
  readonly outage = { since: 0, until: 0 }
  /** What a write meets; null while the disk is well. */
  failure: typeof FULL | null = null
  readonly #options: DiskOptions
  readonly #open = new Map<Owner, DatabaseSync[]>()
  /** Whoever dies at its next commit. */
  readonly #doomed = new Map<Owner, { moment: Moment; dies: () => void }>()
  #touched = new Set<string>()

  constructor(options: DiskOptions) {
    this.#options = options
  }

  get address(): string {
    return this.#options.file.address
  }

  castOf(): null {
    return null
  }

  surroundings(): { isOneThread: true } {
    return { isOneThread: true }
  }

  fill(): void {
    this.failure = FULL
  }

  break(): void {
    this.failure = BROKEN
  }

  doom(owner: Owner, moment: Moment, dies: () => void): void {
    this.#doomed.set(owner, { moment, dies })
  }

  /** The system closes what a process had open when it died; what it had not committed is gone. */
  left(owner: Owner): void {
    for (const database of this.#open.get(owner) ?? []) if (database.isOpen) database.close()
    this.#open.delete(owner)
  }

  rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#options.file.rows(text, values)
  }

  async violations(touched?: ReadonlySet<string>): Promise<Finding[]> {
    const { file, world } = this.#options
    file.now = world.now
    const text = violationsOnSqlite(touched)
    return text === null ? [] : (await file.rows<Violation>(text)).map(findingOf)
  }

  heal(): void {
    this.failure = null
    this.#doomed.clear()
  }

  stop(): void {
    for (const owner of this.#open.keys()) this.left(owner)
  }

  opened(database: DatabaseSync): void {
    const owner = this.#options.world.current
    if (!owner) return
    this.#open.set(owner, [...(this.#open.get(owner) ?? []), database])
    database.function('unixepoch', { varargs: true }, () => this.#options.world.now / 1_000)
  }

  /** Runs a statement of a process, unless the disk or the process fails at it. */
  run<T>(sql: string, values: unknown[], work: () => T): T {
    const { world, history } = this.#options
    const owner = world.current
    if (!owner) return work()
    history.add(owner.name, `→ ${sql} ${JSON.stringify(values)}`)
    if (/^commit\b/i.test(sql)) return this.#commit(owner, work)
    if (/^begin\b/i.test(sql)) this.#touched = new Set()
    if (WRITES.test(sql)) this.#mayFail(owner, 0.2)
    for (const [, table] of sql.matchAll(TOUCHES)) this.#touched.add(table!)
    return work()
  }

  #commit<T>(owner: Owner, work: () => T): T {
    const { history, committed } = this.#options
    const doom = this.#doomed.get(owner)
    this.#doomed.delete(owner)
    if (doom?.moment === 'before') this.#die(doom)
    this.#mayFail(owner, 1)
    const done = work()
    history.add(owner.name, 'commits')
    committed(this.#touched)
    if (doom) this.#die(doom)
    return done
  }

  #die({ dies }: { dies: () => void }): never {
    dies()
    throw new Error('the process has died')
  }

  #mayFail(owner: Owner, probability: number): void {
    if (!this.failure || !this.#options.chance.happens(probability)) return
    this.#options.history.add(owner.name, this.failure.message)
    throw Object.assign(new Error(this.failure.message), { code: 'ERR_SQLITE_ERROR', errcode: this.failure.errcode })
  }
}
