// Several API processes and two conductors on one PostgreSQL, behind a proxy: what more processes bring, and the tail.
import { availableParallelism } from 'node:os'
import { allocate, release } from './allocations-fleet.ts'
import { SMALL_QUESTION } from './candidates-cases.ts'
import { candidatesText, type Connection, getText, repeat } from './candidates-client.ts'
import { type Cluster, migrate, missingForCluster, type Part, PARTS, startCluster } from './cluster-processes.ts'
import { holdRate, type Kind, pick } from './cluster-tail.ts'
import { leaseOne, makeWorld, type World } from './guard-loads.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { putAllocation } from './requests.ts'
import { type BenchStore, openStore } from './stores.ts'

const PROCESSES = [1, 2, 4]
const CONNECTIONS = 64
/** As many as connections can want at once, and more. */
const NODES = 150
const MIXED_SECONDS = 120
const QUICK_MIXED_SECONDS = 12

type Act = (connection: Connection) => Promise<void>

export async function benchCluster(options: BenchOptions): Promise<Report> {
  const shares = [...PARTS.map(part => `${part} %`), 'all %', 'API, CPU µs each', 'database, CPU µs each']
  const report: Report = {
    title: `API processes behind nginx, two conductors, one PostgreSQL; ${CONNECTIONS} connections`,
    measured: {
      columns: ['load', 'processes', 'a second', 'p50 ms', 'p99 ms', ...shares],
      rows: [],
    },
    limits: { columns: ['at half of the maximum', 'a second', 'p50 ms', 'p99 ms', 'p99.9 ms', 'longest'], rows: [] },
    goals: [],
    faults: [],
  }
  const missing = missingForCluster()
  if (missing !== undefined) {
    report.limits.rows.push([`left out: ${missing}`, '', '', '', '', ''])
    return report
  }
  const store = await openStore('postgres')
  try {
    await benchOn(store, options, report)
  } finally {
    await store.stop()
  }
  return report
}

async function benchOn(store: BenchStore, options: BenchOptions, report: Report): Promise<void> {
  const database = await store.database()
  await migrate(database)
  const cluster = await startCluster(store, database)
  try {
    let kinds: Kind[] = []
    let most = 0
    for (const processes of PROCESSES) {
      options.progress(`${processes} API processes start`)
      await cluster.growTo(processes)
      // Made by one process: another may be a few milliseconds behind.
      if (kinds.length === 0) kinds = kindsOf(await makeWorld(cluster.port(), NODES))
      const bench: Bench = { cluster, processes, options, report }
      await saturate('reads', kinds[0]!.act, bench)
      await saturate('claims', kinds[1]!.act, bench)
      most = await saturate('mixed', connection => pick(kinds).act(connection), bench)
    }
    const seconds = options.seconds < 1 ? QUICK_MIXED_SECONDS : MIXED_SECONDS
    options.progress(`${seconds} s at half of the maximum`)
    await holdRate({ cluster, database, kinds, perSecond: most / 2, seconds, report })
    await checkWhole(cluster.port(), report)
  } finally {
    await cluster.stop()
  }
  const cores = availableParallelism()
  report.limits.rows.push([`% is of one core; there are ${cores}, so ${cores * 100} is all`, '', '', '', '', ''])
}

/** 70 % reads, 20 % claims, 8 % allocations until they are active, and their end, 2 % leases, and their end. */
function kindsOf({ ledger, nodes }: World): Kind[] {
  const anyOf = (all: readonly string[]) => all[Math.floor(Math.random() * all.length)]!
  const reads = [
    () => candidatesText(`${SMALL_QUESTION}&limit=10`),
    () => getText(`/baremetal/v1/nodes/${anyOf(nodes)}`),
    () => getText(`/placement/resource_providers/${anyOf(ledger.providers)}/inventories`),
  ]
  const read: Act = connection => expect(connection, reads[Math.floor(Math.random() * reads.length)]!(), 200)
  const claim: Act = connection =>
    expect(connection, putAllocation(crypto.randomUUID(), anyOf(ledger.providers), 3), 204)
  return [
    { name: 'reads', share: 0.7, act: read },
    { name: 'claims', share: 0.2, act: claim },
    { name: 'allocations', share: 0.08, act: async connection => release(connection, await allocate(connection)) },
    { name: 'leases', share: 0.02, act: leaseOne },
  ]
}

interface Bench {
  cluster: Cluster
  processes: number
  options: BenchOptions
  report: Report
}

/** All connections ask without a pause. Returns how many acts were done in a second. */
async function saturate(name: string, act: Act, { cluster, processes, options, report }: Bench): Promise<number> {
  options.progress(`${processes} API processes: ${name}`)
  const failures: string[] = []
  const run = (seconds: number) =>
    repeat({ port: cluster.port(), connections: CONNECTIONS, seconds }, async connection => {
      await act(connection).catch((error: unknown) => failures.push(String(error)))
    })
  // Each process has to compile its code, and they share the cores.
  await run(options.seconds * (1 + processes / 2))
  const before = cluster.cpuSeconds()
  const start = performance.now()
  const rate = await run(options.seconds * options.rounds)
  const seconds = (performance.now() - start) / 1000
  const after = cluster.cpuSeconds()
  const cpu = (part: Part) => after[part] - before[part]
  const shares = PARTS.map(part => (cpu(part) / seconds) * 100)
  report.measured.rows.push([
    name,
    processes,
    ...[rate.perSecond, rate.p50Ms, rate.p99Ms].map(figure),
    ...[...shares, shares.reduce((sum, one) => sum + one, 0)].map(one => Math.round(one)),
    ...(['API', 'database'] as const).map(part => figure((cpu(part) / rate.count) * 1e6)),
  ])
  if (failures.length > 0) {
    report.faults.push(`${name}, ${processes} processes: ${failures.length} failed; the first: ${failures[0]}`)
  }
  return rate.perSecond
}

async function expect(connection: Connection, request: string, status: number): Promise<void> {
  const answer = await connection.send(request, true)
  if (answer.status !== status) throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 300)}`)
}

async function checkWhole(port: number, report: Report): Promise<void> {
  const url = `http://127.0.0.1:${port}/holdfast/v1/fsck`
  const response = await fetch(url, { headers: { 'x-auth-token': 'admin' } })
  const { violations } = (await response.json()) as { violations: number }
  if (violations !== 0) report.faults.push(`${violations} violations`)
}
