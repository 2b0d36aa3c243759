// Times how long after a commit in one process its event reaches the streams of another, quiet and at full claim load.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Connection } from './candidates-client.ts'
import { drive, type Measure } from './client.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { createProvider, setInventories } from './requests.ts'
import { freePort, holdfast, runCommand, startServer } from './server.ts'
import { percentile } from './statistics.ts'
import { onEachStore, type BenchStore } from './stores.ts'

const LOAD = fileURLToPath(new URL('events-load.ts', import.meta.url))
const STREAMS = 1_000
const PROVIDERS = 1_000
const CONNECTIONS = 64
const PAUSE_MS = 7
const PATIENCE_MS = 30_000

interface Series {
  /** From the answer to the request that committed, until a stream has the event: one for each stream and event. */
  lags: number[]
  /** The same from the request: with all of the request in it. */
  since: number[]
}

/** Streams that all hear of each event. */
class Crowd {
  readonly #sockets: Socket[] = []
  #marker = ''
  #heardAt: number[] = []
  #all = Promise.withResolvers<void>()

  async open(port: number): Promise<void> {
    while (this.#sockets.length < STREAMS) await Promise.all(Array.from({ length: 20 }, () => this.#add(port)))
  }

  async #add(port: number): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const project = `p${this.#sockets.push(socket)}`
    socket.setEncoding('latin1').on('error', () => {})
    const lines = [
      'GET /holdfast/v1/events?kind=provider HTTP/1.1',
      'host: 127.0.0.1',
      `x-auth-token: admin:${project}`,
    ]
    socket.write([...lines, 'accept: text/event-stream', '', ''].join('\r\n'))
    const [first] = (await once(socket, 'data')) as [string]
    if (!first.startsWith('HTTP/1.1 200')) throw new Error(`a stream was answered ${first.slice(0, 300)}`)
    let tail = ''
    socket.on('data', (text: string) => {
      tail = (tail + text).slice(-4_000)
      if (this.#marker === '' || !tail.includes(this.#marker)) return
      tail = ''
      if (this.#heardAt.push(performance.now()) === STREAMS) this.#all.resolve()
    })
  }

  /** Resolves with the times at which the streams heard of it. */
  async hear(marker: string): Promise<number[]> {
    this.#marker = marker
    this.#heardAt = []
    this.#all = Promise.withResolvers<void>()
    const late = sleep(PATIENCE_MS, 'late', { ref: false })
    if ((await Promise.race([this.#all.promise, late])) === 'late')
      throw new Error('an event did not reach all streams')
    return this.#heardAt
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

export async function benchEvents(options: BenchOptions): Promise<Report> {
  const columns = ['events', 'heard', 'p50 ms', 'p99 ms', 'p50 since the request', 'p99 since the request', 'claims/s']
  const report: Report = {
    title: `Events: from a commit to ${STREAMS} streams`,
    measured: { columns: ['', ...columns], rows: [] },
    limits: { columns: [], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(options.stores, store => measure(store, options, report))
  return report
}

async function measure(store: BenchStore, { seconds, rounds, progress }: BenchOptions, report: Report): Promise<void> {
  const database = await store.database()
  await runCommand([holdfast, 'migrate', '--database', database])
  const start = async (role: string) => {
    const port = await freePort()
    const argv = [holdfast, role, '--port', `${port}`, '--database', database, '--auth', 'noauth2']
    return startServer({ argv, port, readyPath: '/placement/' })
  }
  const writer = await start('serve')
  // SQLite has one process.
  const reader = store.name === 'sqlite' ? writer : await start('api')
  const crowd = new Crowd()
  const writes = new Connection(writer.port)
  const series = async (where: string): Promise<Series> => {
    const found: Series = { lags: [], since: [] }
    const until = performance.now() + seconds * rounds * 1000
    for (let events = 0; performance.now() < until; events++) {
      const uuid = crypto.randomUUID()
      const hearing = crowd.hear(`provider/${uuid}`)
      const sentAt = performance.now()
      const { status, text } = await writes.send(createProvider(uuid), true)
      const answeredAt = performance.now()
      if (status !== 200) report.faults.push(`${where}: a provider was answered ${status}: ${text}`)
      for (const heardAt of await hearing) {
        found.lags.push(Math.max(0, heardAt - answeredAt))
        found.since.push(heardAt - sentAt)
      }
      // Varies, so that samples don't keep step with polls.
      await sleep(PAUSE_MS + (events % 5) * PAUSE_MS)
    }
    return found
  }
  try {
    progress(`${store.name}: streams`)
    const providers = await prepare(writer.port)
    await crowd.open(reader.port)
    await series('warm-up')
    progress(`${store.name}: quiet`)
    add(report, `${store.name}, quiet`, await series('quiet'), 50)
    progress(`${store.name}: at full claim load`)
    const load = fork(LOAD, [`${writer.port}`, `${CONNECTIONS}`, providers.join(',')])
    const driven = once(load, 'message') as Promise<[Measure]>
    const busy = await series('busy')
    load.send('over')
    const [{ claimsPerSecond }] = await driven
    add(report, `${store.name}, ${CONNECTIONS} clients claim`, busy, 200, claimsPerSecond)
  } finally {
    crowd.close()
    writes.close()
    for (const server of new Set([writer, reader])) await server.stop()
  }
}

function add(report: Report, name: string, { lags, since }: Series, goalMs: number, claims?: number): void {
  for (const times of [lags, since]) times.sort((a, b) => a - b)
  const p99 = percentile(lags, 0.99)
  const columns = [percentile(lags, 0.5), p99, percentile(since, 0.5), percentile(since, 0.99)].map(figure)
  const rate = claims === undefined ? '–' : figure(claims)
  report.measured.rows.push([name, lags.length / STREAMS, lags.length, ...columns, rate])
  report.goals.push({ text: `${name}: ${goalMs} ms by the p99`, value: goalMs / p99, atLeast: 1 })
}

async function prepare(port: number): Promise<string[]> {
  const providers = Array.from({ length: PROVIDERS }, () => crypto.randomUUID())
  for (const text of [createProvider, (provider: string) => setInventories(provider, 1_000_000_000)]) {
    const waiting = providers.map(provider => ({ text: text(provider), claims: 0 }))
    const { unexpected, firstUnexpected } = await drive({
      port,
      connections: 8,
      expect: 200,
      next: () => waiting.pop(),
    })
    if (Object.keys(unexpected).length > 0) throw new Error(`a provider was refused: ${firstUnexpected}`)
  }
  return providers
}
