// The real PostgreSQL behind the virtual network: a server, a migrated template, and a database for each run.
import { existsSync } from 'node:fs'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres.ts'
import { addStandardNames } from '../src/ledger/standard.ts'
import { migrate } from '../src/store/migrate.ts'
import { PostgresStore } from '../src/store/postgres.ts'
import { VIOLATIONS } from './checks/invariants.ts'
import { STARTED } from './time.ts'

const TEMPLATE = 'simulator_template'

const SETTINGS = {
  // Ours come first, but for tables, which are made in the first schema.
  search_path: 'public, sim, pg_catalog',
  autovacuum: 'off',
  // The virtual network looks for deadlocks, in virtual time.
  deadlock_timeout: '1h',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  max_connections: '300',
  wal_level: 'minimal',
  max_wal_senders: '0',
  log_min_messages: 'panic',
}

/** What reads time by itself reads virtual time: the network sets it before each burst. */
const VIRTUAL = `
  create schema sim;
  create function sim.clock_timestamp() returns timestamptz language sql volatile as $$
    select current_setting('sim.now')::timestamptz $$;
  create function sim.now() returns timestamptz language sql stable as $$
    select current_setting('sim.now')::timestamptz $$;
  create function sim.set_config(text, text, boolean) returns text language sql volatile as $$
    select pg_catalog.set_config(case when $1 = 'lock_timeout' then 'sim.lock_timeout' else $1 end, $2, $3) $$;
  create view sim.pg_stat_activity as
    select a.pid, a.datname, a.usename, a.application_name, v.state, v.xact_start
    from pg_catalog.pg_stat_activity a
    join json_to_recordset(current_setting('sim.activity')::json) as v (pid int, state text, xact_start timestamptz)
      using (pid)`

export interface Server {
  url(database: string): string
  /** A new database, and the folder of the server's socket. */
  create(): Promise<Database>
  stop(): Promise<void>
}

/** The address of a server that another process has started, with its template. */
const SHARED = 'HOLDFAST_SIMULATOR_POSTGRES'

export async function startServer(): Promise<Server> {
  const shared = process.env[SHARED]
  if (shared) {
    const maintenance = new pg.Client({ connectionString: shared })
    await maintenance.connect()
    const url = (name: string) => shared.replace(/[^/]*$/, name)
    return { url, create: creator(url, maintenance), stop: () => maintenance.end() }
  }
  const within = existsSync('/dev/shm') ? { within: '/dev/shm' } : {}
  const postgres = await startPostgres({ settings: SETTINGS, ...within })
  const maintenance = new pg.Client({ connectionString: postgres.url('postgres') })
  await maintenance.connect()
  try {
    await makeTemplate(postgres.url(TEMPLATE), maintenance)
  } catch (error) {
    await maintenance.end()
    await postgres.stop()
    throw error
  }
  const url = (name: string) => postgres.url(name)
  return {
    url,
    create: creator(url, maintenance),
    async stop() {
      await maintenance.end()
      await postgres.stop()
    },
  }
}

function creator(url: (name: string) => string, maintenance: pg.Client): () => Promise<Database> {
  let made = 0
  return async () => {
    const name = `run_${process.pid}_${++made}`
    await maintenance.query(`create database ${name} template ${TEMPLATE}`)
    const database = new Database(url(name), () => maintenance.query(`drop database ${name} with (force)`))
    await database.open()
    return database
  }
}

async function makeTemplate(url: string, maintenance: pg.Client): Promise<void> {
  await maintenance.query(`create database ${TEMPLATE}`)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(VIRTUAL)
  await client.end()
  const options = `-c sim.now=${new Date(STARTED).toISOString()}`
  const store = new PostgresStore(`${url}?options=${encodeURIComponent(options)}`)
  try {
    await migrate(store, STARTED)
    await store.write(() => addStandardNames(STARTED))
  } finally {
    await store.close()
  }
  const checker = new pg.Client({ connectionString: url })
  await checker.connect()
  await checker.query(VIOLATIONS)
  await checker.end()
}

const WHOLE_NUMBERS: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
}

/** One run's database, and a connection to it outside of the virtual network. */
export class Database {
  readonly url: string
  readonly #admin: pg.Client
  readonly #drop: () => Promise<unknown>
  readonly #asked = new Map<string, number>()

  constructor(url: string, drop: () => Promise<unknown>) {
    this.url = url
    this.#drop = drop
    this.#admin = new pg.Client({ connectionString: url, types: WHOLE_NUMBERS })
  }

  /** The path of the server's socket. */
  get socket(): string {
    return `${decodeURIComponent(new URL(this.url).hostname)}/.s.PGSQL.5432`
  }

  async open(): Promise<void> {
    this.#admin.on('error', () => {})
    await this.#admin.connect()
  }

  /** What is asked for the second time is planned once for all further times. */
  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const place = this.#asked.get(text)
    if (place === undefined) this.#asked.set(text, this.#asked.size)
    const named = place === undefined ? {} : { name: `asked ${place}` }
    return (await this.#admin.query({ text, values: [...values], ...named })).rows as Row[]
  }

  /** Who blocks each of these, by pid. */
  async blockers(pids: readonly number[]): Promise<Map<number, number[]>> {
    const asked = {
      name: 'blockers',
      text: 'select pid, pg_blocking_pids(pid) as by from unnest($1::int[]) as pid',
      values: [pids],
    }
    const { rows } = await this.#admin.query<{ pid: number; by: number[] }>(asked)
    return new Map(rows.map(({ pid, by }) => [pid, by]))
  }

  /** When it began to wait for the lock that it waits for, which tells one wait from the next; null if it waits for none. */
  async waitsSince(pid: number): Promise<string | null> {
    const text = 'select waitstart::text as since from pg_catalog.pg_locks where pid = $1 and not granted'
    const [row] = await this.rows<{ since: string | null }>(text, [pid])
    return row?.since ?? null
  }

  async cancel(pid: number): Promise<void> {
    await this.rows('select pg_cancel_backend($1)', [pid])
  }

  /** Who blocks this server process; null if it has ended, and has given back what it had locked. */
  async look(pid: number): Promise<number[] | null> {
    const text = 'select pg_blocking_pids(pid) as by from pg_catalog.pg_stat_activity where pid = $1'
    const [row] = await this.rows<{ by: number[] }>(text, [pid])
    return row?.by ?? null
  }

  async close(): Promise<void> {
    await this.#admin.end()
    await this.#drop()
  }
}
