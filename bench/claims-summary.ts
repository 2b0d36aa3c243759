// Turns the rounds of the claims bench into rows, limits and goals.
import type { NoHttp } from './claims-no-http.ts'
import type { Measure } from './client.ts'
import { claimLimit, type HttpLimit, type RawLimit } from './limits.ts'
import { figure, type Goal, type Report } from './report.ts'
import { median, medianBy } from './statistics.ts'
import { HOT_3, POST_100, POST_2, SPREAD_1, SPREAD_3, WORKLOADS, type Workload } from './workloads.ts'

// The most important first, while the database is small.
export const CONNECTIONS = [64, 8, 1]
export const MOST = 64

export interface Round {
  runs: (Measure & { workload: Workload; connections: number; cpuMicroseconds: number })[]
  http: Record<string, HttpLimit>
  raw: RawLimit[]
  /** How many connections the server used at most load. */
  databaseConnections: number
  /** Without HTTP, on PostgreSQL alone. */
  noHttp: NoHttp | null
  faults: string[]
}

export function emptyReport(): Report {
  const rates = ['claims/s', 'p50 ms', 'p99 ms', 'CPU µs a claim', 'limit/s', 'ratio', 'ratio by CPU']
  return {
    title: 'Claims',
    measured: { columns: ['request', 'connections', ...rates], rows: [] },
    limits: { columns: ['limit', 'connections', 'claims/s', 'CPU µs a claim'], rows: [] },
    goals: [],
    faults: [],
  }
}

export function summarise(store: string, rounds: Round[], report: Report) {
  const figures = readFigures(rounds)
  for (const workload of WORKLOADS) {
    const limit = figures.limitOf(workload)
    for (const connections of CONNECTIONS.toReversed()) {
      const run = figures.runOf(workload, connections)
      report.measured.rows.push([
        `${store}: ${workload.name}`,
        connections,
        figure(run.claimsPerSecond),
        figure(run.p50Ms),
        figure(run.p99Ms),
        figure(run.cpuMicroseconds),
        limit === undefined ? '–' : figure(limit.claimsPerSecond),
        limit === undefined ? '–' : (run.claimsPerSecond / limit.claimsPerSecond).toFixed(2),
        limit?.cpuMicroseconds === undefined ? '–' : (limit.cpuMicroseconds / run.cpuMicroseconds).toFixed(2),
      ])
    }
  }
  for (const { http = '', name, claimsPerRequest } of [SPREAD_1, SPREAD_3, POST_2, POST_100]) {
    const { requestsPerSecond, cpuMicroseconds } = figures.httpOf(http)
    const cells = [figure(requestsPerSecond * claimsPerRequest), figure(cpuMicroseconds / claimsPerRequest)]
    report.limits.rows.push([`${store} rounds, no store: ${name}`, MOST, ...cells])
  }
  for (const { classes, connections } of rounds[0]?.raw ?? []) {
    const { claimsPerSecond, cpuMicroseconds } = figures.rawOf(classes, connections)
    const what = `${store}, no HTTP: ${classes === 1 ? '1 class' : `${classes} classes`}, 64 claims a commit`
    const cpu = cpuMicroseconds === undefined ? '–' : figure(cpuMicroseconds)
    report.limits.rows.push([what, connections, figure(claimsPerSecond), cpu])
  }
  report.goals.push(...goals(store, figures), ...goalsWithoutHttp(rounds))
  report.faults.push(...rounds.flatMap(round => round.faults))
}

/** The medians over all rounds. */
function readFigures(rounds: Round[]) {
  const runs = rounds.flatMap(round => round.runs)
  const raws = rounds.flatMap(round => round.raw)
  const databaseConnections = Math.max(1, median(rounds.map(round => round.databaseConnections)))
  const runOf = (workload: Workload, connections: number) =>
    medianBy(
      runs.filter(run => run.workload === workload && run.connections === connections),
      run => run.claimsPerSecond,
    )
  const rate = (workload: Workload, connections: number) => runOf(workload, connections).claimsPerSecond
  const httpOf = (kind: string) =>
    medianBy(
      rounds.flatMap(round => round.http[kind] ?? []),
      limit => limit.requestsPerSecond,
    )
  const rawOf = (classes: number, connections: number) =>
    medianBy(
      raws.filter(limit => limit.classes === classes && limit.connections === connections),
      limit => limit.claimsPerSecond,
    )
  const limitOf = ({ http, claimsPerRequest, classes }: Workload) =>
    http === undefined ? undefined : claimLimit(httpOf(http), claimsPerRequest, rawOf(classes, databaseConnections))
  return { databaseConnections, runOf, rate, httpOf, rawOf, limitOf }
}

function goals(store: string, figures: ReturnType<typeof readFigures>): Goal[] {
  const { rate, limitOf } = figures
  const spread = (workload: Workload): Goal => ({
    text: `${store}: ${workload.name}, ${MOST} connections, of the limit`,
    value: rate(workload, MOST) / (limitOf(workload)?.claimsPerSecond ?? Infinity),
    atLeast: store === 'sqlite' ? 0.75 : 0.5,
  })
  const post = (connections: number): Goal => {
    const single = rate(SPREAD_3, connections)
    const most = ((limitOf(POST_100)?.claimsPerSecond ?? 0) / single).toFixed(1)
    return {
      text: `${store}: POST of 100, times single PUTs, ${connections} ${connections === 1 ? 'connection' : 'connections'} (limit: ${most} times)`,
      value: rate(POST_100, connections) / single,
      atLeast: 5,
    }
  }
  const hot = {
    text: `${store}: one hot provider, of spread, ${MOST} connections`,
    value: rate(HOT_3, MOST) / rate(SPREAD_3, MOST),
    atLeast: 0.7,
  }
  return [spread(SPREAD_1), spread(SPREAD_3), hot, post(1), post(MOST)]
}

function goalsWithoutHttp(rounds: Round[]): Goal[] {
  const figures = rounds.flatMap(({ noHttp }) => noHttp ?? [])
  if (figures.length === 0) return []
  const of = (value: (one: NoHttp) => number) => median(figures.map(value))
  const cpu = figure(of(one => one.cpuMicroseconds))
  return [
    { text: 'postgres: without HTTP, of the raw batched call', value: of(one => one.ratio), atLeast: 0.6 },
    { text: `the same by CPU (${cpu} µs a claim)`, value: of(one => one.ratioByCpu), atLeast: 0.6 },
    { text: 'postgres: claims a round trip, one claim at a time', value: of(one => 1 / one.roundTrips), atLeast: 1 },
  ]
}
