// The embedded store: one file, one writer, and one commit for all the writes that wait.
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { Gate } from '../shared/gate.ts'
import { Line, ownWork } from '../shared/line.ts'
import { limits } from '../shared/limits.ts'
import { StoreDamaged, StoreUnavailable } from './failure.ts'
import { asFailure, failureOf, isBusy, whenFree } from './sqlite-failure.ts'
import { append, Report, rowsOf } from './log.ts'
import { appendHistory } from './node-history.ts'
import { Checkpoints } from './sqlite-checkpoints.ts'
import { type Checkpointed, type CheckpointMode, SqliteConnection, type Values } from './sqlite-connection.ts'
import { IN_MEMORY } from './sqlite-file.ts'
import { LongTransactions } from './sqlite-long.ts'
import type { Call } from './statement.ts'
import {
  type Absorb,
  type News,
  type ReadOptions,
  type RunSql,
  SILENT,
  type Store,
  type StoreObserver,
  type WriteOptions,
} from './store.ts'
import { type Answer, NOTHING, type Read, type Write, type Yielded } from './transaction.ts'

interface Waiting {
  work: () => Write<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  since: number
}

interface SqliteOptions {
  observer?: StoreObserver
  /** What makes this process the only one that serves the file; closed with the store. */
  lock?: DatabaseSync | null
  /** Long transactions get no thread of their own. */
  isOneThread?: boolean
}

const NOT_READ = 'the database could not be read'
const NOT_TAKEN = 'the database did not take the commit'
/** A commit without changes: the application id, always the same, tells tools that the file is ours. */
const PROOF = 'begin immediate; pragma application_id = 0x486f6c64; commit'

export class SqliteStore implements Store {
  readonly dialect = 'sqlite'
  readonly #connection: SqliteConnection
  readonly #database: DatabaseSync
  readonly #observer: StoreObserver
  readonly #waiting = new Line<Waiting>()
  readonly #lock: DatabaseSync | null
  readonly #long: { reads: LongTransactions; writes: LongTransactions } | null
  readonly #checkpoints: Checkpoints
  /** Since when a long transaction writes, by performance.now(): until it ends, nobody else can. */
  #lentSince: number | null = null
  readonly #longWrites = new Gate({ places: 1 })
  #armed = false
  /** How many transactions the commit before had. */
  #sizeBefore = 0
  #isClosed = false
  readonly #absorbs = new Set<Absorb>()
  /** Commits that readers see already, and that have not been absorbed. */
  readonly #settling = new Set<Promise<void>>()
  // Prepared, because every commit runs them.
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  /** How many rows this connection has ever changed: many commits change none. */
  readonly #total: StatementSync
  #changed: unknown = 0
  /** When a test commit last succeeded; -Infinity after a failure. */
  #provedAt = -Infinity

  constructor(path: string, { observer = SILENT, lock = null, isOneThread = path === IN_MEMORY }: SqliteOptions = {}) {
    this.#observer = observer
    this.#lock = lock
    this.#connection = new SqliteConnection(path)
    this.#database = this.#connection.database
    // A database in memory has one connection.
    const onThread = () => new LongTransactions(path, this.#connection)
    this.#long = isOneThread ? null : { reads: onThread(), writes: onThread() }
    this.#checkpoints = new Checkpoints(mode => this.#copyLog(mode))
    this.#begin = this.#database.prepare('begin immediate')
    this.#commit = this.#database.prepare('commit')
    this.#total = this.#database.prepare('select total_changes() as changes')
  }

  // Runs to its end without giving up the thread, and so does a commit. So it sees one state.
  async read<T>(work: () => Read<T>, { isLong = false }: ReadOptions = {}): Promise<T> {
    if (this.#isClosed) throw new StoreUnavailable('the database is closed')
    if (isLong && this.#long) return this.#long.reads.read(work).catch(asFailure(NOT_READ))
    const attempt = () => this.#run(work(), new Report())
    return whenFree(() => (this.#lentSince === null ? attempt() : this.#onOneState(attempt)), NOT_READ)
  }

  /** Another thread may commit in the middle of it. */
  #onOneState<T>(attempt: () => T): T {
    this.#database.exec('begin')
    try {
      return attempt()
    } finally {
      if (this.#database.isTransaction) this.#database.exec('rollback')
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#settling)
  }

  /** One writer: the order of the ids is the order of the commits. */
  async ordered(): Promise<void> {}

  onCommit(absorb: Absorb): () => void {
    this.#absorbs.add(absorb)
    return () => void this.#absorbs.delete(absorb)
  }

  onNews(listener: (news: News) => void): () => void {
    return this.onCommit(({ entries }) => {
      if (entries.length > 0) listener('ordered')
    })
  }

  write<T>(work: () => Write<T>, { isLong = false }: WriteOptions = {}): Promise<T> {
    // A last heartbeat may come after close().
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('the database is closed'))
    if (isLong && this.#long) return this.#lend(this.#long.writes, work)
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject, since: performance.now() })
      if (this.#armed) return
      this.#armed = true
      ownWork(() => this.#gather(0))
    })
  }

  /**
   * After this turn of the event loop all writes that have arrived commit together. The clients of the commit before ask
   * again, but not all of them within one turn. So it takes turns as long as each brings more, up to as many as before.
   */
  #gather(before: number): void {
    setImmediate(() => {
      const { length } = this.#waiting
      if (length > before && length < this.#sizeBefore) this.#gather(length)
      else void this.#commitWaiting()
    })
  }

  async #lend<T>(thread: LongTransactions, work: () => Write<T>): Promise<T> {
    const settling = Promise.withResolvers<void>()
    const committing = () => void this.#settling.add(settling.promise)
    try {
      const { value, absorbed } = await this.#alone(async () => {
        const report = new Report()
        const value = await thread.write(work, report, committing)
        this.#observer.committed(1)
        this.#provedAt = performance.now()
        this.#checkpoints.wrote()
        return { value, absorbed: Promise.all(Array.from(this.#absorbs, absorb => this.#absorbed(absorb, report))) }
      })
      await absorbed
      return value
    } catch (error) {
      const away = failureOf(error, NOT_TAKEN)
      if (away) this.#provedAt = -Infinity
      throw away ?? error
    } finally {
      this.#settling.delete(settling.promise)
      settling.resolve()
    }
  }

  /** Another thread writes. All other writes wait, for us and not for a busy file, and go before the next long one. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#longWrites.pass(async () => {
      this.#lentSince = performance.now()
      try {
        return await work()
      } finally {
        this.#lentSince = null
        for (const waiting of this.#waiting) waiting.since = performance.now()
        void this.#commitWaiting()
      }
    })
  }

  // On the thread of the long reads, between two of them: a reader keeps the log from being copied to its end. So do
  // writers, so they wait if the log has grown large. By then most of it is copied.
  async #copyLog(mode: CheckpointMode): Promise<Checkpointed> {
    if (!this.#long) return this.#connection.checkpoint(mode)
    return this.#long.reads.inTurn(async thread => {
      const found = await thread.checkpoint(mode)
      const isLarge = found.pages > limits.walCheckpointPages && found.copied < found.pages
      return isLarge ? this.#alone(() => thread.checkpoint('passive')) : found
    })
  }

  async #commitWaiting(): Promise<void> {
    if (this.#lentSince !== null || this.#waiting.length === 0) return
    try {
      this.#connection.requireFile()
      this.#begin.run()
    } catch (error) {
      return this.#putOff(error)
    }
    const report = new Report()
    const [batch, outcomes]: [Waiting[], (() => void)[]] = [[], []]
    try {
      for (const one of this.#waiting.round(limits.groupCommitMax, limits.groupCommitSharedMs)) {
        batch.push(one)
        outcomes.push(this.#attempt(one, batch.length + this.#waiting.length > 1, report))
      }
      if (this.#database.isTransaction) this.#commit.run()
    } catch (error) {
      // Nothing of the batch is on disk, so nobody may be told that it is.
      this.#rollBack()
      const away = failureOf(error, NOT_TAKEN) ?? new StoreUnavailable(NOT_TAKEN, { cause: error })
      for (const waiting of batch) waiting.reject(away)
      return
    } finally {
      this.#sizeBefore = batch.length
      this.#armed = this.#waiting.length > 0
      if (this.#armed) setImmediate(() => void this.#commitWaiting())
    }
    this.#observer.committed(batch.length)
    const { changes: changed } = this.#total.get()!
    if (changed !== this.#changed) this.#checkpoints.wrote()
    this.#changed = changed
    await Promise.all(Array.from(this.#absorbs, absorb => this.#absorbed(absorb, report)))
    for (const settle of outcomes) settle()
  }

  /** `begin` failed. If the file is only busy, writes that have not waited too long stay in the queue. */
  #putOff(error: unknown): void {
    this.#rollBack()
    const away = failureOf(error, NOT_TAKEN) ?? new StoreUnavailable(NOT_TAKEN, { cause: error })
    const impatient = [...this.#waiting].filter(
      ({ since }) => !isBusy(error) || since <= performance.now() - limits.busyMsMax,
    )
    for (const one of impatient) if (this.#waiting.delete(one)) one.reject(away)
    this.#armed = this.#waiting.length > 0
    if (this.#armed) setTimeout(() => void this.#commitWaiting(), limits.busyRetryMs)
  }

  #rollBack(): void {
    this.#provedAt = -Infinity
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback')
    } catch {
      // On a failing disk this may fail too; then the next `begin` fails, and the rollback is tried again.
    }
  }

  /** A commit is answered even when memory can't apply it now; memory retries until it has it. */
  async #absorbed(absorb: Absorb, report: Report): Promise<void> {
    const again = () => {
      if (!this.#isClosed && this.#absorbs.has(absorb)) void this.#absorbed(absorb, report)
    }
    const absorbing = Promise.try(() => absorb(report)).catch(
      () => void setTimeout(again, limits.absorbRetryMs).unref(),
    )
    this.#settling.add(absorbing)
    await absorbing
    this.#settling.delete(absorbing)
  }

  /** One transaction. With neighbours it has its own savepoint: when it fails, they go on; alone it needs none. */
  #attempt({ work, resolve, reject }: Waiting, hasNeighbours: boolean, report: Report): () => void {
    const mine = new Report()
    if (hasNeighbours) this.#database.exec('savepoint attempt')
    try {
      const value = this.#run(work(), mine)
      if (hasNeighbours) this.#database.exec('release attempt')
      report.add(mine)
      return () => resolve(value)
    } catch (error) {
      const away = failureOf(error, NOT_TAKEN)
      // A failing disk may end the whole transaction: then the batch has failed, not only this attempt.
      if (!this.#database.isTransaction || (away && !(away instanceof StoreDamaged))) throw error
      this.#database.exec(hasNeighbours ? 'rollback to attempt; release attempt' : 'rollback')
      return () => reject(away ?? error)
    }
  }

  #run<T>(transaction: Write<T>, report: Report): T {
    let step = transaction.next()
    while (!step.done) step = transaction.next(step.value.map(call => this.#take(call, report)))
    if (report.entries.length > 0) this.#execute(append({ rows: rowsOf(report, null) }))
    if (report.history.length > 0) this.#execute(appendHistory({ rows: report.history }))
    return step.value
  }

  #take(call: Yielded, report: Report): Answer {
    if (call.kind === 'query' || call.kind === 'command') return this.#execute(call)
    if (call.kind === 'later') for (const command of call.commands) this.#execute(command)
    else report.take(call)
    return NOTHING
  }

  #execute({ compiled: { sqlite }, args }: Call): Answer {
    return this.#connection.execute(sqlite, sqlite.bind(args) as Values[])
  }

  async script<T>(work: (run: RunSql) => Promise<T>): Promise<T> {
    await whenFree(() => this.#database.exec('begin immediate'), NOT_TAKEN)
    try {
      const value = await work(async sql => {
        if (sql.startsWith('select')) return this.#database.prepare(sql).all()
        this.#database.exec(sql)
        return []
      })
      this.#database.exec('commit')
      return value
    } catch (error) {
      this.#rollBack()
      throw failureOf(error, NOT_TAKEN) ?? error
    }
  }

  // A full disk can still be read, so only a commit shows that writes work.
  async ping(): Promise<void> {
    if (this.#isClosed) throw new StoreUnavailable('the database is closed')
    this.#connection.requireFile()
    const now = performance.now()
    if (now - this.#provedAt < limits.writeProofMs) return
    // A long transaction is at it. It counts as a failure only when it takes too long, or the last proof had failed.
    if (this.#lentSince !== null && now - this.#lentSince < limits.statementMsMax && this.#provedAt > 0) return
    await whenFree(() => this.#prove(), NOT_TAKEN)
  }

  #prove(): void {
    try {
      this.#database.exec(PROOF)
      this.#provedAt = performance.now()
      this.#checkpoints.wrote()
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  async close(): Promise<void> {
    while (this.#armed || this.#lentSince !== null) await new Promise(resolve => setImmediate(resolve))
    this.#isClosed = true
    await this.#checkpoints.close()
    await Promise.all([this.#long?.reads.close(), this.#long?.writes.close()])
    this.#database.close()
    this.#lock?.close()
  }
}
