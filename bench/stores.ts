// The databases that a bench runs on, each as durable as in production, and the raw limit of each.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startPostgres } from '../test/support/postgres.ts'
import { rawPostgresLimits, rawSqliteLimits, type RawLimit } from './limits.ts'
import type { StoreName } from './options.ts'
import { treeCpuSeconds } from './server.ts'

export interface BenchStore {
  name: StoreName
  /** A fresh database, so that every round starts with the same size. */
  database(): Promise<string>
  /** How many connections have worked on the database in the last seconds. */
  connectionsInUse(database: string, seconds: number): Promise<number>
  /** CPU seconds of the database's own processes so far; SQLite has none. */
  cpuSeconds(): number
  rawLimits(at: { providers: number; connections: number; seconds: number }): Promise<RawLimit[]>
  stop(): Promise<void>
}

export function openStore(name: StoreName): Promise<BenchStore> {
  return name === 'sqlite' ? openSqlite() : openPostgres()
}

/** Runs the work on each store in turn. */
export async function onEachStore(
  names: readonly StoreName[],
  work: (store: BenchStore) => Promise<void>,
): Promise<void> {
  for (const name of names) {
    const store = await openStore(name)
    try {
      await work(store)
    } finally {
      await store.stop()
    }
  }
}

async function openSqlite(): Promise<BenchStore> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  let count = 0
  return {
    name: 'sqlite',
    database: async () => `sqlite:${join(folder, `${count++}.db`)}`,
    connectionsInUse: async () => 1,
    cpuSeconds: () => 0,
    rawLimits: async ({ providers, seconds }) => rawSqliteLimits(folder, providers, seconds),
    stop: async () => remove(),
  }
}

async function openPostgres(): Promise<BenchStore> {
  const server = await startPostgres({ fsync: true, settings: { shared_buffers: '512MB', max_wal_size: '4GB' } })
  const limitDatabase = await server.createDatabase('limit')
  return {
    name: 'postgres',
    database: () => server.createDatabase(),
    async connectionsInUse(database, seconds) {
      const client = new Client({ connectionString: database })
      await client.connect()
      const { rows } = await client.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
           and query_start > now() - make_interval(secs => $1)`,
        [seconds],
      )
      await client.end()
      return rows[0]?.n ?? 0
    },
    cpuSeconds: () => treeCpuSeconds(server.pid()),
    rawLimits: ({ connections, ...at }) =>
      rawPostgresLimits(limitDatabase, { ...at, connections: [1, 8, Math.max(1, connections)] }),
    stop: () => server.stop(),
  }
}
