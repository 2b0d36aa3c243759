// Makes providers as a compute service does: the provider, its inventories, its traits and its aggregates, in four
// requests one after the other. For each provider: how many are made a second, and the CPU time that they take.
import { Client } from 'pg'
import { Connection } from './candidates-client.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { createProvider, setInventories, withBody } from './requests.ts'
import { cpuSecondsOf, freePort, holdfast, startServer } from './server.ts'
import { medianBy, percentile } from './statistics.ts'
import { onEachStore, type BenchStore } from './stores.ts'

const CLIENTS = 10
const TRAITS = ['HW_CPU_X86_AVX2', 'HW_CPU_X86_SSE42', 'COMPUTE_NODE', 'STORAGE_DISK_SSD']
const AGGREGATE = crypto.randomUUID()

/** The four requests that make a provider. */
function requestsFor(uuid: string): string[] {
  const put = (what: string, body: object) =>
    withBody('PUT', `/resource_providers/${uuid}/${what}`, JSON.stringify(body))
  return [
    createProvider(uuid),
    setInventories(uuid, 1_000),
    put('traits', { traits: TRAITS, resource_provider_generation: 1 }),
    put('aggregates', { aggregates: [AGGREGATE], resource_provider_generation: 2 }),
  ]
}

interface Round {
  perSecond: number
  p50: number
  p99: number
  serverMs: number
  databaseMs: number
  transactions: number
}

export async function benchProviders({ stores, seconds, rounds, progress }: BenchOptions): Promise<Report> {
  const report: Report = {
    title: `New providers, each in four requests, ${CLIENTS} clients`,
    measured: {
      columns: ['', 'a second', 'p50 ms', 'p99 ms', 'CPU ms of the server', 'of the database', 'transactions'],
      rows: [],
    },
    limits: { columns: [], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(stores, async store => {
    progress(`${store.name}: providers`)
    const database = await store.database()
    const port = await freePort()
    const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
    const server = await startServer({ argv, port, readyPath: '/placement/' })
    const connections = Array.from({ length: CLIENTS }, () => new Connection(port))
    try {
      await make(connections, seconds, report)
      const found: Round[] = []
      for (let round = 0; round < rounds; round++) {
        const before = await spent(store, database, server.cpuSeconds())
        const took = await make(connections, seconds, report)
        const after = await spent(store, database, server.cpuSeconds())
        const each = (key: keyof typeof before) => (after[key] - before[key]) / took.length
        found.push({
          perSecond: took.length / seconds,
          p50: percentile(took, 0.5),
          p99: percentile(took, 0.99),
          serverMs: each('server') * 1_000,
          databaseMs: each('database') * 1_000,
          transactions: each('transactions'),
        })
      }
      const middle = medianBy(found, one => one.perSecond)
      report.measured.rows.push([store.name, ...Object.values(middle).map(figure)])
    } finally {
      for (const connection of connections) connection.close()
      await server.stop()
    }
  })
  return report
}

/** Each client makes one provider after the other. Returns how long each took, the quickest first. */
async function make(connections: readonly Connection[], seconds: number, report: Report): Promise<number[]> {
  const until = performance.now() + seconds * 1_000
  const took: number[] = []
  const client = async (connection: Connection) => {
    while (performance.now() < until) {
      const began = performance.now()
      for (const text of requestsFor(crypto.randomUUID())) {
        const answer = await connection.send(text, true)
        if (answer.status !== 200) report.faults.push(`answered ${answer.status}: ${answer.text.slice(0, 300)}`)
      }
      took.push(performance.now() - began)
    }
  }
  await Promise.all(connections.map(client))
  return took.sort((a, b) => a - b)
}

/** CPU seconds of the server and of the database's processes, and the database's transactions so far. */
async function spent(store: BenchStore, database: string, server: number) {
  if (store.name === 'sqlite') return { server, database: 0, transactions: 0 }
  const client = new Client({ connectionString: database })
  await client.connect()
  const { rows } = await client.query<{ pid: number; transactions: number }>(
    `select pid, (select xact_commit::float8 from pg_stat_database where datname = current_database()) as transactions
      from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await client.end()
  const cpu = rows.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0)
  return { server, database: cpu, transactions: rows[0]?.transactions ?? 0 }
}
