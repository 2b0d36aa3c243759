// Times claims and releases over HTTP on each store, against limits measured in the same run.
import { CONNECTIONS, emptyReport, MOST, summarise, type Round } from './claims-summary.ts'
import { claimsWithoutHttp } from './claims-no-http.ts'
import { drive, warmUp, type Measure, type Request } from './client.ts'
import { httpLimits } from './limits.ts'
import type { BenchOptions } from './options.ts'
import type { Report } from './report.ts'
import { createProvider, setInventories } from './requests.ts'
import { freePort, holdfast, runCommand, startServer } from './server.ts'
import { openStore, type BenchStore } from './stores.ts'
import { bareRequests, SPREAD_3, WORKLOADS, type Ledger } from './workloads.ts'

const PROVIDERS = 1000
const INVENTORY_TOTAL = 1_000_000_000
const SETTLE_SECONDS = 0.3

export async function benchClaims(options: BenchOptions): Promise<Report> {
  const report = emptyReport()
  for (const name of options.stores) {
    const store = await openStore(name)
    const rounds: Round[] = []
    try {
      for (let at = 1; at <= options.rounds; at++) {
        rounds.push(await runRound(store, options, text => options.progress(`${name}, round ${at}: ${text}`)))
      }
    } finally {
      await store.stop()
    }
    summarise(name, rounds, report)
  }
  return report
}

async function runRound(store: BenchStore, options: BenchOptions, progress: (text: string) => void): Promise<Round> {
  const { seconds, warmUpRequests } = options
  const database = await store.database()
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
  const server = await startServer({ argv, port, readyPath: '/placement/' })
  const round: Round = { runs: [], http: {}, raw: [], databaseConnections: 1, noHttp: null, faults: [] }
  try {
    progress('providers')
    const ledger = await prepareProviders(port)
    const load = { port, expect: 204, warmUpSeconds: SETTLE_SECONDS, seconds }
    progress('warm-up')
    await warmUp({ ...load, connections: MOST, next: () => SPREAD_3.next(ledger) }, warmUpRequests)
    for (const connections of CONNECTIONS) {
      for (const workload of WORKLOADS) {
        progress(`${workload.name}, ${connections} connections`)
        const cpuBefore = server.cpuSeconds()
        const measure = await drive({ ...load, connections, next: () => workload.next(ledger) })
        // The CPU time includes the settling time, so its share is subtracted.
        const cpuSeconds = ((server.cpuSeconds() - cpuBefore) * seconds) / (seconds + SETTLE_SECONDS)
        round.runs.push({ ...measure, workload, connections, cpuMicroseconds: (cpuSeconds / measure.claims) * 1e6 })
        round.faults.push(...wrongAnswers(measure, `${store.name}, ${workload.name}, ${connections} connections`))
        if (workload === SPREAD_3 && connections === MOST) {
          round.databaseConnections = await store.connectionsInUse(database, seconds)
        }
      }
      if (connections !== MOST) continue
      // Right after the runs that they are compared with, because the load of the machine may change.
      progress('limits')
      round.http = await httpLimits(bareRequests(), { connections, seconds, warmUpRequests })
      round.raw = await store.rawLimits({ providers: PROVIDERS, connections: round.databaseConnections, seconds })
      if (store.name === 'postgres') {
        const urls = { database: await store.database(), limit: await store.database() }
        round.noHttp = await claimsWithoutHttp(urls, { providers: PROVIDERS, seconds })
      }
    }
  } finally {
    const status = await server.stop()
    if (status !== 0) round.faults.push(`${store.name}: the server ended with status ${status}: ${server.log()}`)
  }
  progress('fsck')
  const fsck = await runCommand([holdfast, 'fsck', '--database', database])
  if (fsck.status !== 0) round.faults.push(`${store.name}: fsck ended with status ${fsck.status}:\n${fsck.output}`)
  return round
}

function wrongAnswers({ unexpected, firstUnexpected }: Measure, where: string): string[] {
  const kinds = Object.entries(unexpected).map(([status, times]) => `${times} × ${status}`)
  return kinds.length === 0 ? [] : [`${where}: ${kinds.join(', ')}; the first: ${firstUnexpected}`]
}

/** Creates providers that never fill up. */
export async function prepareProviders(port: number): Promise<Ledger> {
  const providers = Array.from({ length: PROVIDERS }, () => crypto.randomUUID())
  const send = async (expect: number, text: (provider: string) => string) => {
    const waiting: Request[] = providers.map(provider => ({ text: text(provider), claims: 0 }))
    const { unexpected, firstUnexpected } = await drive({ port, connections: 8, expect, next: () => waiting.pop() })
    if (Object.keys(unexpected).length > 0) throw new Error(`a provider was refused: ${firstUnexpected}`)
  }
  await send(200, createProvider)
  await send(200, provider => setInventories(provider, INVENTORY_TOTAL))
  return { providers, consumers: [] }
}
