// How many bytes on disk a provider, a claim and a node take, with what they leave in the log; and memory of the process.
import { readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { makeFree } from './allocations-fleet.ts'
import { prepareProviders } from './claims.ts'
import { drive } from './client.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { freePort, holdfast, startServer } from './server.ts'
import { type BenchStore, onEachStore } from './stores.ts'
import { POST_100, type Ledger } from './workloads.ts'

const PROVIDERS = 1_000

interface Size {
  all: number
  /** The tables of the log; unknown in a single file. */
  log?: number
  memory: number
}

export async function benchBytes(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Bytes of a provider, a claim and a node',
    measured: { columns: ['each', 'made', 'bytes on disk', 'of them log', 'memory, at most'], rows: [] },
    limits: { columns: ['besides', ''], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(options.stores, store => benchStore(store, options, report))
  return report
}

async function benchStore(store: BenchStore, options: BenchOptions, report: Report): Promise<void> {
  const database = await store.database()
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
  const server = await startServer({ argv, port, readyPath: '/placement/' })
  let before = await sizeOf(database, server.pid)
  report.limits.rows.push([`${store.name}: memory of an empty server, MB`, figure(before.memory / 1e6)])
  const grew = async (what: string, count: number) => {
    const after = await sizeOf(database, server.pid)
    const each = (value: (size: Size) => number | undefined) => {
      const [old, now] = [value(before), value(after)]
      return old === undefined || now === undefined ? '–' : figure(Math.max(0, now - old) / count)
    }
    const cells = [each(size => size.all), each(size => size.log), each(size => size.memory)]
    report.measured.rows.push([`${store.name}: ${what}`, count, ...cells])
    before = after
  }
  try {
    options.progress(`${store.name}: providers`)
    const ledger = await prepareProviders(port)
    await grew('provider with 3 inventories', PROVIDERS)
    options.progress(`${store.name}: claims`)
    await grew('claim of 3 classes', await claimMany(port, ledger, options.nodes))
    options.progress(`${store.name}: nodes`)
    await grew('node, free', (await makeFree(port, options.nodes / 5)).length)
  } finally {
    await server.stop()
  }
}

async function claimMany(port: number, ledger: Ledger, count: number): Promise<number> {
  let left = Math.ceil(count / POST_100.claimsPerRequest)
  const next = () => (left-- > 0 ? POST_100.next(ledger) : undefined)
  const { claims, firstUnexpected } = await drive({ port, connections: 8, expect: 204, next })
  if (firstUnexpected !== undefined) throw new Error(`a claim was refused: ${firstUnexpected}`)
  return claims
}

async function sizeOf(database: string, pid: number): Promise<Size> {
  // The shell was replaced by node, so this is the server itself. Garbage is counted: it is what the machine must have.
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0)
  const memory = kilobytes * 1024
  if (database.startsWith('sqlite:')) {
    const file = database.slice('sqlite:'.length)
    const db = new DatabaseSync(file)
    db.exec('pragma wal_checkpoint(passive)')
    db.close()
    return { all: statSync(file).size, memory }
  }
  const client = new Client({ connectionString: database })
  await client.connect()
  await client.query('vacuum')
  const { rows } = await client.query<{ all: string; log: string }>(
    `select sum(pg_total_relation_size(oid)) as all,
       sum(pg_total_relation_size(oid)) filter (where relname ~ '^(log|audit|changes)') as log
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  await client.end()
  return { all: Number(rows[0]?.all), log: Number(rows[0]?.log), memory }
}
