// Times a start with many nodes: until the service answers that it is healthy, and until it has listed nodes. The first
// start of each store finds nothing compiled, so only later ones count.
import { fillNodes, listPath } from './metal.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { freePort, holdfast, startServer } from './server.ts'
import { median } from './statistics.ts'
import { type BenchStore, onEachStore } from './stores.ts'

const GOAL_MS = 1_000

export async function benchStart(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Start with 10,000 nodes, until the first answer',
    measured: { columns: ['store', 'healthy, ms', 'nodes listed, ms', 'CPU until then, ms'], rows: [] },
    limits: { columns: ['besides', 'ms'], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(options.stores, store => benchStore(store, options, report))
  return report
}

async function benchStore(store: BenchStore, options: BenchOptions, report: Report): Promise<void> {
  const [full, empty] = [await store.database(), await store.database()]
  options.progress(`${store.name}: 10,000 nodes`)
  await timed(full, fillNodes)
  await timed(empty)
  const starts: Started[] = []
  const bare: number[] = []
  for (let round = 0; round < Math.max(3, options.rounds); round++) {
    options.progress(`${store.name}: start ${round + 1}`)
    starts.push(await timed(full))
    bare.push((await timed(empty)).listedMs)
  }
  const middle = (name: keyof Started) => median(starts.map(start => start[name]))
  const listedMs = middle('listedMs')
  report.measured.rows.push([store.name, ...[middle('healthyMs'), listedMs, middle('cpuMs')].map(figure)])
  report.limits.rows.push([`${store.name}: the same without nodes`, figure(median(bare))])
  const text = `${store.name}: start to first answer, ${Math.round(listedMs)} ms of at most ${GOAL_MS}, fits`
  report.goals.push({ text, value: GOAL_MS / listedMs, atLeast: 1 })
}

interface Started {
  healthyMs: number
  listedMs: number
  /** Of the service. */
  cpuMs: number
}

async function timed(database: string, then?: (port: number) => Promise<void>): Promise<Started> {
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
  const startedAt = performance.now()
  const server = await startServer({ argv, port, readyPath: '/healthz' })
  try {
    const healthyMs = performance.now() - startedAt
    const headers = { 'x-auth-token': 'admin', 'x-openstack-ironic-api-version': '1.82' }
    const answer = await fetch(`${server.origin}${listPath}`, { headers })
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`the list was answered with ${answer.status}`)
    const listedMs = performance.now() - startedAt
    const cpuMs = server.cpuSeconds() * 1_000
    await then?.(port)
    return { healthyMs, listedMs, cpuMs }
  } finally {
    await server.stop()
  }
}
