// The shared store: any number of processes on one PostgreSQL, which is the judge of every race.
import pg from 'pg'
import { limits } from '../limits.ts'
import type { Change } from './change.ts'
import { isHeldUp, LOCK_TIMEOUT, StoreConflict, StoreUnavailable } from './failure.ts'
import { Gate } from './gate.ts'
import type { Call, Command } from './statement.ts'
import { type Absorb, type RunSql, SILENT, type Store, type StoreObserver, type WriteOptions } from './store.ts'
import { type Answer, NOTHING, type Read, type Write, type Yielded } from './transaction.ts'

// A unique or foreign key that fails means that someone was faster: the fresh start sees what they did,
// and the decision then finds the right words for it.
const CONFLICTS: Record<string, string> = {
  '40001': 'serialization',
  '40P01': 'deadlock',
  '55P03': LOCK_TIMEOUT,
  '23505': 'unique',
  '23503': 'foreign_key',
}
// Every statement finds its rows by key. Left alone, the planner would plan each of them anew for the first runs, and would
// scan and hash tables that were small when it looked: twice the time at best, and for ever slower as they grow.
export const PLANNER = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
]
  .map(setting => `-c ${setting}`)
  .join(' ')

export const NUDGE_CHANNEL = 'holdfast_changes'
const FEED = 'insert into changes (provider_id, origin) select unnest($1::bigint[]), $2'
// Any number, as long as every process takes the same.
const SCRIPT_LOCK = 8780

export interface PostgresOptions {
  observer?: StoreObserver
  connections?: number
  origin?: string
  /** For how long a plan is kept. */
  planMs?: number
}

export class PostgresStore implements Store {
  readonly dialect = 'postgres'
  readonly pool: pg.Pool
  /** Names this process in the feed, so that it doesn't read its own changes back. */
  readonly origin: string
  readonly #observer: StoreObserver
  #absorb: Absorb = () => {}
  /** Commits that others may see already, and that have not been absorbed. */
  readonly #settling = new Set<Promise<void>>()
  #nudging = false
  /** Grows when the schema changed under us; connections from before have plans that no longer fit. */
  #schema = 0
  readonly #schemaOf = new WeakMap<pg.PoolClient, number>()
  /** Those who wait long for a row that someone keeps locked: few, so that they don't take all connections. */
  readonly #patient = new Gate(limits.patientWritesMax)
  readonly #planMs: number
  /** When each connection began to make plans anew. */
  readonly #plannedAt = new WeakMap<pg.PoolClient, number>()

  constructor(
    url: string,
    {
      observer = SILENT,
      connections = limits.poolConnectionsMax,
      origin = 'holdfast',
      planMs = limits.planMsMax,
    }: PostgresOptions = {},
  ) {
    this.#observer = observer
    this.#planMs = planMs
    this.origin = origin
    this.pool = new pg.Pool({
      connectionString: url,
      max: connections,
      pipeline: true,
      application_name: 'holdfast',
      options: PLANNER,
      connectionTimeoutMillis: limits.connectMsMax,
      statement_timeout: limits.statementMsMax,
      lock_timeout: limits.lockWaitMsMax,
      idle_in_transaction_session_timeout: limits.idleInTransactionMsMax,
      // Counts and times fit a double; strings would spread into every sum.
      types: {
        getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
      },
    })
    // A connection that dies fails its queries, and the pool replaces it; an error event without a listener,
    // on an idle connection or on one in use, would end the process.
    this.pool.on('error', () => {})
    this.pool.on('connect', client => client.on('error', () => {}))
  }

  async settled(): Promise<void> {
    await Promise.all(this.#settling)
  }

  onCommit(absorb: Absorb): void {
    this.#absorb = absorb
  }

  read<T>(work: () => Read<T>): Promise<T> {
    return this.#attempt('begin isolation level repeatable read read only', work, [])
  }

  async write<T>(work: () => Write<T>, { lockWaitMs }: WriteOptions = {}): Promise<T> {
    try {
      return await this.#write(work, lockWaitMs ?? limits.lockWaitMs)
    } catch (error) {
      if (lockWaitMs !== undefined || !isHeldUp(error)) throw error
      return this.#patient.pass(() => this.#write(work, limits.lockWaitMsMax))
    }
  }

  async #write<T>(work: () => Write<T>, lockWaitMs: number): Promise<T> {
    const begin = `begin; set local lock_timeout = ${lockWaitMs}`
    for (let attempt = 1; ; attempt++) {
      const settling = Promise.withResolvers<void>()
      try {
        const changes: Change[] = []
        const value = await this.#attempt(begin, work, changes, () => this.#settling.add(settling.promise))
        this.#observer.committed(1)
        await this.#absorb(changes)
        if (changes.length > 0) this.#nudge()
        return value
      } catch (error) {
        if (!(error instanceof StoreConflict) || isHeldUp(error) || attempt >= limits.writeAttemptsMax) throw error
        this.#observer.retried(error.reason)
      } finally {
        this.#settling.delete(settling.promise)
        settling.resolve()
      }
    }
  }

  async #attempt<T>(
    begin: string,
    work: () => Write<T>,
    changes: Change[],
    committing: () => void = () => {},
  ): Promise<T> {
    for (;;) {
      const client = await this.#connect()
      let broken = false
      try {
        return await this.#run(client, begin, work(), changes, committing)
      } catch (error) {
        broken = isOutdated(error)
        if (broken) {
          // A newer version has migrated the database while we go on: with a new connection we can.
          if (this.#schemaOf.get(client) === this.#schema) this.#schema++
          changes.length = 0
          continue
        }
        const known = classify(error)
        broken = known instanceof StoreUnavailable
        throw known
      } finally {
        client.release(broken)
      }
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    for (;;) {
      if (this.pool.waitingCount >= limits.poolWaitersMax) throw new StoreUnavailable('too many wait for the database')
      try {
        const client = await this.pool.connect()
        if (this.#schemaOf.getOrInsert(client, this.#schema) === this.#schema) return client
        client.release(true)
      } catch (error) {
        throw new StoreUnavailable('the database is away', { cause: error })
      }
    }
  }

  async #run<T>(
    client: pg.PoolClient,
    begin: string,
    transaction: Write<T>,
    changes: Change[],
    committing: () => void,
  ): Promise<T> {
    let opened: Promise<unknown> | null = null
    const last: Command[] = []
    try {
      let step = transaction.next()
      while (!step.done) {
        // The first burst carries the begin with it.
        const calls = step.value
        const sent = opened === null ? [...this.#freshPlans(client), (opened = client.query(begin))] : []
        const [answers] = await Promise.all([
          Promise.all(calls.map(call => take(client, call, changes, last))),
          ...sent,
        ])
        step = transaction.next(answers)
      }
      if (opened) {
        const parting = [...last.map(call => execute(client, call)), ...this.#feed(client, changes)]
        committing()
        await Promise.all([...parting, client.query('commit')])
      }
      return step.value
    } catch (error) {
      if (opened) await client.query('rollback').catch(() => {})
      throw error
    }
  }

  /** Joins are planned for tables as large as they were then: in time, plans are made for what the tables have become. */
  #freshPlans(client: pg.PoolClient): Promise<unknown>[] {
    const now = performance.now()
    if (now - this.#plannedAt.getOrInsert(client, now) < this.#planMs) return []
    this.#plannedAt.set(client, now)
    return [client.query('discard plans')]
  }

  /** Tells the other processes, as part of the transaction and in one burst with its commit. */
  #feed(client: pg.PoolClient, changes: readonly Change[]): Promise<unknown>[] {
    if (changes.length === 0) return []
    const providers = [...new Set(changes.map(change => change.provider))]
    return [client.query({ name: 'feed', text: FEED, values: [providers, this.origin] })]
  }

  /** Wakes the other processes. Only a nudge, so one for all the commits of a moment, and no matter if it is lost. */
  #nudge(): void {
    if (this.#nudging) return
    this.#nudging = true
    setImmediate(() => {
      void this.pool
        .query(`notify ${NUDGE_CHANNEL}`)
        .catch(() => {})
        .finally(() => (this.#nudging = false))
    })
  }

  async script<T>(work: (run: RunSql) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    try {
      await client.query('begin')
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

  async ping(): Promise<void> {
    try {
      await this.pool.query('select 1')
    } catch (error) {
      throw new StoreUnavailable('the database is away', { cause: error })
    }
  }

  async close(): Promise<void> {
    await this.pool.end()
  }
}

async function take(client: pg.PoolClient, call: Yielded, changes: Change[], last: Command[]): Promise<Answer> {
  if (call.kind === 'query' || call.kind === 'command') return execute(client, call)
  if (call.kind === 'note') changes.push(...call.changes)
  if (call.kind === 'last') last.push(call.call)
  return NOTHING
}

async function execute(client: pg.PoolClient, { compiled, args }: Call): Promise<Answer> {
  const { postgres } = compiled
  const { rows, rowCount } = await client.query({
    name: `h${postgres.id}`,
    text: postgres.sql,
    values: postgres.bind(args)[0]!,
  })
  return { rows, count: rowCount ?? 0 }
}

/** A statement that was prepared before a column was added to what it selects. */
const isOutdated = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'

function classify(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  if (code && code in CONFLICTS) return new StoreConflict(CONFLICTS[code]!, error)
  // 08: connection, 57: shut down or cancelled, 53: out of something; the rest is the socket's own.
  const away = code ? /^(08|57|53)/.test(code) || /^E[A-Z]+$/.test(code) : /[Cc]onnection/.test(error.message)
  return away ? new StoreUnavailable('the database is away', { cause: error }) : error
}
