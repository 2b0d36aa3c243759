// A connection to PostgreSQL, with the settings that all of ours share.
import type { Duplex } from 'node:stream'
import { callbackify } from 'node:util'
import pg from 'pg'
import { limits } from '../shared/limits.ts'
import type { Hosts, Lineage } from './hosts.ts'

// Every statement finds its rows by key. By default the planner plans a statement anew for its first runs, and scans or
// hashes tables that were small when it looked: twice the time at best, and ever slower as they grow. What is off still
// happens where there is no other way, at a cost so high that the JIT would start: hence jit=off.
export const PLANNER = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
  // A call says its transaction's number in a notice.
  'client_min_messages=notice',
]
  .map(setting => `-c ${setting}`)
  .join(' ')

/** When the server started, in microseconds: names a server until it restarts. */
export const SERVER = '(extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text'
const GREETING = `select pg_backend_pid() as pid, ${SERVER} as server,
  current_setting('transaction_read_only')::bool as is_read_only`
// The name of a file of the write-ahead log begins with the timeline. The control file has it only after a checkpoint.
const HERE = `select system_identifier::text as system,
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as timeline
  from pg_control_system() where not pg_is_in_recovery()`
const LINEAGE = `select system, timeline, coalesce((select json_object_agg(e.timeline, name) from (
    select timeline, name from eras where eras.system = here.system order by timeline desc limit ${limits.erasReadMax}) as e),
  '{}') as eras from (${HERE}) as here`
// Before the migration that brings the names.
const NAMELESS = `select system, timeline, '{}'::json as eras from (${HERE}) as here`
// Whoever is first names it, for all.
const NAME_ERA = `insert into eras (system, timeline, name) select system, timeline, gen_random_uuid() from (${HERE}) as here
  on conflict do nothing`

/** A server that takes no writes: a standby, or a primary that was demoted. */
export class ReadOnlyServer extends Error {}

/** Makes the stream of a new connection; it connects when the client says so. */
export type Dial = () => Duplex

interface SessionOptions {
  hosts: Hosts
  dial: Dial | undefined
  url: string
  /** Its name in pg_stat_activity. */
  name: string
  connectMs: number
  lockMs: number
  /** Throws if the server must not be used; left out, it is only looked at. */
  admit?: (session: Session) => Promise<void>
}

export class Session extends pg.Client {
  /** The server process behind it. */
  pid = 0
  /** When its server started: on another server, or after a restart, transaction numbers mean something else. */
  server = ''
  /** Null when the server doesn't say. */
  lineage: Lineage | null = null
  /** The last notice: the number of the transaction, if it is a call. */
  notice: string | null = null
  readonly #options: SessionOptions

  constructor(options: SessionOptions) {
    const { hosts, url, name, dial } = options
    super({
      ...(dial && { stream: dial }),
      connectionString: url,
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: limits.keepAliveMs,
      application_name: name,
      options: `${PLANNER} ${hosts.address.options}`.trimEnd(),
      statement_timeout: limits.statementMsMax,
      lock_timeout: options.lockMs,
      idle_in_transaction_session_timeout: limits.idleInTransactionMsMax,
      // Counts and times fit a double; strings would spread into every sum.
      types: {
        getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
      },
    })
    this.#options = options
    // A connection that dies fails its queries; an error event without a listener would end the process.
    this.on('error', () => {})
    this.on('notice', ({ message }) => (this.notice = message ?? null))
  }

  override connect(): Promise<pg.Client>
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void
  override connect(callback?: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): unknown {
    const greeted = this.#greet()
    return callback ? callbackify(() => greeted)(callback as () => void) : greeted
  }

  /** Bytes received so far. */
  get heard(): number {
    return (this.connection.stream as { bytesRead?: number }).bytesRead ?? 0
  }

  get url(): string {
    return this.#options.url
  }

  /** Sends the statements of a burst in one write: a write for each costs both sides more than most statements do. */
  atOnce<T>(send: () => T): T {
    const { stream } = this.connection
    stream.cork()
    try {
      return send()
    } finally {
      stream.uncork()
    }
  }

  /** Closes the socket without a goodbye, because the other end may be gone. */
  destroy(): void {
    this.connection.stream.destroy()
  }

  /** Reports the host as failed: the next connection tries another one. */
  denounce(): void {
    this.#options.hosts.failed(this.url)
  }

  /** Reads whose history the server has. */
  async readLineage(): Promise<void> {
    const read = this.query<Lineage>(LINEAGE).catch(() => this.query<Lineage>(NAMELESS))
    // Some servers that only resemble PostgreSQL can't say.
    const found = await read.catch(() => null)
    this.lineage = found?.rows[0] ?? null
  }

  /** Names the server's timeline, if it has no name yet. Resolves when replicas that commits wait for have the name. */
  async nameEra(): Promise<void> {
    await this.query(NAME_ERA)
    await this.readLineage()
  }

  async #greet(): Promise<pg.Client> {
    const { hosts, connectMs, admit } = this.#options
    const late = setTimeout(() => this.destroy(), connectMs)
    try {
      await super.connect()
      const [greeting] = await Promise.all([
        this.query<{ pid: number; server: string; is_read_only: boolean }>(GREETING),
        this.readLineage(),
      ])
      const { pid, server, is_read_only } = greeting.rows[0]!
      if (is_read_only && !hosts.address.isAnyGood) throw new ReadOnlyServer('the database is read-only')
      this.pid = pid
      this.server = server
      clearTimeout(late)
      await admit?.(this)
      return this
    } catch (error) {
      if (admit) this.denounce()
      this.destroy()
      throw error
    } finally {
      clearTimeout(late)
    }
  }
}
