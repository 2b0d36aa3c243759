// Two PostgreSQL servers at two fixed addresses: a primary, and a standby that each commit waits for.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { waitFor } from '../support/baremetal.ts'
import { type Postgres, type PostgresOptions, startPostgres } from '../support/postgres.ts'

// As in production, and with enough of the log kept for a standby that begins while others write.
const SETTINGS = { max_connections: '200', wal_keep_size: '512MB', max_wal_size: '4GB', shared_buffers: '64MB' }

export class Pair {
  /** Serves; after a fail-over the one that was the standby. */
  primary: Postgres
  /** Follows; null while there is none. */
  standby: Postgres | null = null
  readonly #options: PostgresOptions
  readonly #folder: string
  readonly #seats: readonly string[]
  readonly #started: Postgres[] = []

  private constructor(folder: string, options: PostgresOptions, primary: Postgres) {
    this.#folder = folder
    this.#options = options
    this.#seats = seatsIn(folder)
    this.primary = primary
    this.#started.push(primary)
  }

  static async start({ native }: Pick<PostgresOptions, 'native'> = {}): Promise<Pair> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-pair-'))
    // PostgreSQL may run as another user.
    chmodSync(folder, 0o755)
    for (const seat of seatsIn(folder)) {
      mkdirSync(seat)
      chmodSync(seat, 0o777)
    }
    const options = { fsync: true, settings: SETTINGS, ...(native && { native }) }
    const primary = await startPostgres({ ...options, sockets: seatsIn(folder)[0]! })
    const pair = new Pair(folder, options, primary)
    await pair.addStandby()
    return pair
  }

  /** Names both servers, in a fixed order. */
  url(database: string): string {
    return `postgres://postgres@/${database}?host=${this.#seats.join(',')}`
  }

  /** Copies the primary to the other address. From now on commits wait for the copy. */
  async addStandby(): Promise<void> {
    const sockets = this.#seats.find(seat => seat !== this.primary.sockets)!
    this.standby = await startPostgres({ ...this.#options, sockets, follows: this.primary })
    this.#started.push(this.standby)
    await setSynchronous(this.primary, '*')
    await waitFor('the standby is synchronous', async () => {
      const rows = await ask(this.primary, "select 1 from pg_stat_replication where sync_state = 'sync'")
      return rows.length > 0
    })
  }

  /** Makes the standby the primary, whatever became of the old one, and returns the old one. */
  async promote(): Promise<Postgres> {
    const old = this.primary
    await ask(this.standby!, 'select pg_promote(true, 60)')
    this.primary = this.standby!
    this.standby = null
    return old
  }

  async stop(): Promise<void> {
    for (const server of this.#started) await server.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const seatsIn = (folder: string) => ['a', 'b'].map(name => join(folder, name))

/** Kills all processes of a server at once, as a power cut does. */
export async function cutPower(server: Postgres): Promise<void> {
  const postmaster = server.pid()
  // Stopped first, so that it starts no others.
  process.kill(postmaster, 'SIGSTOP')
  for (const pid of childrenOf(postmaster)) tryKill(pid)
  await server.kill9()
}

export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => parentOf(pid) === parent)
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

/** Which standbys commits wait for; none if it is empty. */
export async function setSynchronous(server: Postgres, names: string): Promise<void> {
  await ask(server, `alter system set synchronous_standby_names = '${names}'`)
  await ask(server, 'select pg_reload_conf()')
}

export async function ask<Row extends object>(server: Postgres, sql: string, database = 'postgres'): Promise<Row[]> {
  const client = new Client({ connectionString: server.url(database) })
  // A server that is killed meanwhile fails the question.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
