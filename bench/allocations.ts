// Times allocations, from the request until they are active, and holds, against a bare round trip in the same run.
import { fileURLToPath } from 'node:url'
import { allocate, hold, makeFree, makeTaken, release } from './allocations-fleet.ts'
import { Connection, getText, repeat, type Rate } from './candidates-client.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { freePort, holdfast, type Server, startServer } from './server.ts'
import { medianBy, percentile } from './statistics.ts'
import { type BenchStore, openStore } from './stores.ts'

const BARE = fileURLToPath(new URL('candidates-limit-server.ts', import.meta.url))
const MOST = 16
const CLIENTS = [1, MOST]
/** What a real ironic 21.4.4 with its database reached on a similar machine. */
const REAL_PER_SECOND = 3.5
/** The size of the answer about an allocation. */
const ANSWER_BYTES = 600
/** How many nodes a hold names. */
const NAMED = 3
/** At most this share of the free nodes is taken at once. */
const SHARE = 0.4
const SETTLE_SECONDS = 0.3
/** Load on a fresh server before anything is measured. */
const WARM_UP_SECONDS = 2

export async function benchAllocations(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Allocations and holds',
    measured: {
      columns: ['what', 'clients', 'a second', 'p50 ms', 'p99 ms', 'bare round trips', 'times the real 3.5'],
      rows: [],
    },
    limits: { columns: ['besides', 'clients', 'p50 ms', 'times'], rows: [] },
    goals: [],
    faults: [],
  }
  const port = await freePort()
  const bare = await startServer({ argv: [process.execPath, BARE, `${port}`], port })
  try {
    for (const name of options.stores) {
      const store = await openStore(name)
      try {
        await benchFleets({ store, bare, options, report })
        await benchOneFree({ store, bare, options, report })
      } finally {
        await store.stop()
      }
    }
  } finally {
    await bare.stop()
  }
  return report
}

const count = (nodes: number) => nodes.toLocaleString('en-US')

interface Bench {
  store: BenchStore
  bare: Server
  options: BenchOptions
  report: Report
}

async function withServer({ store, report }: Bench, act: (server: Server) => Promise<void>): Promise<void> {
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', await store.database(), '--auth', 'noauth2']
  const server = await startServer({ argv, port, readyPath: '/baremetal/' })
  try {
    await act(server)
    const response = await fetch(`${server.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': 'admin' } })
    const { violations } = (await response.json()) as { violations: number }
    if (violations !== 0) report.faults.push(`${store.name}: ${violations} violations`)
  } finally {
    await server.stop()
  }
}

/** By default fleets of 1,000 and 10,000 nodes, all free at first. */
function benchFleets(bench: Bench): Promise<void> {
  const { store, options } = bench
  return withServer(bench, async server => {
    const nodes: string[] = []
    for (const size of [options.nodes / 50, options.nodes / 5]) {
      options.progress(`${store.name}: ${size} nodes`)
      const isFresh = nodes.length === 0
      nodes.push(...(await makeFree(server.port, size - nodes.length)))
      if (isFresh)
        await burstsOf(server, { clients: MOST, most: size * SHARE, seconds: WARM_UP_SECONDS, take: allocate })
      let next = 0
      const named = () => Array.from({ length: NAMED }, () => nodes[next++ % nodes.length]!)
      const takes = {
        'allocation until active': allocate,
        'hold until 201': (connection: Connection) => hold(connection, named()),
      }
      for (const [what, take] of Object.entries(takes)) {
        for (const clients of CLIENTS) {
          options.progress(`${store.name}: ${what}, ${clients} clients`)
          const most = Math.min(400, (size * SHARE) / NAMED)
          const row = `${store.name}: ${what}, ${count(size)} nodes`
          await compare(row, bench, clients, seconds => burstsOf(server, { clients, most, seconds, take }))
        }
      }
    }
  })
}

/** One free node among many that are in use: how much does the number of the others cost? */
function benchOneFree(bench: Bench): Promise<void> {
  const { store, options, report } = bench
  return withServer(bench, async server => {
    await makeFree(server.port, 1)
    const p50s: number[] = []
    let taken = 0
    for (const size of [options.nodes / 50, options.nodes]) {
      options.progress(`${store.name}: one free of ${size}`)
      await makeTaken(server.port, size - 1 - taken)
      taken = size - 1
      const row = `${store.name}: allocation until active, one free of ${count(size)}`
      const { p50Ms } = await compare(row, bench, 1, seconds =>
        burstsOf(server, { clients: 1, most: 1, seconds, take: allocate }),
      )
      p50s.push(p50Ms)
    }
    const [few = 0, many = 0] = p50s
    const text = `${store.name}: one free of ${count(options.nodes)}, times one free of ${count(options.nodes / 50)}`
    report.limits.rows.push([text, 1, figure(many), figure(many / few)])
  })
}

/** Measures our server and the bare one in turn, and reports the median of the rounds. */
async function compare(
  what: string,
  { store, bare, options, report }: Bench,
  clients: number,
  measure: (seconds: number) => Promise<Rate>,
): Promise<Rate> {
  const bareRate = (seconds: number) =>
    repeat({ port: bare.port, connections: clients, seconds }, async connection => {
      await connection.send(getText(`/bytes/${ANSWER_BYTES}`))
    })
  await measure(SETTLE_SECONDS)
  await bareRate(SETTLE_SECONDS)
  const rounds: { ours: Rate; bare: Rate }[] = []
  for (let round = 0; round < options.rounds; round++) {
    rounds.push({ ours: await measure(options.seconds), bare: await bareRate(options.seconds) })
  }
  const { ours, bare: trip } = medianBy(rounds, round => round.ours.p50Ms)
  report.measured.rows.push([
    what,
    clients,
    ...[ours.perSecond, ours.p50Ms, ours.p99Ms, ours.p50Ms / trip.p50Ms, ours.perSecond / REAL_PER_SECOND].map(figure),
  ])
  const name = `${store.name}: a bare round trip`
  if (!report.limits.rows.some(row => row[0] === name && row[1] === clients)) {
    report.limits.rows.push([name, clients, figure(trip.p50Ms), '1'])
  }
  return ours
}

/** Takes nodes in bursts and releases them in between, until the bursts add up to `seconds`. */
async function burstsOf(
  { port }: Server,
  at: { clients: number; most: number; seconds: number; take: (connection: Connection) => Promise<string> },
): Promise<Rate> {
  const connections = Array.from({ length: at.clients }, () => new Connection(port))
  const tookMs: number[] = []
  let elapsedMs = 0
  try {
    while (elapsedMs < at.seconds * 1000) {
      const paths: string[] = []
      let begun = 0
      const startedAt = performance.now()
      const isOver = () => begun >= at.most || elapsedMs + performance.now() - startedAt > at.seconds * 1000
      await Promise.all(
        connections.map(async connection => {
          while (!isOver()) {
            begun++
            const askedAt = performance.now()
            paths.push(await at.take(connection))
            tookMs.push(performance.now() - askedAt)
          }
        }),
      )
      elapsedMs += performance.now() - startedAt
      await Promise.all(
        connections.map(async connection => {
          for (let path = paths.pop(); path !== undefined; path = paths.pop()) await release(connection, path)
        }),
      )
    }
  } finally {
    for (const connection of connections) connection.close()
  }
  tookMs.sort((a, b) => a - b)
  const [p50Ms, p99Ms] = [percentile(tookMs, 0.5), percentile(tookMs, 0.99)]
  return { count: tookMs.length, perSecond: tookMs.length / (elapsedMs / 1000), p50Ms, p99Ms }
}
