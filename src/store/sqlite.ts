// The embedded store: one file, one writer, and one commit for all the writes that wait.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { limits } from '../limits.ts'
import type { Change } from './change.ts'
import { StoreUnavailable } from './failure.ts'
import type { Call, Command } from './statement.ts'
import { type Absorb, type RunSql, SILENT, type Store, type StoreObserver } from './store.ts'
import { type Answer, NOTHING, type Read, type Write, type Yielded } from './transaction.ts'

interface Waiting {
  work: () => Write<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

export class SqliteStore implements Store {
  readonly dialect = 'sqlite'
  readonly #database: DatabaseSync
  readonly #statements: StatementSync[] = []
  readonly #observer: StoreObserver
  readonly #waiting: Waiting[] = []
  readonly #lock: DatabaseSync | null
  #armed = false
  #isClosed = false
  #absorb: Absorb = () => {}
  /** Commits that readers see already, and that have not been absorbed. */
  readonly #settling = new Set<Promise<void>>()
  #idle: NodeJS.Timeout | null = null

  constructor(path: string, observer: StoreObserver = SILENT, lock: DatabaseSync | null = null) {
    this.#observer = observer
    this.#lock = lock
    this.#database = new DatabaseSync(path, { timeout: limits.busyMsMax })
    // FULL, not NORMAL: after a power cut NORMAL may lose claims we have already answered 204 for.
    this.#database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma foreign_keys = on;
      pragma temp_store = memory;
      pragma cache_size = -${limits.sqliteCacheKib};
      pragma wal_autocheckpoint = ${limits.walCheckpointPages};
    `)
  }

  // Runs to its end without giving up the thread, so it sees one state: commits happen in one go as well.
  async read<T>(work: () => Read<T>): Promise<T> {
    return this.#run(work(), [])
  }

  async settled(): Promise<void> {
    await Promise.all(this.#settling)
  }

  onCommit(absorb: Absorb): void {
    this.#absorb = absorb
  }

  write<T>(work: () => Write<T>): Promise<T> {
    // Someone's last heartbeat may come after the end.
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('the database is closed'))
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject })
      if (this.#armed) return
      this.#armed = true
      // After this turn of the loop: whatever has arrived by then commits together.
      setImmediate(() => void this.#commitWaiting())
    })
  }

  async #commitWaiting(): Promise<void> {
    const batch = this.#waiting.splice(0, limits.groupCommitMax)
    this.#armed = this.#waiting.length > 0
    if (this.#armed) setImmediate(() => void this.#commitWaiting())
    const changes: Change[] = []
    let outcomes: (() => void)[]
    try {
      this.#database.exec('begin immediate')
      outcomes = batch.map(waiting => this.#attempt(waiting, batch.length > 1, changes))
      if (this.#database.isTransaction) this.#database.exec('commit')
    } catch (error) {
      // Nothing of the batch is on disk, so nobody may be told that it is.
      if (this.#database.isTransaction) this.#database.exec('rollback')
      const away = new StoreUnavailable('the database did not take the commit', { cause: error })
      for (const waiting of batch) waiting.reject(away)
      return
    }
    this.#observer.committed(batch.length)
    const absorbing = Promise.resolve(this.#absorb(changes))
    this.#settling.add(absorbing)
    await absorbing.finally(() => this.#settling.delete(absorbing))
    for (const settle of outcomes) settle()
    this.#checkpointWhenIdle()
  }

  /** One transaction. With neighbours it has its own savepoint: when it fails, they go on; alone it needs none. */
  #attempt({ work, resolve, reject }: Waiting, hasNeighbours: boolean, changes: Change[]): () => void {
    const mine: Change[] = []
    if (hasNeighbours) this.#database.exec('savepoint attempt')
    try {
      const value = this.#run(work(), mine)
      if (hasNeighbours) this.#database.exec('release attempt')
      changes.push(...mine)
      return () => resolve(value)
    } catch (error) {
      // A full disk ends the whole transaction by itself; then the batch has failed, not the attempt.
      if (!this.#database.isTransaction) throw error
      this.#database.exec(hasNeighbours ? 'rollback to attempt; release attempt' : 'rollback')
      return () => reject(error)
    }
  }

  #run<T>(transaction: Write<T>, changes: Change[]): T {
    const last: Command[] = []
    let step = transaction.next()
    while (!step.done) step = transaction.next(step.value.map(call => this.#take(call, changes, last)))
    for (const call of last) this.#execute(call)
    return step.value
  }

  #take(call: Yielded, changes: Change[], last: Command[]): Answer {
    if (call.kind === 'query' || call.kind === 'command') return this.#execute(call)
    if (call.kind === 'note') changes.push(...call.changes)
    if (call.kind === 'last') last.push(call.call)
    return NOTHING
  }

  #execute({ compiled, args }: Call): Answer {
    const { sqlite } = compiled
    const statement = (this.#statements[sqlite.id] ??= this.#database.prepare(sqlite.sql))
    const runs = sqlite.bind(args) as (string | number | null)[][]
    if (sqlite.returnsRows) {
      const rows = runs.length === 1 ? statement.all(...runs[0]!) : runs.flatMap(values => statement.all(...values))
      return { rows, count: rows.length }
    }
    let count = 0
    for (const values of runs) count += Number(statement.run(...values).changes)
    return { rows: [], count }
  }

  #checkpointWhenIdle(): void {
    this.#idle ??= setTimeout(() => {
      this.#idle = null
      this.#database.exec('pragma wal_checkpoint(passive)')
    }, limits.walIdleCheckpointMs).unref()
  }

  async script<T>(work: (run: RunSql) => Promise<T>): Promise<T> {
    this.#database.exec('begin immediate')
    try {
      const value = await work(async sql => {
        if (sql.startsWith('select')) return this.#database.prepare(sql).all()
        this.#database.exec(sql)
        return []
      })
      this.#database.exec('commit')
      return value
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      throw error
    }
  }

  async ping(): Promise<void> {
    this.#database.exec('select 1')
  }

  async close(): Promise<void> {
    while (this.#armed) await new Promise(resolve => setImmediate(resolve))
    this.#isClosed = true
    if (this.#idle) clearTimeout(this.#idle)
    this.#database.close()
    this.#lock?.close()
  }
}

/**
 * Makes this process the only server of a database file. The lock is SQLite's own, on a file beside it,
 * so it goes with the process however that ends, and tools like fsck can still read the database.
 */
export function lockForServing(path: string): DatabaseSync {
  const lock = new DatabaseSync(`${path}.lock`)
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    throw new StoreUnavailable(`another holdfast is already serving ${path}`, { cause: error })
  }
}
