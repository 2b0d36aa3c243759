// The shared store: any number of processes on one PostgreSQL, which is the judge of every race.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { limits } from '../shared/limits.ts'
import type { Change } from './change.ts'
import { isHeldUp, StoreConflict, StoreUnavailable } from './failure.ts'
import { Gate } from './gate.ts'
import { type Patience, Pools } from './pools.ts'
import { classify, isOutdated, isReadOnly } from './postgres-failure.ts'
import { ReadOnlyServer, type Session } from './session.ts'
import type { Call, Command } from './statement.ts'
import { type Absorb, type RunSql, SILENT, type Store, type StoreObserver, type WriteOptions } from './store.ts'
import { type Answer, NOTHING, type Read, type Write, type Yielded } from './transaction.ts'

export const NUDGE_CHANNEL = 'holdfast_changes'
const FEED = 'insert into changes (provider_id, origin) select unnest($1::bigint[]), $2'
// Any number, as long as every process takes the same.
const SCRIPT_LOCK = 8780

// A transaction's own number; with it another connection can ask what became of it.
const WHO = { name: 'who', text: 'select pg_current_xact_id()::text as xid' }
const OUTCOME = `select case when (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text = $2
  then pg_xact_status($1::xid8) end as status`
const PING = "select not current_setting('transaction_read_only')::bool as is_writable"

interface PostgresOptions {
  observer?: StoreObserver
  connections?: number
  origin?: string
  patience?: Partial<Patience>
  /** For how long a plan is kept. */
  planMs?: number
}

/** One run of a transaction. */
interface Attempt {
  readonly begin: string
  readonly isWrite: boolean
  readonly changes: Change[]
  readonly committing: () => void
  xid: string | null
  /** Its connection is of no more use, however it ended. */
  isBroken: boolean
}

export class PostgresStore implements Store {
  readonly dialect = 'postgres'
  /** Names this process in the feed, so that it doesn't read its own changes back. */
  readonly origin: string
  readonly #pools: Pools
  readonly #observer: StoreObserver
  #absorb: Absorb = () => {}
  #doubt: (error: unknown) => void = () => {}
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
      patience,
      planMs = limits.planMsMax,
    }: PostgresOptions = {},
  ) {
    this.#observer = observer
    this.#planMs = planMs
    this.origin = origin
    this.#pools = new Pools(url, connections, patience)
  }

  /** For what the process does for itself, such as following the feed; nobody who waits for a lock can take it away. */
  get pool(): pg.Pool {
    return this.#pools.own
  }

  get pools(): Pools {
    return this.#pools
  }

  /** Is told when what is in memory may lack something that is committed. */
  onDoubt(doubt: (error: unknown) => void): void {
    this.#doubt = doubt
  }

  async settled(): Promise<void> {
    await Promise.all(this.#settling)
  }

  onCommit(absorb: Absorb): void {
    this.#absorb = absorb
  }

  read<T>(work: () => Read<T>): Promise<T> {
    return this.#attempt(work, newAttempt(READ))
  }

  async write<T>(work: () => Write<T>, { lockWaitMs }: WriteOptions = {}): Promise<T> {
    try {
      return await this.#write(work, lockWaitMs ?? this.#pools.patience.lockMs)
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
        const attempt = newAttempt(begin, () => this.#settling.add(settling.promise))
        const value = await this.#attempt(work, attempt)
        this.#observer.committed(1)
        await this.#remember(attempt.changes)
        if (attempt.changes.length > 0) this.#nudge()
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

  /** What is committed is answered as such, also when memory can't take it in now: then it is read again later. */
  async #remember(changes: readonly Change[]): Promise<void> {
    try {
      await this.#absorb(changes)
    } catch (error) {
      this.#doubt(error)
    }
  }

  async #attempt<T>(work: () => Write<T>, attempt: Attempt): Promise<T> {
    for (;;) {
      const client = await this.#connect(attempt.isWrite ? this.#pools.writes : this.#pools.reads)
      try {
        return await this.#run(client, work(), attempt)
      } catch (error) {
        attempt.isBroken = isOutdated(error)
        if (attempt.isBroken) {
          // A newer version has migrated the database while we go on: with a new connection we can.
          if (this.#schemaOf.get(client) === this.#schema) this.#schema++
          attempt.changes.length = 0
          continue
        }
        if (isReadOnly(error)) this.#pools.leave(client)
        const known = classify(error)
        attempt.isBroken = known instanceof StoreUnavailable
        throw known
      } finally {
        client.release(attempt.isBroken)
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

  async #run<T>(client: pg.PoolClient, transaction: Write<T>, attempt: Attempt): Promise<T> {
    let opened: Promise<unknown> | null = null
    const last: Command[] = []
    try {
      let step = transaction.next()
      while (!step.done) {
        // The first burst carries the begin with it.
        const calls = step.value
        const sent = opened === null ? [...this.#freshPlans(client), (opened = start(client, attempt))] : []
        const [answers] = await Promise.all([
          Promise.all(calls.map(call => take(client, call, attempt.changes, last))),
          ...sent,
        ])
        step = transaction.next(answers)
      }
      if (opened) await this.#commit(client, attempt, last)
      return step.value
    } catch (error) {
      if (opened) await client.query('rollback').catch(() => {})
      throw error
    }
  }

  async #commit(client: pg.PoolClient, attempt: Attempt, last: readonly Command[]): Promise<void> {
    const parting = [...last.map(call => execute(client, call)), ...this.#feed(client, attempt.changes)]
    attempt.committing()
    try {
      await Promise.all([...parting, client.query('commit')])
    } catch (error) {
      const known = classify(error)
      if (!(known instanceof StoreUnavailable) || attempt.xid === null) throw error
      // The answer was lost, and not always what it was about.
      attempt.isBroken = true
      const outcome = await this.#outcomeOf(attempt.xid, sessionOf(client).server)
      if (outcome === 'committed') return
      if (outcome === 'aborted') throw error
      this.#doubt(error)
      throw new StoreUnavailable('the database went away in the middle of a commit, which may be done', {
        cause: error,
      })
    }
  }

  /** Null when nobody can tell: the database is away, or another server is in its place. */
  async #outcomeOf(xid: string, server: string): Promise<'committed' | 'aborted' | null> {
    const until = performance.now() + limits.outcomeMsMax
    let failures = 0
    while (performance.now() < until && failures < 2) {
      try {
        const { rows } = await this.pool.query<{ status: string | null }>(OUTCOME, [xid, server])
        const { status } = rows[0]!
        if (status === null || status === 'committed' || status === 'aborted') return status
        await sleep(limits.outcomeAskMs)
      } catch {
        failures++
      }
    }
    return null
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

  close(): Promise<void> {
    return this.#pools.close()
  }
}

const READ = 'begin isolation level repeatable read read only'

const newAttempt = (begin: string, committing = () => {}): Attempt => ({
  begin,
  isWrite: begin !== READ,
  changes: [],
  committing,
  xid: null,
  isBroken: false,
})

/** Each connection of a pool is one of ours. */
const sessionOf = (client: pg.PoolClient) => client as unknown as Session

async function start(client: pg.PoolClient, attempt: Attempt): Promise<void> {
  if (!attempt.isWrite) return void (await client.query(attempt.begin))
  const [, who] = await Promise.all([client.query(attempt.begin), client.query<{ xid: string }>(WHO)])
  attempt.xid = who.rows[0]!.xid
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
