// Times requests for nodes over HTTP, against a bare server that answers the same number of bytes in the same run.
import { fileURLToPath } from 'node:url'
import { Connection, getText, repeat, type Rate } from './candidates-client.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Goal, type Report } from './report.ts'
import { freePort, holdfast, type Server, startServer } from './server.ts'
import { median } from './statistics.ts'
import { type BenchStore, onEachStore } from './stores.ts'

const BARE = fileURLToPath(new URL('candidates-limit-server.ts', import.meta.url))
const NODES = 10_000
const RARE = 10
const FILLERS = 32
const SETTLE_SECONDS = 0.5

interface Case {
  name: string
  path: string
  timesAtMost?: number
}

/** A page of a list, as a client asks for it. */
export const listPath = '/baremetal/v1/nodes?fields=uuid,traits'

const CASES: Case[] = [
  { name: 'one node', path: '/nodes/node-5000', timesAtMost: 2 },
  { name: 'detail of 1,000', path: '/nodes/detail', timesAtMost: 3 },
  { name: 'fields=uuid,traits of 1,000', path: '/nodes?fields=uuid,traits', timesAtMost: 4 },
  { name: 'first page of 10', path: '/nodes?limit=10' },
  { name: 'a trait that 10 of 10,000 have', path: '/nodes?traits=CUSTOM_RARE' },
]

export async function benchMetal(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Bare metal nodes',
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
    await fillNodes(server.port)
    const ms = new Map<string, number>()
    for (const one of CASES) ms.set(one.name, await measure(one, { store, server, bare, options, report }))
    const [page, rare] = [ms.get('first page of 10')!, ms.get('a trait that 10 of 10,000 have')!]
    report.goals.push(atMost(`${store.name}: filtered by trait, times the first page of 10`, rare / page, 3))
    await measureAllPages({ store, server, bare, options, report })
    await measureWrites(store, server, options, report)
    const response = await fetch(`${server.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': 'admin' } })
    const { violations } = (await response.json()) as { violations: number }
    if (violations !== 0) report.faults.push(`${store.name}: ${violations} violations`)
  } finally {
    await server.stop()
  }
}

const HEAD = 'HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\nx-openstack-ironic-api-version: 1.82\r\n'

function text(method: string, path: string, body?: object): string {
  const json = body === undefined ? '' : JSON.stringify(body)
  return `${method} /baremetal/v1${path} ${HEAD}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}

/** Creates the nodes on the server at this port. */
export async function fillNodes(port: number): Promise<void> {
  let next = 0
  const one = async () => {
    const connection = new Connection(port)
    while (next < NODES) {
      const i = next++
      const node = {
        driver: 'fake-hardware',
        name: `node-${i}`,
        resource_class: `class-${i % 5}`,
        properties: { cpus: 64, memory_mb: 262_144, local_gb: 960, cpu_arch: 'x86_64' },
        driver_info: { address: `10.0.0.${i}`, username: 'admin', password: 'secret' },
        extra: { rack: i % 40 },
      }
      await expect(connection, text('POST', '/nodes', node), 201)
      const rare = i % (NODES / RARE) === 7 ? ['CUSTOM_RARE'] : []
      const traits = ['CUSTOM_GPU', 'HW_CPU_X86_VMX', `CUSTOM_RACK_${i % 40}`, ...rare]
      await expect(connection, text('PUT', `/nodes/node-${i}/traits`, { traits }), 204)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: FILLERS }, one))
}

async function expect(connection: Connection, request: string, status: number): Promise<string> {
  const answer = await connection.send(request, true)
  if (answer.status !== status) throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 300)}`)
  return answer.text
}

interface Bench {
  store: BenchStore
  server: Server
  bare: Server
  options: BenchOptions
  report: Report
}

/** Measures our server and the bare one in turn, one request at a time. */
async function measure({ name, path, timesAtMost }: Case, bench: Bench): Promise<number> {
  const { store, server, bare, options, report } = bench
  options.progress(`${store.name}: ${name}`)
  const probe = new Connection(server.port)
  const bytes = Buffer.byteLength(await expect(probe, text('GET', path), 200))
  probe.close()
  const rounds: { ours: Rate; bare: Rate }[] = []
  await alone(server, text('GET', path), SETTLE_SECONDS)
  await alone(bare, getText(`/bytes/${bytes}`), SETTLE_SECONDS)
  for (let round = 0; round < options.rounds; round++) {
    const ours = await alone(server, text('GET', path), options.seconds)
    rounds.push({ ours, bare: await alone(bare, getText(`/bytes/${bytes}`), options.seconds) })
  }
  const times = median(rounds.map(round => round.ours.p50Ms / round.bare.p50Ms))
  const [ours, limit] = [median(rounds.map(round => round.ours.p50Ms)), median(rounds.map(round => round.bare.p50Ms))]
  report.measured.rows.push([`${store.name}: ${name}`, figure(bytes), ...[ours, limit, times].map(figure)])
  if (timesAtMost) report.goals.push(atMost(`${store.name}: ${name}, times a bare answer`, times, timesAtMost))
  return ours
}

const alone = ({ port }: Server, request: string, seconds: number): Promise<Rate> =>
  repeat({ port, connections: 1, seconds }, async connection => void (await connection.send(request)))

/** Lists all 10,000 nodes page by page, against as many bare answers of the same size. */
async function measureAllPages({ store, server, bare, options, report }: Bench): Promise<void> {
  const probe = new Connection(server.port)
  const paths: string[] = []
  const sizes: number[] = []
  for (let path: string | undefined = '/nodes?fields=uuid,traits'; path !== undefined;) {
    const body = await expect(probe, text('GET', path), 200)
    paths.push(path)
    sizes.push(Buffer.byteLength(body))
    path = (JSON.parse(body) as { next?: string }).next?.replace(/^.*\/v1/, '')
  }
  probe.close()
  const reading = ({ port }: Server, requests: string[]) =>
    repeat({ port, connections: 1, seconds: options.seconds }, async connection => {
      for (const request of requests) await connection.send(request)
    })
  const ours: number[] = []
  const limits: number[] = []
  const bareTexts = sizes.map(size => getText(`/bytes/${size}`))
  const ourTexts = paths.map(path => text('GET', path))
  for (let round = 0; round < options.rounds; round++) {
    ours.push((await reading(server, ourTexts)).p50Ms)
    limits.push((await reading(bare, bareTexts)).p50Ms)
  }
  const times = median(ours) / median(limits)
  const name = `${store.name}: fields=uuid,traits of 10,000, in ${paths.length} pages`
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  report.measured.rows.push([name, figure(bytes), ...[median(ours), median(limits), times].map(figure)])
  report.goals.push(atMost(`${name}, times bare answers`, times, 4))
}

async function measureWrites(store: BenchStore, { port }: Server, options: BenchOptions, report: Report) {
  options.progress(`${store.name}: writes`)
  let count = 0
  const at = { port, connections: 1, seconds: options.seconds }
  const patch = await repeat(at, async connection => {
    const body = [{ op: 'add', path: '/extra/count', value: count++ }]
    await expect(connection, text('PATCH', '/nodes/node-77', body), 200)
  })
  const provision = await repeat(at, async connection => {
    const name = `new-${count++}`
    await expect(connection, text('POST', '/nodes', { driver: 'fake-hardware', name }), 201)
    for (const [verb, state] of [
      ['manage', 'manageable'],
      ['provide', 'available'],
    ] as const) {
      await expect(connection, text('PUT', `/nodes/${name}/states/provision`, { target: verb }), 202)
      for (;;) {
        const shown = await expect(connection, text('GET', `/nodes/${name}?fields=provision_state,reservation`), 200)
        const node = JSON.parse(shown) as { provision_state: string; reservation: string | null }
        if (node.provision_state === state && node.reservation === null) break
      }
    }
  })
  report.limits.rows.push([`${store.name}: PATCH of one node`, figure(patch.p50Ms)])
  report.limits.rows.push([`${store.name}: create, manage, provide until available`, figure(provision.p50Ms)])
}

function atMost(text: string, value: number, most: number): Goal {
  return { text: `${text}: ${value.toFixed(2)} of at most ${most}, fits`, value: most / value, atLeast: 1 }
}
