// A thousand BMCs are asked for the power of their machines while others use the API: how late does the API answer then,
// compared with the same server that asks nobody, and is each BMC asked within its period?
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ask, text } from './allocations-fleet.ts'
import { Connection } from './candidates-client.ts'
import type { BenchOptions } from './options.ts'
import type { Order, Word } from './power-farm.ts'
import { figure, type Report } from './report.ts'
import { deleteAllocation, putAllocation, withBody } from './requests.ts'
import { freePort, holdfast, type Server, startServer } from './server.ts'
import { median, percentile } from './statistics.ts'
import { type BenchStore, onEachStore } from './stores.ts'

const FARM = fileURLToPath(new URL('power-farm.ts', import.meta.url))
const BMCS = 1_000
const HANGING = 50
const TIMES_AT_MOST = 2
/** Requests a second of the others: much for a lab, and little enough that they don't wait for each other. */
const PER_SECOND = 100
const CLIENTS = 4
/** With this old version a new node is available at once. */
const OLD = '1.10'

interface Turn {
  p50Ms: number
  p99Ms: number
  /** Of one core. */
  cpu: number
}

export async function benchPower(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: `Power of ${BMCS.toLocaleString('en-US')} machines`,
    measured: { columns: ['while', 'p50 ms', 'p99 ms', 'quiet p99 ms', 'times', 'CPU', 'quiet CPU'], rows: [] },
    limits: { columns: ['BMCs', 'asked', 'requests/s', 'logins'], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(options.stores, async store => {
    for (const periodSeconds of options.seconds < 1 ? [10] : [60, 10]) {
      await benchPeriod(store, periodSeconds, options, report)
    }
  })
  return report
}

/** Server and farm are new for each period, so that nobody has given up on a BMC yet. */
async function benchPeriod(store: BenchStore, periodSeconds: number, options: BenchOptions, report: Report) {
  const name = `${store.name}: each once in ${periodSeconds} s`
  options.progress(`${name}: ${BMCS} nodes`)
  const farm = await startFarm()
  const database = await store.database()
  const serve = async (seconds: number) => {
    const port = await freePort()
    const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
    argv.push('--power-sync-seconds', `${seconds}`, '--log-level', 'error')
    return startServer({ argv, port, readyPath: '/baremetal/' })
  }
  try {
    const first = await serve(0)
    const nodes = await fill(first, farm.infos)
    await first.stop()
    const measure = async (seconds: number) => {
      const server = await serve(seconds)
      // Long enough for the code to be compiled, and for each BMC to be asked for the first time, which is a login.
      await load(server, nodes, Math.max(periodSeconds, 10))
      farm.say({ forget: true })
      const turn = await load(server, nodes, periodSeconds)
      return { server, turn }
    }
    const pairs: [Turn, Turn][] = []
    for (let round = 0; round < options.rounds; round++) {
      options.progress(`${name}: quiet, ${round + 1} of ${options.rounds}`)
      const quiet = await measure(0)
      await quiet.server.stop()
      options.progress(`${name}: asking, ${round + 1} of ${options.rounds}`)
      const asking = await measure(periodSeconds)
      if (round === 0) await tell(name, farm, { bmcs: BMCS, periodSeconds }, report)
      pairs.push([quiet.turn, asking.turn])
      if (round < options.rounds - 1) await asking.server.stop()
      else {
        options.progress(`${name}: ${HANGING} hang`)
        farm.say({ hang: HANGING })
        // Those that hang are found out in this time, and the others are asked all the same in the next.
        await load(asking.server, nodes, Math.max(periodSeconds, 40))
        farm.say({ forget: true })
        const turn = await load(asking.server, nodes, periodSeconds)
        await tell(`${name}, ${HANGING} hang`, farm, { bmcs: BMCS - HANGING, periodSeconds }, report)
        add(`${name}, ${HANGING} hang`, [[quiet.turn, turn]], report)
        await asking.server.stop()
      }
    }
    add(name, pairs, report)
  } finally {
    farm.stop()
  }
}

function add(name: string, pairs: readonly [Turn, Turn][], report: Report): void {
  const of = (pick: (pair: [Turn, Turn]) => number) => median(pairs.map(pick))
  const times = of(([quiet, asking]) => asking.p99Ms / quiet.p99Ms)
  report.measured.rows.push([
    name,
    ...[of(([, one]) => one.p50Ms), of(([, one]) => one.p99Ms), of(([one]) => one.p99Ms), times].map(figure),
    ...[of(([, one]) => one.cpu), of(([one]) => one.cpu)].map(share => `${Math.round(share * 100)} %`),
  ])
  report.goals.push({
    text: `${name}: p99 of the API, times the quiet one: ${times.toFixed(2)} of at most ${TIMES_AT_MOST}, fits`,
    value: TIMES_AT_MOST / times,
    atLeast: 1,
  })
}

/** How many of the BMCs that answer were asked in the period that is just over. */
async function tell(
  name: string,
  farm: Farm,
  { bmcs, periodSeconds }: { bmcs: number; periodSeconds: number },
  report: Report,
) {
  const { reads, requests, logins } = await farm.tell()
  const asked = reads.slice(0, bmcs).filter(count => count > 0).length
  report.limits.rows.push([name, `${asked} of ${bmcs}`, figure(requests / periodSeconds), logins])
  // At the edges of the period a turn may fall just outside.
  report.goals.push({
    text: `${name}: share of the BMCs that were asked within the period`,
    value: asked / bmcs,
    atLeast: 0.99,
  })
}

async function fill({ port }: Server, infos: readonly object[]): Promise<string[]> {
  const nodes: string[] = []
  const left = [...infos]
  const one = async () => {
    const connection = new Connection(port)
    for (let driver_info = left.pop(); driver_info; driver_info = left.pop()) {
      const node = { driver: 'redfish', driver_info }
      nodes.push((await ask<{ uuid: string }>(connection, text('POST', '/nodes', node, OLD), 201)).uuid)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: 8 }, one))
  const connection = new Connection(port)
  const provider = crypto.randomUUID()
  await ask(connection, withBody('POST', '/resource_providers', JSON.stringify({ name: 'p', uuid: provider })), 200)
  const inventories = { resource_provider_generation: 0, inventories: { VCPU: { total: 1_000_000 } } }
  const path = `/resource_providers/${provider}/inventories`
  await ask(connection, withBody('PUT', path, JSON.stringify(inventories)), 200)
  connection.close()
  return [provider, ...nodes]
}

/** Reads nodes, and claims and releases, at a steady pace: clients of a lab wait for each other seldom. */
async function load(server: Server, [provider, ...nodes]: readonly string[], seconds: number): Promise<Turn> {
  const took: number[] = []
  const [start, cpuBefore] = [performance.now(), server.cpuSeconds()]
  let at = 0
  const one = async (_: unknown, client: number) => {
    const connection = new Connection(server.port)
    for (let turn = 0; ; turn++) {
      const due = start + ((turn * CLIENTS + client) * 1_000) / PER_SECOND
      if (due > start + seconds * 1_000) break
      await sleep(Math.max(0, due - performance.now()))
      const consumer = crypto.randomUUID()
      const node = text('GET', `/nodes/${nodes[at++ % nodes.length]}`)
      const requests = turn % 2 === 0 ? [node] : [putAllocation(consumer, provider!, 1), deleteAllocation(consumer)]
      for (const request of requests) {
        const since = performance.now()
        const { status } = await connection.send(request)
        if (status >= 300) throw new Error(`answered ${status}`)
        took.push(performance.now() - since)
      }
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: CLIENTS }, one))
  took.sort((a, b) => a - b)
  const elapsed = (performance.now() - start) / 1_000
  return {
    p50Ms: percentile(took, 0.5),
    p99Ms: percentile(took, 0.99),
    cpu: (server.cpuSeconds() - cpuBefore) / elapsed,
  }
}

interface Farm {
  infos: readonly object[]
  say(order: Order): void
  tell(): Promise<Extract<Word, { reads: number[] }>>
  stop(): void
}

async function startFarm(): Promise<Farm> {
  const child: ChildProcess = fork(FARM, [`${BMCS}`])
  const heard = async <W extends Word>() => ((await once(child, 'message')) as [W])[0]
  const { infos } = await heard<Extract<Word, { infos: object[] }>>()
  return {
    infos,
    say: order => void child.send(order),
    tell: () => {
      const told = heard<Extract<Word, { reads: number[] }>>()
      child.send({ tell: true } satisfies Order)
      return told
    },
    stop: () => void child.kill(),
  }
}
