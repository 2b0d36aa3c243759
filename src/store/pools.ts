// The connections of one process, in three pools: for writes, for reads, and for its own work such as the feed. So
// writes that wait for a lock can't take the connections of reads or of the feed.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Gate } from '../shared/gate.ts'
import { limits } from '../shared/limits.ts'
import { StoreUnavailable } from './failure.ts'
import { Hosts, type Lineage } from './hosts.ts'
import { SHARED } from './postgres-failure.ts'
import { PATIENCE, type Patience } from './patience.ts'
import { type Dial, Session } from './session.ts'
import { SilenceWatch } from './silence.ts'

/** A server that is there and must not be used. Its message says why, and what to do. */
class RefusedServer extends Error {}

/** How often two connections are compared: beside others, a pooler may give each its own for a while. */
const COMPARISONS = 4

// An idle backend has already answered, or never got the statement.
const AT_WORK = "select pid from pg_stat_activity where pid = any($1::int[]) and (state like 'idle%') is not true"

export class Pools {
  readonly writes: pg.Pool
  readonly reads: pg.Pool
  /** For the feed, nudges, and questions about the others. */
  readonly own: pg.Pool
  readonly patience: Patience
  readonly #hosts: Hosts
  readonly #dial: Dial | undefined
  readonly #watch: SilenceWatch
  readonly #sessions = new Set<Session>()
  /** In front of the pools for transactions, because a pool's own line knows no turns. */
  readonly #gates = new Map<pg.Pool, Gate>()
  readonly #waiting = new Set<(error: Error) => void>()
  readonly #timer: NodeJS.Timeout | undefined
  #surveying: Promise<void> | null = null
  /** Why servers that are there are not used, by their addresses. */
  readonly #refusals = new Map<string, string>()
  /** Is told of servers that are refused. Null in a process that only has a look. */
  #heardRefusal: ((words: string) => void) | null = null
  #isNaming = false
  #isClosed = false

  constructor(url: string, connections: number, patience: Partial<Patience> = {}, dial?: Dial) {
    this.#hosts = new Hosts(url)
    this.#dial = dial
    this.patience = { ...PATIENCE, ...patience }
    this.#watch = new SilenceWatch({
      silenceMs: this.patience.silenceMs,
      limitMs: limits.statementMsMax + this.patience.silenceMs,
      ask: suspects => this.#silentOf(suspects),
      found: () => this.dropIdle(),
    })
    const reads = Math.max(1, Math.floor(connections * limits.readShare))
    this.reads = this.#gated(reads)
    this.writes = this.#gated(Math.max(1, connections - reads))
    this.own = this.#pool(limits.ownConnections)
    // A promotion doesn't end the connections to an old primary that lives on.
    this.#timer = setInterval(() => this.#look(), this.patience.surveyMs).unref()
  }

  /** How many servers are there and not used, because they lack what this process has seen. */
  get refused(): number {
    return this.#refusals.size
  }

  /** From now on the timelines of servers get names, by which forks are known, and refusals are told. */
  watch(heardRefusal: (words: string) => void): void {
    this.#heardRefusal = heardRefusal
    this.#look()
  }

  #look(): void {
    if (this.#hosts.count > 1) void this.#survey()
    this.#nameSoon()
  }

  #nameSoon(): void {
    if (!this.#heardRefusal || this.#isNaming || !this.#hosts.isKnown || this.#hosts.era !== null) return
    this.#isNaming = true
    void this.#nameEra().finally(() => (this.#isNaming = false))
  }

  /** On a connection of its own, because it may wait for a replica. If it fails, it is tried again. */
  async #nameEra(): Promise<void> {
    const session = this.session('holdfast probe')
    const late = setTimeout(() => session.destroy(), limits.statementMsMax)
    try {
      await session.connect()
      await session.nameEra()
      if (session.lineage) this.#goTo(session.url, session.lineage)
    } catch {
      // The server is away, or takes no writes.
    } finally {
      clearTimeout(late)
      session.destroy()
    }
  }

  /** How many transactions wait for a connection. */
  get waiting(): number {
    return [...this.#gates.values()].reduce((sum, gate) => sum + gate.waiting, this.own.waitingCount)
  }

  get all(): readonly pg.Pool[] {
    return [this.writes, this.reads, this.own]
  }

  /** A new connection; the caller connects and ends it. */
  session(name = 'holdfast'): Session {
    const hosts = this.#hosts
    const admit = (session: Session) => this.#admit(session)
    const session = new Session({ hosts, url: hosts.current, dial: this.#dial, name, ...this.patience, admit })
    this.#sessions.add(session)
    session.on('end', () => this.#sessions.delete(session))
    return session
  }

  /** All connections of a process are to one server, and never again to one that a promotion has left behind. */
  async #admit(session: Session): Promise<void> {
    const hosts = this.#hosts
    const { url, pid, server } = session
    for (const other of this.#sessions) {
      if (other !== session && other.pid === pid && other.server === server) throw new RefusedServer(SHARED)
    }
    if (session.lineage === null) return
    if (!hosts.isKnown) hosts.adopt(url, session.lineage)
    if (!hosts.isAhead(session.lineage) && !hosts.isSurveyed) await this.#survey()
    await this.#requireOurs(session)
    if (session.lineage) this.#goTo(url, session.lineage)
    this.#nameSoon()
  }

  /** Throws if the server lacks what this process has seen. */
  async #requireOurs(session: Session): Promise<void> {
    const { url } = session
    // It may have been asked before its timeline got the name that we know.
    if (session.lineage && this.#hosts.isFork(session.lineage)) await session.readLineage()
    const words = session.lineage && this.#hosts.refusalOf(session.lineage)
    if (words === null) return void this.#refusals.delete(url)
    const isNews = this.#refusals.get(url) !== words
    this.#refusals.set(url, words)
    if (isNews) this.#heardRefusal?.(words)
    throw new RefusedServer(words)
  }

  #goTo(url: string, lineage: Lineage): void {
    const isSame = this.#hosts.isSame(lineage)
    if (isSame && this.#hosts.era !== null) return
    this.#hosts.adopt(url, lineage)
    if (isSame) return
    for (const session of this.#sessions) {
      if (session.lineage && !this.#hosts.isSame(session.lineage)) session.destroy()
    }
  }

  /** Looks at all hosts, and goes to the one that was promoted last. */
  #survey(): Promise<void> {
    this.#surveying ??= this.#lookAround().finally(() => (this.#surveying = null))
    return this.#surveying
  }

  async #lookAround(): Promise<void> {
    const hosts = this.#hosts
    if (hosts.count > 1) await Promise.all(hosts.address.urls.map(url => this.#lookAt(url)))
    hosts.isSurveyed = true
  }

  async #lookAt(url: string): Promise<void> {
    const session = new Session({ hosts: this.#hosts, url, dial: this.#dial, name: 'holdfast probe', ...this.patience })
    try {
      await session.connect()
      if (session.lineage && this.#hosts.isAhead(session.lineage)) this.#goTo(url, session.lineage)
      await this.#requireOurs(session)
    } catch (error) {
      // If it isn't refused it is away, or takes no writes: then it isn't the primary.
      if (!(error instanceof RefusedServer)) this.#refusals.delete(url)
    } finally {
      session.destroy()
    }
  }

  /**
   * Throws if connections have no session of their own in PostgreSQL. Each new connection is compared with the others, but
   * of a pooler that serves others too one may learn that late.
   */
  async requireSessions(): Promise<void> {
    const one = await this.take(this.own)
    try {
      const other = await this.take(this.own)
      try {
        // In turns one has a transaction, which keeps what it was given, so that the other must be given something else.
        for (let i = 0; i < COMPARISONS; i++) await requireOwn(i % 2 === 0 ? [other, one] : [one, other])
      } finally {
        other.release(true)
      }
    } catch (error) {
      throw error instanceof StoreUnavailable ? error : this.#unavailable(error)
    } finally {
      one.release(true)
    }
  }

  async take(pool: pg.Pool): Promise<pg.PoolClient> {
    for (let tried = 1; ; tried++) {
      const isFull = pool.totalCount >= pool.options.max
      try {
        return await this.#connected(pool)
      } catch (error) {
        // Tries each host once. If the pool was full, the failure says nothing about hosts.
        const isLast = isFull || this.#isClosed || tried >= this.#hosts.count
        if (isLast) throw this.#unavailable(error)
      }
    }
  }

  /** Of several servers one that is refused says more than one that is away. */
  #unavailable(error: unknown): StoreUnavailable {
    const [refusal] = error instanceof RefusedServer ? [error.message] : this.#refusals.values()
    return new StoreUnavailable(refusal ?? 'the database is away', { cause: error })
  }

  /** A connection of the pool. When the pools are closed, callers that still wait fail at once. */
  #connected(pool: pg.Pool): Promise<pg.PoolClient> {
    const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>()
    this.#waiting.add(reject)
    this.#enter(pool).then(
      client => (this.#waiting.delete(reject) ? resolve(client) : client.release()),
      (error: unknown) => {
        this.#waiting.delete(reject)
        reject(error)
      },
    )
    return promise
  }

  async #enter(pool: pg.Pool): Promise<pg.PoolClient> {
    const gate = this.#gates.get(pool)
    await gate?.enter()
    try {
      return await pool.connect()
    } catch (error) {
      gate?.leave()
      throw error
    }
  }

  /** Closes idle connections, which may be dead or lead to the wrong server. New ones are opened when needed. */
  dropIdle(): void {
    for (const session of this.#sessions) {
      if (session.pid !== 0 && !this.#watch.isInUse(session)) session.destroy()
    }
  }

  /** The server behind this connection takes no writes: new connections go to another host, if there is one. */
  leave(client: pg.PoolClient): void {
    const session = client as unknown as Session
    session.denounce()
    this.dropIdle()
  }

  /** Takes at most about closeMs, whatever the network does. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const reject of this.#waiting) reject(new Error('it is being closed'))
    this.#waiting.clear()
    const ended = [...this.#sessions].map(session => new Promise(resolve => session.once('end', resolve)))
    const late = new AbortController()
    await Promise.race([
      Promise.all([...this.all.map(pool => pool.end()), ...ended]),
      sleep(this.patience.closeMs, null, { signal: late.signal }),
    ])
    late.abort()
    this.#watch.stop()
    for (const session of this.#sessions) session.destroy()
  }

  #gated(places: number): pg.Pool {
    const pool = this.#pool(places)
    const gate = new Gate({
      places,
      waitingMax: limits.poolWaitersMax,
      waitMsMax: limits.poolWaitMsMax,
      refusal: () => new StoreUnavailable('too many wait for the database'),
    })
    this.#gates.set(pool, gate)
    pool.on('release', () => gate.leave())
    return pool
  }

  #pool(max: number): pg.Pool {
    const open = () => this.session()
    const pool = new pg.Pool({
      max,
      // For a connection that others give back; opening a new one has its own limit, connectMs.
      connectionTimeoutMillis: limits.poolWaitMsMax,
      Client: function PooledSession() {
        return open()
      } as unknown as new () => Session,
    })
    // An idle connection that dies is replaced; without a listener the error would end the process.
    pool.on('error', () => {})
    pool.on('acquire', client => this.#watch.begin(client as unknown as Session))
    pool.on('release', (_, client) => this.#watch.end(client as unknown as Session))
    return pool
  }

  async #silentOf(suspects: readonly Session[]): Promise<ReadonlySet<Session>> {
    const asking = this.session('holdfast probe')
    const late = setTimeout(() => asking.destroy(), this.patience.connectMs)
    try {
      await asking.connect()
      const { rows } = await asking.query<{ pid: number }>(AT_WORK, [suspects.map(({ pid }) => pid)])
      const atWork = new Set(rows.map(row => row.pid))
      return new Set(suspects.filter(({ pid, server }) => server !== asking.server || !atWork.has(pid)))
    } catch (error) {
      // 53300: the server is alive, but full. After any other error all suspects count as silent.
      const isFull = error instanceof pg.DatabaseError && error.code === '53300'
      return new Set(isFull ? [] : suspects)
    } finally {
      clearTimeout(late)
      asking.destroy()
    }
  }
}

/** The first is given one of a pooler's connections for a transaction, and the second another one. */
async function requireOwn([first, second]: [pg.PoolClient, pg.PoolClient]): Promise<void> {
  await first.query('begin')
  for (const client of [first, second]) {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    if (rows[0]!.pid !== (client as unknown as Session).pid) throw new RefusedServer(SHARED)
  }
  await first.query('rollback')
}
