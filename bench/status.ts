// Times GET /holdfast/v1/status of a large fleet, against a bare server that answers the same number of bytes: quiet, and
// with changes between any two requests.
import { fileURLToPath } from 'node:url'
import { ask, makeNodes, text } from './allocations-fleet.ts'
import { Connection, getText, repeat, type Rate } from './candidates-client.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { freePort, holdfast, type Server, startServer } from './server.ts'
import { median } from './statistics.ts'
import { type BenchStore, onEachStore } from './stores.ts'

const BARE = fileURLToPath(new URL('candidates-limit-server.ts', import.meta.url))
const NODES = 10_000
const TAKEN = NODES / 2
const TIMES_AT_MOST = 5
const SETTLE_SECONDS = 1
/** Nodes that change between two requests. */
const CHANGES = 10

export async function benchStatus(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Status: who has what',
    measured: { columns: ['request', 'bytes', 'ms', 'bare ms', 'times'], rows: [] },
    limits: { columns: ['besides', 'ms'], rows: [] },
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

async function benchStore(store: BenchStore, bare: Server, options: BenchOptions, report: Report): Promise<void> {
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', await store.database(), '--auth', 'noauth2']
  const server = await startServer({ argv, port, readyPath: '/baremetal/' })
  try {
    options.progress(`${store.name}: ${NODES} nodes`)
    await makeNodes(port, TAKEN, () => ({ resource_class: 'bench', instance_uuid: crypto.randomUUID() }))
    const free = await makeNodes(port, NODES - TAKEN, () => ({ resource_class: 'bench' }))
    const request = getText('/holdfast/v1/status')
    const probe = new Connection(port)
    const since = performance.now()
    const { machines } = await ask<{ machines: { state: string }[] }>(probe, request, 200)
    const first = performance.now() - since
    report.limits.rows.push([`${store.name}: the first request, which reads all`, figure(first)])
    const taken = machines.filter(({ state }) => state === 'taken').length
    if (machines.length !== NODES || taken !== TAKEN) {
      report.faults.push(`${store.name}: ${taken} of ${machines.length} are taken`)
    }
    const bytes = Buffer.byteLength((await probe.send(request, true)).text)
    let next = 0
    const change = async (connection: Connection) => {
      const nodes = Array.from({ length: CHANGES }, () => free[next++ % free.length]!)
      for (const node of nodes) {
        const body = [{ op: 'add', path: '/description', value: `note ${next}` }]
        await ask(connection, text('PATCH', `/nodes/${node}`, body), 200)
      }
    }
    const cases: [string, (connection: Connection) => Promise<void>][] = [
      [`${NODES.toLocaleString('en-US')} machines, ${TAKEN.toLocaleString('en-US')} taken`, async () => {}],
      [`the same, ${CHANGES} changed since the last request`, change],
    ]
    for (const [name, before] of cases) {
      options.progress(`${store.name}: ${name}`)
      const ours = () => timed(server, request, options.seconds, before)
      const limit = () => alone(bare, getText(`/bytes/${bytes}`), options.seconds)
      await timed(server, request, SETTLE_SECONDS, before)
      await alone(bare, getText(`/bytes/${bytes}`), SETTLE_SECONDS)
      const rounds: [number, number][] = []
      for (let round = 0; round < options.rounds; round++) rounds.push([await ours(), (await limit()).p50Ms])
      const times = median(rounds.map(([one, other]) => one / other))
      const [ms, bareMs] = [median(rounds.map(([one]) => one)), median(rounds.map(([, other]) => other))]
      report.measured.rows.push([`${store.name}: ${name}`, figure(bytes), ...[ms, bareMs, times].map(figure)])
      report.goals.push({
        text: `${store.name}: ${name}, times a bare answer: ${times.toFixed(2)} of at most ${TIMES_AT_MOST}, fits`,
        value: TIMES_AT_MOST / times,
        atLeast: 1,
      })
    }
    probe.close()
  } finally {
    await server.stop()
  }
}

const alone = ({ port }: Server, request: string, seconds: number): Promise<Rate> =>
  repeat({ port, connections: 1, seconds }, async connection => void (await connection.send(request)))

/** The median of the requests alone, without what goes before each. */
async function timed(
  { port }: Server,
  request: string,
  seconds: number,
  before: (connection: Connection) => Promise<void>,
): Promise<number> {
  const connection = new Connection(port)
  const took: number[] = []
  for (const until = performance.now() + seconds * 1_000; performance.now() < until || took.length === 0;) {
    await before(connection)
    const since = performance.now()
    await connection.send(request)
    took.push(performance.now() - since)
  }
  connection.close()
  return median(took)
}
