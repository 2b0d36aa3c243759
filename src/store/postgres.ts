// The shared store: any number of processes on one PostgreSQL, which decides every race.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Gate } from '../shared/gate.ts'
import { limits } from '../shared/limits.ts'
import { Runner } from '../shared/runner.ts'
import { isHeldUp, StoreConflict, StoreUnavailable } from './failure.ts'
import { Listener } from './listener.ts'
import type { Report } from './log.ts'
import type { Patience } from './patience.ts'
import { Pools } from './pools.ts'
import { Attempt, type AttemptOptions } from './postgres-attempt.ts'
import { classify, isOutdated, isReadOnly } from './postgres-failure.ts'
import { type Dial, ReadOnlyServer } from './session.ts'
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
import type { Read, Write } from './transaction.ts'

/**
 * A notification on it says that something is committed, and by whom; with the payload ORDERED, that it has its place in
 * the log.
 */
export const LOG_CHANNEL = 'holdfast_log'
export const ORDERED = 'ordered'
// Any number, as long as every process takes the same.
const SCRIPT_LOCK = 8780
const PING = "select not current_setting('transaction_read_only')::bool as is_writable"

interface PostgresOptions {
  observer?: StoreObserver
  connections?: number
  origin?: string
  patience?: Partial<Patience>
  dial?: Dial
  /** How long plans are kept. */
  planMs?: number
}

export class PostgresStore implements Store {
  readonly dialect = 'postgres'
  /** Names this process in the log, so that it doesn't read its own changes back. */
  readonly origin: string
  /** For notifications by other processes. */
  readonly listener: Listener
  readonly #pools: Pools
  readonly #observer: StoreObserver
  readonly #absorbs = new Set<Absorb>()
  #doubt: (error: unknown) => void = () => {}
  /** Commits that others may see already, and that have not been absorbed. */
  readonly #settling = new Set<Promise<void>>()
  /** Wakes the other processes. One nudge serves all commits of a moment. It may be lost: the others poll as well. */
  readonly #nudging = new Runner(
    async () => {
      await turn()
      await this.pool.query({ name: 'nudge', text: 'select pg_notify($1, $2)', values: [LOG_CHANNEL, this.origin] })
    },
    () => {},
  )
  /** Grows when someone migrated the schema while we run: older connections have statements that no longer fit. */
  #schema = 0
  readonly #schemaOf = new WeakMap<pg.PoolClient, number>()
  /** Writes that wait long for a locked row: only a few at a time, so that they don't take all connections. */
  readonly #patient = new Gate({
    places: limits.patientWritesMax,
    waitMsMax: limits.lockWaitMsMax,
    refusal: () => new StoreUnavailable('too many wait for what someone keeps locked'),
  })
  /** The options that all attempts share. */
  readonly #attempts: AttemptOptions
  #commits = 0

  constructor(
    url: string,
    {
      observer = SILENT,
      connections = limits.poolConnectionsMax,
      origin = 'holdfast',
      patience,
      dial,
      planMs = limits.planMsMax,
    }: PostgresOptions = {},
  ) {
    this.#observer = observer
    this.origin = origin
    this.#pools = new Pools(url, connections, patience, dial)
    this.listener = new Listener(this.#pools)
    this.#attempts = { origin, pool: this.pool, planMs, doubt: error => this.#doubt(error) }
  }

  /** For the process's own work, such as following the feed. Writes that wait for a lock can't take it. */
  get pool(): pg.Pool {
    return this.#pools.own
  }

  get pools(): Pools {
    return this.#pools
  }

  /** How many transactions of this process have written. */
  get commits(): number {
    return this.#commits
  }

  /** Sets what is called when memory may lack something that is committed. */
  onDoubt(doubt: (error: unknown) => void): void {
    this.#doubt = doubt
  }

  async settled(): Promise<void> {
    await Promise.all(this.#settling)
  }

  async ordered(): Promise<void> {
    for (let pauseMs = 1; pauseMs <= limits.orderPauseMsMax; pauseMs *= 2) {
      if (await this.#isOrdered()) return
      // Another process does it, and may not have seen what was committed last.
      await sleep(pauseMs)
    }
  }

  async #isOrdered(): Promise<boolean> {
    const client = await this.#pools.take(this.pool)
    let isBroken = true
    try {
      const { rows } = await client.query<{ is_done: boolean }>('select order_log() as is_done')
      isBroken = false
      return rows[0]!.is_done
    } catch (error) {
      throw classify(error)
    } finally {
      client.release(isBroken)
    }
  }

  onCommit(absorb: Absorb): () => void {
    this.#absorbs.add(absorb)
    return () => void this.#absorbs.delete(absorb)
  }

  onNews(listener: (news: News) => void): () => void {
    const ear = {
      channel: LOG_CHANNEL,
      heard: (payload: string | undefined) => {
        // Of our own commits the listener hears below.
        if (payload !== this.origin) listener(payload === ORDERED ? 'ordered' : 'committed')
      },
      connected: () => listener('committed'),
    }
    void this.listener.listen(ear)
    const stop = this.onCommit(({ entries }) => {
      if (entries.length > 0) listener('committed')
    })
    return () => {
      stop()
      this.listener.forget(ear)
    }
  }

  async read<T>(work: () => Read<T>, { isLoad = false }: ReadOptions = {}): Promise<T> {
    return (await this.#attempt(work, { ...this.#attempts, isLoad })).value
  }

  async write<T>(work: () => Write<T>, { lockWaitMs, isAlone = false, isLong = false }: WriteOptions = {}): Promise<T> {
    const kind = { isAlone, isLong }
    try {
      return await this.#write(work, { lockWaitMs: lockWaitMs ?? this.#pools.patience.lockMs, ...kind })
    } catch (error) {
      if (lockWaitMs !== undefined || !isHeldUp(error)) throw error
      return this.#patient.pass(() => this.#write(work, { lockWaitMs: limits.lockWaitMsMax, ...kind }))
    }
  }

  async #write<T>(work: () => Write<T>, how: Required<WriteOptions>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const settling = Promise.withResolvers<void>()
      try {
        const committing = () => void this.#settling.add(settling.promise)
        const options = { ...this.#attempts, write: { ...how, committing } }
        const { value, report } = await this.#attempt(work, options)
        this.#observer.committed(1)
        this.#commits++
        await Promise.all(Array.from(this.#absorbs, absorb => this.#absorbed(absorb, report)))
        if (!report.isEmpty) void this.#nudging.run()
        return value
      } catch (error) {
        const isFinal = how.isAlone || isHeldUp(error) || attempt >= limits.writeAttemptsMax
        if (!(error instanceof StoreConflict) || isFinal) throw error
        this.#observer.retried(error.reason)
      } finally {
        this.#settling.delete(settling.promise)
        settling.resolve()
      }
    }
  }

  /** A commit is answered even when memory can't apply it now: the doubt makes memory load again. */
  async #absorbed(absorb: Absorb, report: Report): Promise<void> {
    try {
      await absorb(report)
    } catch (error) {
      this.#doubt(error)
    }
  }

  async #attempt<T>(work: () => Write<T>, options: AttemptOptions): Promise<{ value: T; report: Report }> {
    for (;;) {
      const client = await this.#connect(options.write ? this.#pools.writes : this.#pools.reads)
      const attempt = new Attempt(client, options)
      let isBroken = true
      try {
        const value = await attempt.run(work())
        isBroken = attempt.isBroken
        return { value, report: attempt.report }
      } catch (error) {
        if (isOutdated(error)) {
          // A newer version has migrated the database while we run. With a new connection we can go on.
          if (this.#schemaOf.get(client) === this.#schema) this.#schema++
          continue
        }
        if (isReadOnly(error)) this.#pools.leave(client)
        const known = classify(error)
        isBroken = attempt.isBroken || known instanceof StoreUnavailable
        throw known
      } finally {
        client.release(isBroken)
      }
    }
  }

  async #connect(pool: pg.Pool): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#pools.take(pool)
      if (this.#schemaOf.getOrInsert(client, this.#schema) === this.#schema) return client
      client.release(true)
    }
  }

  async script<T>(work: (run: RunSql) => Promise<T>): Promise<T> {
    const client = await this.#connect(this.#pools.writes)
    try {
      await client.query('begin')
      await client.query(`set local lock_timeout = ${limits.lockWaitMsMax}`)
      await client.query('select pg_advisory_xact_lock($1)', [SCRIPT_LOCK])
      const value = await work(async sql => (await client.query<Record<string, unknown>>(sql)).rows)
      await client.query('commit')
      return value
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw classify(error)
    } finally {
      client.release()
    }
  }

  /** Whether the database is there and takes writes. */
  async ping(): Promise<void> {
    const client = await this.#pools.take(this.pool)
    let isWritable = false
    try {
      isWritable = (await client.query<{ is_writable: boolean }>(PING)).rows[0]!.is_writable
      if (!isWritable) throw new ReadOnlyServer('it is read-only')
    } catch (error) {
      if (error instanceof ReadOnlyServer) this.#pools.leave(client)
      throw new StoreUnavailable('the database is away', { cause: error })
    } finally {
      client.release(!isWritable)
    }
  }

  /** Throws if connections have no session of their own, because a pooler is in between. */
  requireSessions(): Promise<void> {
    return this.#pools.requireSessions()
  }

  close(): Promise<void> {
    return this.#pools.close()
  }
}
