// Times allocation candidates over HTTP, against a bare server that answers the same number of bytes in the same run.
import { fileURLToPath } from 'node:url'
import { type Case, DOOR, flatCases, LARGEST, SMALL, treeCases } from './candidates-cases.ts'
import { candidatesText, Connection, getText, repeat, type Rate } from './candidates-client.ts'
import { measureLag } from './candidates-lag.ts'
import { fill, flatWorld, treesWorld, type World } from './candidates-worlds.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Goal, type Report } from './report.ts'
import { putAllocation, withBody } from './requests.ts'
import { freePort, holdfast, runCommand, startServer, type Server } from './server.ts'
import { median, medianBy } from './statistics.ts'
import { openStore, type BenchStore } from './stores.ts'

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const CONNECTIONS = 10
const WIDE = [8, 16]
const RATES = ['asked/s', 'p50 ms', 'p99 ms', 'bare/s', 'times', 'times by CPU', 'alone, extra ms']
const SETTLE_SECONDS = 0.2
const WARM_UP_SECONDS_MAX = 10

interface RateAndCpu extends Rate {
  /** CPU time of the server for one request. */
  cpuMicroseconds: number
}

interface Measured {
  bytes: number
  found: number
  ours: RateAndCpu
  bare: RateAndCpu
  /** On one connection: the extra time compared with the bare server. */
  extraMs: number
}

export async function benchCandidates(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Allocation candidates',
    measured: {
      columns: ['question', 'found', 'bytes', ...RATES],
      rows: [],
    },
    limits: { columns: ['besides', ''], rows: [] },
    goals: [],
    faults: [],
  }
  // The search doesn't depend on the store, so SQLite is enough; only the load and the lag run on PostgreSQL.
  const store = await openStore('sqlite')
  const barePort = await freePort()
  const bare = await startServer({
    argv: [process.execPath, here('candidates-limit-server.ts'), `${barePort}`],
    port: barePort,
  })
  try {
    const bench = { store, bare, options, report }
    for (const count of isQuick(options) ? [1_000, LARGEST] : [1_000, 10_000, LARGEST]) {
      const database = await newWorld(store, flatWorld(count), options)
      await serving(database, bench, server => measureCases(flatCases(count), { ...bench, server }))
      if (count === LARGEST) await measureLoad(store, database, options, report)
    }
    const trees = await newWorld(store, treesWorld(1_000, WIDE), options)
    await serving(trees, bench, server => measureCases(treeCases(), { ...bench, server }))
    const roomy = await newWorld(store, flatWorld(1_000, true), options)
    await serving(roomy, bench, server => endToEnd(server, options, report))
  } finally {
    await bare.stop()
    await store.stop()
  }
  if (options.stores.includes('postgres')) await onPostgres(options, report)
  return report
}

const isQuick = ({ seconds }: BenchOptions) => seconds < 1

async function newWorld(store: BenchStore, world: World, options: BenchOptions): Promise<string> {
  options.progress(`${store.name}: a world of ${world.providers.length}`)
  const database = await store.database()
  await runCommand([holdfast, 'migrate', '--database', database])
  await fill(database, world)
  return database
}

async function serving(
  database: string,
  { bare, options, report }: Omit<Bench, 'server'>,
  act: (server: Server) => Promise<void>,
): Promise<void> {
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
  const server = await startServer({ argv, port, readyPath: '/placement/' })
  try {
    options.progress('warm-up')
    for (const [to, text] of [
      [server, candidatesText(`${SMALL}&limit=10`)],
      [bare, getText('/bytes/4000')],
    ] as const) {
      let left = options.warmUpRequests
      const at = { port: to.port, connections: CONNECTIONS, seconds: WARM_UP_SECONDS_MAX }
      await repeat(
        at,
        async connection => void (await connection.send(text)),
        () => left-- > 0,
      )
    }
    await act(server)
  } finally {
    const status = await server.stop()
    if (status !== 0) report.faults.push(`the server ended with status ${status}: ${server.log()}`)
  }
}

interface Bench {
  server: Server
  bare: Server
  options: BenchOptions
  report: Report
}

async function measureCases(cases: readonly Case[], bench: Bench): Promise<void> {
  for (const one of cases) {
    bench.options.progress(one.name)
    const rounds: Measured[] = []
    for (let round = 0; round < bench.options.rounds; round++) rounds.push(await measure(one, bench))
    const times = median(rounds.map(({ ours, bare }) => bare.perSecond / ours.perSecond))
    const extraMs = median(rounds.map(round => round.extraMs))
    const { found, bytes, ours, bare } = medianBy(rounds, round => round.ours.perSecond)
    const timesByCpu = median(rounds.map(({ ours, bare }) => ours.cpuMicroseconds / bare.cpuMicroseconds))
    const rates = [ours.perSecond, ours.p50Ms, ours.p99Ms, bare.perSecond, times, timesByCpu, extraMs]
    bench.report.measured.rows.push([one.name, found, figure(bytes), ...rates.map(figure)])
    if (one.timesAtMost) bench.report.goals.push(atMost(`${one.name}: times a bare answer`, times, one.timesAtMost))
    if (one.extraMsAtMost) {
      bench.report.goals.push(atMost(`${one.name}: ms longer than a bare answer`, extraMs, one.extraMsAtMost))
    }
  }
}

/** Measures our server and the bare one in turn, so that other load on the machine affects both. */
async function measure({ name, query }: Case, { server, bare, options, report }: Bench): Promise<Measured> {
  const text = query === DOOR ? getText(DOOR) : candidatesText(query)
  const probe = new Connection(server.port)
  const { status, bytes, incomplete, text: body } = await probe.send(text, true)
  probe.close()
  if (status !== 200) throw new Error(`${name} was answered ${status}: ${body.slice(0, 500)}`)
  if (incomplete) report.faults.push(`${name}: the search was incomplete`)
  const { allocation_requests: requests = [] } = JSON.parse(body) as { allocation_requests?: unknown[] }
  const ask = async (connection: Connection) => {
    const answer = await connection.send(text)
    if (answer.bytes !== bytes) report.faults.push(`${name}: answered ${answer.status} with ${answer.bytes} bytes`)
  }
  const bareText = getText(`/bytes/${bytes}`)
  const askBare = async (connection: Connection) => void (await connection.send(bareText))
  const many = { connections: CONNECTIONS, seconds: options.seconds }
  const alone = { connections: 1, seconds: options.seconds / 2 }
  await repeat({ port: server.port, ...many, seconds: SETTLE_SECONDS }, ask)
  const ours = await withCpu(server, () => repeat({ port: server.port, ...many }, ask))
  await repeat({ port: bare.port, ...many, seconds: SETTLE_SECONDS }, askBare)
  const bareRate = await withCpu(bare, () => repeat({ port: bare.port, ...many }, askBare))
  const ourOne = await repeat({ port: server.port, ...alone }, ask)
  const bareOne = await repeat({ port: bare.port, ...alone }, askBare)
  return { bytes, found: requests.length, ours, bare: bareRate, extraMs: ourOne.p50Ms - bareOne.p50Ms }
}

async function withCpu(server: Server, run: () => Promise<Rate>): Promise<RateAndCpu> {
  const before = server.cpuSeconds()
  const rate = await run()
  return { ...rate, cpuMicroseconds: ((server.cpuSeconds() - before) / rate.count) * 1e6 }
}

/** Compares candidates plus a claim on one of them with the claim alone, in turn. */
async function endToEnd(server: Server, options: BenchOptions, report: Report): Promise<void> {
  options.progress('candidates and claim')
  const at = { port: server.port, connections: CONNECTIONS, seconds: options.seconds }
  const question = candidatesText(`${SMALL}&limit=10`)
  const refused = (status: number, text: string) => {
    if (status !== 204) report.faults.push(`a claim was answered ${status}: ${text.slice(0, 300)}`)
  }
  const providers: string[] = []
  const askAndClaim = async (connection: Connection) => {
    const { text } = await connection.send(question, true)
    const { allocation_requests: requests } = JSON.parse(text) as {
      allocation_requests: { allocations: Record<string, object> }[]
    }
    const { allocations } = requests[Math.floor(Math.random() * requests.length)]!
    providers.push(...Object.keys(allocations))
    const owner = { project_id: 'bench', user_id: 'bench', consumer_generation: null, consumer_type: 'INSTANCE' }
    const body = JSON.stringify({ allocations, ...owner })
    const answer = await connection.send(withBody('PUT', `/allocations/${crypto.randomUUID()}`, body), true)
    refused(answer.status, answer.text)
  }
  const claim = async (connection: Connection) => {
    const provider = providers[Math.floor(Math.random() * providers.length)]!
    const answer = await connection.send(putAllocation(crypto.randomUUID(), provider, 3), true)
    refused(answer.status, answer.text)
  }
  await repeat({ ...at, seconds: options.seconds }, askAndClaim)
  await repeat({ ...at, seconds: SETTLE_SECONDS }, claim)
  const rounds: { both: Rate; alone: Rate }[] = []
  for (let round = 0; round < options.rounds; round++) {
    rounds.push({ both: await repeat(at, askAndClaim), alone: await repeat(at, claim) })
  }
  const share = median(rounds.map(({ both, alone }) => both.perSecond / alone.perSecond))
  const { both, alone } = medianBy(rounds, round => round.both.perSecond)
  report.limits.rows.push([
    `candidates (limit 10) and a claim, ${CONNECTIONS} connections, a second`,
    figure(both.perSecond),
  ])
  report.limits.rows.push([`the claim alone, ${CONNECTIONS} connections, a second`, figure(alone.perSecond)])
  report.goals.push({ text: 'candidates and claim, of the claim rate alone', value: share, atLeast: 0.4 })
}

/** Times loading the largest world into memory, in a separate process. */
async function measureLoad(store: BenchStore, database: string, options: BenchOptions, report: Report): Promise<void> {
  options.progress(`${store.name}: load of ${LARGEST}`)
  const runs: { ms: number; bytes: number; providers: number }[] = []
  for (let round = 0; round < options.rounds; round++) {
    const argv = [process.execPath, '--expose-gc', here('candidates-memory.ts'), database]
    const { status, output } = await runCommand(argv)
    if (status !== 0) throw new Error(`the load failed: ${output}`)
    runs.push(JSON.parse(output) as { ms: number; bytes: number; providers: number })
  }
  const { ms, bytes, providers } = medianBy(runs, run => run.ms)
  if (providers !== LARGEST) report.faults.push(`${store.name}: only ${providers} providers were loaded`)
  const what = `${store.name}: ${LARGEST.toLocaleString('en-US')} flat providers`
  report.limits.rows.push([`${what} read into memory, s`, figure(ms / 1000)])
  report.limits.rows.push([`${what}, bytes each in memory`, figure(bytes / providers)])
  report.goals.push(atMost(`${what} read at the start, s`, ms / 1000, 3))
  report.goals.push(atMost(`${what}, kB each in memory`, bytes / providers / 1000, 2))
}

async function onPostgres(options: BenchOptions, report: Report): Promise<void> {
  const store = await openStore('postgres')
  try {
    await measureLoad(store, await newWorld(store, flatWorld(LARGEST), options), options, report)
    options.progress('postgres: lag between processes')
    const { quiet, busy } = await measureLag(store, isQuick(options) ? 100 : 400)
    for (const [when, { p50Ms, p99Ms, samples }] of [
      ['nothing else happens', quiet],
      ['others claim all the time', busy],
    ] as const) {
      const what = `postgres: ms until another process knows, while ${when}`
      report.limits.rows.push([`${what}, p50 of ${samples}`, figure(p50Ms)], [`${what}, p99`, figure(p99Ms)])
      report.goals.push(atMost(`${what}, p99`, p99Ms, 100))
    }
  } finally {
    await store.stop()
  }
}

/** Goals are lower bounds, so an upper bound is stated as limit divided by value, at least 1. */
function atMost(text: string, value: number, most: number): Goal {
  const shown = value < 10 ? value.toFixed(2) : figure(value)
  return {
    text: `${text}: ${shown} of at most ${most}, fits`,
    value: Math.min(999, most / Math.max(value, 1e-6)),
    atLeast: 1,
  }
}
