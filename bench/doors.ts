// How much an attack slows an honest client: its p99 against its p99 without attack, and the server's memory.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { hashPassword } from '../src/identity/passwords.ts'
import { Connection, repeat, type Rate } from './candidates-client.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { freePort, holdfast, type Server, startServer } from './server.ts'
import { type BenchStore, onEachStore } from './stores.ts'

const NODES = 20
const LOGINS = 80
const BODIES = 200
const SOCKETS = 600
const GREEDY = 64
/** An honest client may become at most this many times slower. */
const SLOWER_MAX = 5
const MEMORY_MIB_MAX = 512
/** The users, with their projects and roles. */
const USERS = { honest: { lab: ['admin'] }, greedy: { office: ['member'] } }

/** Starts an attack. Returns the function that ends it. */
type Attack = (server: Server, token: string) => Promise<() => void>

const ATTACKS: Record<string, Attack> = {
  [`${LOGINS} logins at once by strangers`]: async server => {
    const over = new AbortController()
    const guess = async (who: number) => {
      while (!over.signal.aborted) await logIn(server, `stranger-${who}`, 'wrong').catch(() => sleep(10))
    }
    for (let who = 0; who < LOGINS; who++) void guess(who)
    return () => over.abort()
  },
  [`${BODIES} bodies that never end`]: async ({ port }, token) => {
    const head = `POST /baremetal/v1/nodes HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: ${token}\r\n`
    const body = `content-type: application/json\r\ncontent-length: 4000000\r\n\r\n${' '.repeat(1_000_000)}`
    return hold(port, BODIES, `${head}${body}`)
  },
  [`${SOCKETS} half open sockets`]: ({ port }) => hold(port, SOCKETS, 'GET /baremetal/v1/nodes HTTP/1.1\r\nhost: 127'),
  [`${GREEDY} greedy clients of a project`]: async ({ port }, token) => {
    const connections = Array.from({ length: GREEDY }, () => new Connection(port))
    const ask = async (connection: Connection) => {
      for (;;) await connection.send(asks('/baremetal/v1/nodes/detail', token))
    }
    for (const connection of connections) void ask(connection).catch(() => {})
    return () => connections.forEach(connection => connection.close())
  },
}

async function hold(port: number, count: number, text: string): Promise<() => void> {
  const open = (): Socket => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    return socket.on('error', () => {})
  }
  const sockets = Array.from({ length: count }, open)
  await sleep(500)
  return () => sockets.forEach(socket => socket.destroy())
}

const asks = (path: string, token: string) =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: ${token}\r\n\r\n`

async function logIn({ origin }: Server, name: string, password = passwordOf(name)): Promise<string> {
  const identity = { methods: ['password'], password: { user: { name, domain: { id: 'default' }, password } } }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${origin}/identity/v3/auth/tokens`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ auth: { identity } }),
  })
  await answer.arrayBuffer()
  return answer.headers.get('x-subject-token') ?? ''
}

export async function benchDoors(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Doors: an honest client beside others',
    measured: { columns: ['store and who is there', 'p50 ms', 'p99 ms', 'times quiet', 'MiB'], rows: [] },
    limits: { columns: [], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(options.stores, store => benchStore(store, options, report))
  return report
}

async function benchStore(store: BenchStore, { seconds }: BenchOptions, report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-doors-'))
  const users = join(folder, 'users.yaml')
  writeFileSync(users, await usersFile())
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', await store.database()]
  const server = await startServer({ argv: [...argv, '--auth', 'password', '--users', users], port })
  try {
    const [honest, greedy] = [await logIn(server, 'honest'), await logIn(server, 'greedy')]
    await makeNodes(server, honest)
    const measure = () => serve(port, honest, seconds)
    await measure()
    const quiet = await measure()
    addRow(report, `${store.name}: nobody`, quiet, quiet)
    for (const [what, attack] of Object.entries(ATTACKS)) {
      const end = await attack(server, greedy)
      const rate = await measure()
      const mib = memoryMib(server)
      end()
      addRow(report, `${store.name}: ${what}`, rate, quiet, mib)
      report.goals.push(
        {
          text: `${store.name}, ${what}: ${SLOWER_MAX} × quiet / p99`,
          value: (SLOWER_MAX * quiet.p99Ms) / rate.p99Ms,
          atLeast: 1,
        },
        { text: `${store.name}, ${what}: ${MEMORY_MIB_MAX} MiB / memory`, value: MEMORY_MIB_MAX / mib, atLeast: 1 },
      )
      await sleep(1_000)
    }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

function addRow({ measured }: Report, what: string, { p50Ms, p99Ms }: Rate, quiet: Rate, mib?: number): void {
  measured.rows.push([what, figure(p50Ms), figure(p99Ms), figure(p99Ms / quiet.p99Ms), mib ? figure(mib) : ''])
}

const passwordOf = (name: string) => `${name}-pw`

async function usersFile(): Promise<string> {
  const entries = Object.entries(USERS).map(async ([name, roles]) => {
    const password = await hashPassword(passwordOf(name), Buffer.alloc(16, name))
    return [name, { password, roles }] as const
  })
  return stringify({ projects: { lab: {}, office: {} }, users: Object.fromEntries(await Promise.all(entries)) })
}

/** One request after another, as one person's script would. */
const serve = (port: number, token: string, seconds: number): Promise<Rate> =>
  repeat({ port, connections: 1, seconds }, async connection => {
    const { status } = await connection.send(asks('/baremetal/v1/nodes', token))
    if (status !== 200) throw new Error(`an honest client was told ${status}`)
  })

async function makeNodes({ origin }: Server, token: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-auth-token': token }
  for (let i = 0; i < NODES; i++) {
    const body = JSON.stringify({ driver: 'fake-hardware' })
    await fetch(`${origin}/baremetal/v1/nodes`, { method: 'POST', headers, body })
  }
}

/** The resident memory of the process, from /proc. */
function memoryMib({ pid }: Server): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1_024
}
