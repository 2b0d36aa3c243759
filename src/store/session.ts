// A connection to PostgreSQL, with all that ours have in common.
import { callbackify } from 'node:util'
import pg from 'pg'
import { limits } from '../shared/limits.ts'
import type { Hosts } from './hosts.ts'

// Every statement finds its rows by key. Left alone, the planner would plan each of them anew for the first runs, and would
// scan and hash tables that were small when it looked: twice the time at best, and for ever slower as they grow.
// What these settings forbid still happens where there is no other way, at a price that makes it look worth compiling.
export const PLANNER = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
]
  .map(setting => `-c ${setting}`)
  .join(' ')

const GREETING = `select pg_backend_pid() as pid,
  (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text as server,
  current_setting('transaction_read_only')::bool as is_read_only`

/** A server that takes no writes: a standby, or a primary that was demoted. */
export class ReadOnlyServer extends Error {}

interface SessionOptions {
  hosts: Hosts
  /** How PostgreSQL lists it. */
  name: string
  connectMs: number
  lockMs: number
}

export class Session extends pg.Client {
  /** The process that serves it. */
  pid = 0
  /** When that server began: another server, and the same one after a restart, count transactions by themselves. */
  server = ''
  readonly #options: SessionOptions
  readonly #url: string

  constructor(options: SessionOptions) {
    const { hosts, name } = options
    super({
      connectionString: hosts.current,
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
    this.#url = hosts.current
    // A connection that dies fails its queries; an error event without a listener would end the process.
    this.on('error', () => {})
  }

  override connect(): Promise<pg.Client>
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void
  override connect(callback?: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): unknown {
    const greeted = this.#greet()
    return callback ? callbackify(() => greeted)(callback as () => void) : greeted
  }

  /** What it has heard so far, in bytes. */
  get heard(): number {
    return (this.connection.stream as { bytesRead?: number }).bytesRead ?? 0
  }

  /** Ends it without a word, since nobody may be listening. */
  destroy(): void {
    this.connection.stream.destroy()
  }

  /** This host is of no use any more: whoever connects next tries another. */
  denounce(): void {
    this.#options.hosts.failed(this.#url)
  }

  async #greet(): Promise<pg.Client> {
    const late = setTimeout(() => this.destroy(), this.#options.connectMs)
    try {
      await super.connect()
      const { rows } = await this.query<{ pid: number; server: string; is_read_only: boolean }>(GREETING)
      const { pid, server, is_read_only } = rows[0]!
      if (is_read_only && !this.#options.hosts.address.isAnyGood) throw new ReadOnlyServer('the database is read-only')
      this.pid = pid
      this.server = server
      return this
    } catch (error) {
      this.denounce()
      this.destroy()
      throw error
    } finally {
      clearTimeout(late)
    }
  }
}
