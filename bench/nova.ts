// Times what a Nova with 100 computes asks of Placement, against a bare server that answers the same number of bytes; and
// how much CPU a minute of such a fleet costs.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Connection, getText } from './candidates-client.ts'
import { type Ask, type Job, type Kind, KINDS, NovaFleet } from './nova-fleet.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { freePort, holdfast, type Server, startServer } from './server.ts'
import { median, percentile } from './statistics.ts'
import { type BenchStore, onEachStore } from './stores.ts'

const BARE = fileURLToPath(new URL('candidates-limit-server.ts', import.meta.url))
/** A fleet sends some 25 requests a second. It is run through faster than that, with so many at once. */
const CONNECTIONS = 4
const WARM_UP_MINUTES = 3
const IDLE_MS = 3_000
/** A whole minute of the fleet, of what one core can do in a minute. */
const CPU_SECONDS_AT_MOST = 6
/** Conflicts by generation are repeated, as nova-compute does. */
const CONFLICT = 409

export async function benchNova(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'A Nova with 100 computes and 1,000 servers',
    measured: { columns: ['request', 'a minute', 'p50 ms', 'p99 ms', 'bare p50', 'bare p99', 'times'], rows: [] },
    limits: { columns: ['besides', ''], rows: [] },
    goals: [],
    faults: [],
  }
  const port = await freePort()
  const bare = await startServer({ argv: [process.execPath, BARE, `${port}`], port })
  try {
    await onEachStore(options.stores, store => benchStore(store, bare, options, report))
  } finally {
    await bare.stop()
  }
  return report
}

/** What was measured of one kind of request. */
interface Timed {
  tookMs: number[]
  bytes: number
}
type Times = Map<Kind, Timed>

interface Round {
  times: Times
  bare: Times
  minutes: number
  cpuSeconds: number
  bareCpuSeconds: number
}

async function benchStore(store: BenchStore, bare: Server, options: BenchOptions, report: Report): Promise<void> {
  const port = await freePort()
  const database = await store.database()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
  const server = await startServer({ argv, port, readyPath: '/placement/' })
  try {
    options.progress(`${store.name}: 100 computes`)
    const fleet = new NovaFleet()
    const first = new Connection(port)
    await fleet.make(first)
    first.close()
    for (let i = 0; i < WARM_UP_MINUTES; i++) await carryOut(port, fleet.minute(), new Map())
    const before = server.cpuSeconds()
    await sleep(IDLE_MS)
    const idleSeconds = ((server.cpuSeconds() - before) * 60_000) / IDLE_MS
    const rounds: Round[] = []
    for (let at = 1; at <= options.rounds; at++) {
      options.progress(`${store.name}: round ${at}`)
      rounds.push(await runRound(server, bare, fleet, options.seconds))
    }
    summarise(store.name, rounds, idleSeconds, report)
    await checkWhole(store.name, server, report)
  } finally {
    await server.stop()
  }
}

async function runRound(server: Server, bare: Server, fleet: NovaFleet, seconds: number): Promise<Round> {
  const times: Times = new Map()
  const until = performance.now() + seconds * 1_000
  const before = server.cpuSeconds()
  let minutes = 0
  do {
    await carryOut(server.port, fleet.minute(), times)
    minutes++
  } while (performance.now() < until)
  const cpuSeconds = (server.cpuSeconds() - before) / minutes
  const bareTimes: Times = new Map()
  const bareBefore = bare.cpuSeconds()
  await carryOut(bare.port, bareJobs(times), bareTimes)
  return { times, bare: bareTimes, minutes, cpuSeconds, bareCpuSeconds: (bare.cpuSeconds() - bareBefore) / minutes }
}

/** As many requests of each kind, for answers of the same size. */
function bareJobs(times: Times): Job[] {
  return [...times].flatMap(([kind, { tookMs, bytes }]) => {
    const request = getText(`/bytes/${Math.round(bytes / tookMs.length)}`)
    return tookMs.map((): Job => async ask => void (await ask(kind, request, 200)))
  })
}

/** Carries out the jobs in random order, some at once. */
async function carryOut(port: number, jobs: readonly Job[], times: Times): Promise<void> {
  const left = jobs.map(job => [Math.random(), job] as const).toSorted(([a], [b]) => a - b)
  const worker = async () => {
    const connection = new Connection(port)
    const ask = asking(connection, times)
    for (let next = left.pop(); next !== undefined; next = left.pop()) await attempt(next[1], ask)
    connection.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
}

class Conflict extends Error {}

async function attempt(job: Job, ask: Ask): Promise<void> {
  for (;;) {
    try {
      return await job(ask)
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
    }
  }
}

const asking =
  (connection: Connection, times: Times): Ask =>
  async (kind, request, expected) => {
    const since = performance.now()
    const { status, bytes, text } = await connection.send(request, true)
    const took = performance.now() - since
    if (status === CONFLICT) throw new Conflict()
    if (status !== expected) throw new Error(`${KINDS[kind]} answered ${status}: ${text.slice(0, 300)}`)
    const timed = times.getOrInsertComputed(kind, () => ({ tookMs: [], bytes: 0 }))
    timed.tookMs.push(took)
    timed.bytes += bytes
    return text
  }

function summarise(name: string, rounds: readonly Round[], idleSeconds: number, report: Report): void {
  const at = (times: Times, kinds: readonly Kind[], share: number) =>
    percentile(
      kinds.flatMap(kind => times.get(kind)?.tookMs ?? []).toSorted((a, b) => a - b),
      share,
    )
  const row = (title: string, kinds: readonly Kind[]) => {
    const of = (value: (round: Round) => number) => median(rounds.map(value))
    const count = of(r => kinds.reduce((sum, kind) => sum + (r.times.get(kind)?.tookMs.length ?? 0), 0) / r.minutes)
    const [p50, p99] = [of(r => at(r.times, kinds, 0.5)), of(r => at(r.times, kinds, 0.99))]
    const [bare50, bare99] = [of(r => at(r.bare, kinds, 0.5)), of(r => at(r.bare, kinds, 0.99))]
    const times = of(r => at(r.times, kinds, 0.5) / at(r.bare, kinds, 0.5))
    const cells = [Math.round(count), ...[p50, p99, bare50, bare99, times].map(figure)]
    report.measured.rows.push([`${name}: ${title}`, ...cells])
  }
  const kinds = (Object.keys(KINDS) as Kind[]).filter(kind => rounds.every(({ times }) => times.has(kind)))
  for (const kind of kinds) row(KINDS[kind], [kind])
  row('all', kinds)
  const cpu = median(rounds.map(({ cpuSeconds }) => cpuSeconds))
  const bareCpu = median(rounds.map(({ bareCpuSeconds }) => bareCpuSeconds))
  report.limits.rows.push(
    [`${name}: CPU seconds for a minute of the fleet`, figure(cpu)],
    [`${name}: the same of the bare server`, figure(bareCpu)],
    [`${name}: CPU seconds in a minute without requests`, figure(idleSeconds)],
  )
  const all = cpu + idleSeconds
  report.goals.push({
    text: `${name}: CPU seconds a minute, ${all.toFixed(2)} of at most ${CPU_SECONDS_AT_MOST}, fits`,
    value: CPU_SECONDS_AT_MOST / all,
    atLeast: 1,
  })
}

async function checkWhole(name: string, server: Server, report: Report): Promise<void> {
  const response = await fetch(`${server.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': 'admin' } })
  const { violations } = (await response.json()) as { violations: number }
  if (violations !== 0) report.faults.push(`${name}: ${violations} violations`)
}
