// What is soaked: Holdfast on one of its stores, as real processes, and what it takes of the machine.
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { spawnConductor } from '../support/baremetal.ts'
import { startPostgres } from '../support/postgres.ts'
import { type Command, runHoldfast, type ServerProcess, spawnServer } from '../support/server.ts'
import type { Kind } from '../support/stores.ts'

/** By name, such as "api RSS MiB": the figures of this moment. */
export type Figures = Record<string, number>

export interface Deployment {
  origins: string[]
  measure(): Promise<Figures>
  stop(): Promise<void>
}

interface Place {
  database: string
  /** Of the database: what it has on disk, and rows by table. */
  measure(): Promise<Figures>
  stop(): Promise<void>
}

const MIB = 1024 * 1024
const ALLOW = ['--webhook-allow', '127.0.0.1']

export async function deploy(kind: Kind): Promise<Deployment> {
  const place = await (kind === 'sqlite' ? onSqlite() : onPostgres())
  const apis: ServerProcess[] = []
  const conductors: Command[] = []
  const stop = async () => {
    for (const { child } of conductors) child.kill('SIGTERM')
    await Promise.all([...apis.map(api => api.stop()), ...conductors.map(({ exit }) => exit)])
    await place.stop()
  }
  try {
    if (kind === 'sqlite') apis.push(await spawnServer(place.database, ALLOW))
    else {
      const { code, stderr } = await runHoldfast(['migrate', '--database', place.database]).exit
      if (code !== 0) throw new Error(`migrate: ${stderr}`)
      for (let at = 0; at < 2; at++) apis.push(await spawnServer(place.database, ALLOW, 'api'))
      conductors.push(await spawnConductor(place.database, 'conductor-0', ALLOW))
    }
  } catch (error) {
    await stop()
    throw error
  }
  const measure = async () => ({
    ...Object.assign({}, ...(await Promise.all(apis.map((api, at) => ofServer(`process ${at}`, api))))),
    ...Object.assign({}, ...conductors.map(({ child }) => ofProcess('conductor', child.pid!))),
    ...(await place.measure()),
  })
  return { origins: apis.map(api => api.origin), measure, stop }
}

async function ofServer(name: string, { pid, origin }: ServerProcess): Promise<Figures> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  const heap = Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)![1])
  return { ...ofProcess(name, pid), [`${name} heap MiB`]: heap / MIB }
}

function ofProcess(name: string, pid: number): Figures {
  const rss = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1])
  return { [`${name} RSS MiB`]: rss / 1024, [`${name} descriptors`]: readdirSync(`/proc/${pid}/fd`).length }
}

async function onSqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-soak-'))
  const file = join(folder, 'holdfast.db')
  const sizeOf = (path: string) => globSync(path).reduce((sum, one) => sum + statSync(one).size, 0) / MIB
  return {
    database: `sqlite:${file}`,
    async measure() {
      const database = new DatabaseSync(file, { readOnly: true })
      try {
        const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
        const rows = tables.map(({ name }) => [
          `rows in ${name as string}`,
          Number(database.prepare(`select count(*) as n from "${name as string}"`).get()!['n']),
        ])
        return { ...Object.fromEntries(rows), 'database MiB': sizeOf(file), 'WAL MiB': sizeOf(`${file}-wal`) }
      } finally {
        database.close()
      }
    },
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

// Small enough that the log of writes reaches its size within minutes, and dead rows are removed as soon.
const SETTINGS = {
  max_wal_size: '128MB',
  min_wal_size: '64MB',
  checkpoint_timeout: '30s',
  autovacuum_naptime: '10s',
}
const SIZES = `select relname as name, pg_total_relation_size(oid)::float8 as bytes,
    (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I', relname), false, true, '')))[1]::text::int as rows
  from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`
const WAL = 'select sum(size)::float8 as bytes from pg_ls_waldir()'

async function onPostgres(): Promise<Place> {
  const server = await startPostgres({ fsync: true, settings: SETTINGS })
  const database = await server.createDatabase('soak')
  const client = new Client({ connectionString: database })
  await client.connect()
  return {
    database,
    async measure() {
      const { rows } = await client.query<{ name: string; bytes: number; rows: number }>(SIZES)
      const wal = (await client.query<{ bytes: number }>(WAL)).rows[0]!.bytes
      return {
        ...Object.fromEntries(rows.map(one => [`rows in ${one.name}`, one.rows])),
        ...Object.fromEntries(rows.map(one => [`MiB of ${one.name}`, one.bytes / MIB])),
        'WAL MiB': wal / MIB,
      }
    },
    async stop() {
      await client.end()
      await server.stop()
    },
  }
}
