// The longest stall of the server's event loop, and the longest wait of small requests, behind large ones: answers of
// 100 MB, POSTs of thousands of consumers, reshapers, and memory that is read again. Each alone, then all together.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { candidatesText, Connection, getText, repeat } from './candidates-client.ts'
import { fill, flatWorld } from './candidates-worlds.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { postAllocations, putAllocation, withBody } from './requests.ts'
import { freePort, holdfast, runCommand, type Server, startServer } from './server.ts'
import { type BenchStore, onEachStore } from './stores.ts'

const WATCH = fileURLToPath(new URL('stalls-watch.ts', import.meta.url))
const STALL_MS_AT_MOST = 50
const CONSUMERS = 8_000
const RESHAPED = 1_000
const WARM_UP_SECONDS = 2
const ADMIN = 'x-auth-token: admin\r\n'
const SERVICE = `${ADMIN}x-roles: service\r\nx-project-id: bench\r\n`
/** The providers that the large requests and the small claim use are apart, so that none waits for another's lock. */
const CLAIMED = 100

interface Scene {
  server: Server
  database: string
  file: string
  providers: readonly string[]
  /** The provider with thousands of consumers. */
  crowded: string
  report: Report
}

type Load = (scene: Scene) => (connection: Connection) => Promise<void>

export async function benchStalls(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Stalls of the event loop behind large requests',
    measured: {
      columns: [
        'behind',
        'done',
        'longest stall, ms',
        'without waits for a core, ms',
        'most CPU of a turn, ms',
        'longest /healthz, ms',
        'longest claim, ms',
        'memory, MB',
      ],
      rows: [],
    },
    limits: { columns: ['besides', ''], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(options.stores, store => benchStore(store, options, report))
  return report
}

async function benchStore(store: BenchStore, options: BenchOptions, report: Report): Promise<void> {
  const database = await store.database()
  options.progress(`${store.name}: ${options.providers} providers`)
  await runCommand([holdfast, 'migrate', '--database', database])
  const world = flatWorld(options.providers, true)
  await fill(database, world)
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-stalls-'))
  const file = join(folder, 'stalls.json')
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
  const env = { NODE_OPTIONS: `--import ${WATCH}`, HOLDFAST_STALLS: file }
  const server = await startServer({ argv, port, env, readyPath: '/placement/' })
  try {
    const providers = world.providers.map(({ uuid }) => uuid)
    const scene: Scene = { server, database, file, providers, crowded: providers.at(-1)!, report }
    const loads = store.name === 'postgres' ? { ...LOADS, 'memory read again': reload } : LOADS
    for (const [name, load] of Object.entries(loads)) {
      await measure(scene, `${store.name}: ${name}`, [load], options)
    }
    const longest = await measure(scene, `${store.name}: all of them together`, Object.values(loads), options)
    report.goals.push({
      text: `${store.name}: longest stall, ms: ${longest.toFixed(1)} of at most ${STALL_MS_AT_MOST}, fits`,
      value: STALL_MS_AT_MOST / longest,
      atLeast: 1,
    })
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the loads on a connection each, with small requests beside them. Returns the longest stall, in ms. */
async function measure(scene: Scene, name: string, loads: readonly Load[], options: BenchOptions): Promise<number> {
  const { server, providers, report } = scene
  const at = { port: server.port, connections: 1 }
  let done = 0
  const run = async (seconds: number) => {
    const longest = { healthz: 0, claim: 0 }
    const timed = async (what: keyof typeof longest, text: string, status: number, connection: Connection) => {
      const since = performance.now()
      await asked(scene, connection, text, status)
      longest[what] = Math.max(longest[what], performance.now() - since)
      await sleep(1)
    }
    const claim = () => putAllocation(crypto.randomUUID(), providers[Math.floor(Math.random() * CLAIMED)]!, 3)
    const large = loads
      .map(load => load(scene))
      .map(act => async (connection: Connection) => {
        await act(connection)
        done++
      })
    await Promise.all([
      ...large.map(act => repeat({ ...at, seconds }, act)),
      repeat({ ...at, seconds }, connection => timed('healthz', getText('/healthz'), 200, connection)),
      repeat({ ...at, seconds }, connection => timed('claim', claim(), 204, connection)),
    ])
    return longest
  }
  options.progress(`${name}: warm-up`)
  await run(WARM_UP_SECONDS)
  options.progress(name)
  await watched(scene)
  done = 0
  const { healthz, claim } = await run(options.seconds * options.rounds)
  const { longestMs, ownMs, cpuMs, rssBytes } = await watched(scene)
  report.measured.rows.push([name, done, ...[longestMs, ownMs, cpuMs, healthz, claim, rssBytes / 1e6].map(figure)])
  return longestMs
}

async function asked({ report }: Scene, connection: Connection, text: string, status: number): Promise<void> {
  const answer = await connection.send(text, status >= 300)
  if (answer.status !== status) report.faults.push(`${text.slice(0, 60)} was answered ${answer.status}, not ${status}`)
}

interface Watched {
  longestMs: number
  /** The longest, without the time that its thread was ready to run while others had the cores. */
  ownMs: number
  /** The most CPU time that a turn took. */
  cpuMs: number
  rssBytes: number
}

/** The longest stall since the last call. */
async function watched({ server, file }: Scene): Promise<Watched> {
  rmSync(file, { force: true })
  process.kill(server.pid, 'SIGUSR2')
  for (;;) {
    await sleep(20)
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Watched
    } catch {
      // Not written yet.
    }
  }
}

const get =
  (text: string): Load =>
  scene =>
  connection =>
    asked(scene, connection, text, 200)

const LOADS: Record<string, Load> = {
  'every candidate': get(candidatesText('resources=VCPU:1,MEMORY_MB:1,DISK_GB:1')),
  'the list of providers': get(getText('/placement/resource_providers')),
  [`POSTs of ${CONSUMERS} consumers`]: scene => {
    const others = scene.providers.slice(CLAIMED + RESHAPED)
    return async connection => {
      const claims = Array.from({ length: CONSUMERS }, (_, i) => {
        const provider = i % 8 === 0 ? scene.crowded : others[i % others.length]!
        return { consumer: crypto.randomUUID(), provider }
      })
      await asked(scene, connection, postAllocations(claims, 2), 204)
    }
  },
  'the allocations of one provider': scene => connection =>
    asked(scene, connection, getText(`/placement/resource_providers/${scene.crowded}/allocations`), 200),
  [`reshapers of ${RESHAPED} providers`]: scene => {
    const reshaped = scene.providers.slice(CLAIMED, CLAIMED + RESHAPED)
    return async connection => {
      // The last one tells the generation of all: they only change here, together.
      const { text } = await connection.send(getText(`/placement/resource_providers/${reshaped.at(-1)!}`), true)
      const { generation } = JSON.parse(text) as { generation: number }
      const inventories = Object.fromEntries(
        reshaped.map(uuid => [
          uuid,
          { resource_provider_generation: generation, inventories: { VCPU: { total: 1_000_000 } } },
        ]),
      )
      const request = withBody('POST', '/reshaper', JSON.stringify({ inventories, allocations: {} }))
      await asked(scene, connection, request.replace(ADMIN, SERVICE), 204)
    }
  },
}

/** Tells the server that it may have missed something, so that it reads everything again. */
const reload: Load = ({ database }) => {
  let client: Client | null = null
  return async () => {
    client = new Client({ connectionString: database })
    await client.connect()
    try {
      await client.query('update log_start set pruned = pg_current_snapshot()')
      await sleep(1_000)
    } finally {
      await client.end()
    }
  }
}
