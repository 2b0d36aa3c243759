// What the guard puts on both versions: the everyday requests, each a fixed number of times, so that both do the same work.
import { allocate, ask, hold, makeFree, release, text as metal } from './allocations-fleet.ts'
import { SMALL_QUESTION } from './candidates-cases.ts'
import { candidatesText, Connection } from './candidates-client.ts'
import { prepareProviders } from './claims.ts'
import { drive, type Request } from './client.ts'
import { withBody } from './requests.ts'
import { HOT_3, POST_100, POST_2, RELEASE, SPREAD_3, type Ledger, type Workload } from './workloads.ts'

export interface World {
  port: number
  ledger: Ledger
  nodes: string[]
}

export interface GuardLoad {
  name: string
  connections: number
  /** What must be there first; not measured. */
  prepare?: (world: World, count: number) => Promise<void>
  /** Sends so many, and returns how many seconds they took. */
  run: (world: World, count: number) => Promise<number>
}

const CLAIMERS = 64
const HOSTS = 100
const NAMED = 3
const HOUR_MS = 3_600_000

export const LOADS: GuardLoad[] = [
  claims(SPREAD_3),
  claims(HOT_3),
  claims(POST_2),
  { ...claims(RELEASE), prepare: claimEnough },
  acts('allocation candidates, limit 10', 10, get(candidatesText(`${SMALL_QUESTION}&limit=10`))),
  acts('uuid and traits of all nodes', 4, get(metal('GET', '/nodes?fields=uuid,traits'))),
  acts('allocation until active, and its end', 16, async connection => release(connection, await allocate(connection))),
  acts('hold, and its end', 16, holdOne),
  acts('lease, and its end', 4, leaseOne),
]

/** The same world for both, made over HTTP: the tables of a release may differ from ours. */
export async function makeWorld(port: number, nodes: number): Promise<World> {
  const ledger = await prepareProviders(port)
  const free = await makeFree(port, nodes)
  const connection = new Connection(port)
  for (const [at, uuid] of free.entries()) {
    const traits = ['CUSTOM_GPU', 'HW_CPU_X86_VMX', `CUSTOM_RACK_${at % 40}`]
    await succeed(connection, metal('PUT', `/nodes/${uuid}/traits`, { traits }))
  }
  for (let at = 0; at < HOSTS; at++) await makeHost(connection, at)
  connection.close()
  return { port, ledger, nodes: free }
}

function claims({ name, claimsPerRequest, next }: Workload): GuardLoad {
  const run = async ({ port, ledger }: World, count: number) => {
    let left = Math.ceil(count / claimsPerRequest)
    const source = () => (left-- > 0 ? next(ledger) : undefined)
    const sent = await drive({ port, connections: CLAIMERS, expect: 204, next: source })
    if (sent.firstUnexpected !== undefined) throw new Error(`${name}: ${sent.firstUnexpected}`)
    return sent.claims / sent.claimsPerSecond
  }
  return { name, connections: CLAIMERS, run }
}

async function claimEnough({ port, ledger }: World, count: number): Promise<void> {
  const requests: Request[] = []
  for (let there = ledger.consumers.length; there < count; there += POST_100.claimsPerRequest) {
    requests.push(POST_100.next(ledger)!)
  }
  await drive({ port, connections: 8, expect: 204, next: () => requests.pop() })
}

type Act = (connection: Connection, world: World) => Promise<void>

function acts(name: string, connections: number, act: Act): GuardLoad {
  const run = async (world: World, count: number) => {
    let left = count
    const start = performance.now()
    const one = async () => {
      const connection = new Connection(world.port)
      while (left-- > 0) await act(connection, world)
      connection.close()
    }
    await Promise.all(Array.from({ length: connections }, one))
    return (performance.now() - start) / 1000
  }
  return { name, connections, run }
}

function get(request: string): Act {
  return async connection => {
    const { status } = await connection.send(request)
    if (status !== 200) throw new Error(`answered ${status}: ${request}`)
  }
}

/** Names three nodes that no other client names at the moment. */
async function holdOne(connection: Connection, { nodes }: World): Promise<void> {
  const named = nodes.splice(0, NAMED)
  nodes.push(...named)
  await release(connection, await hold(connection, named))
}

const HEAD = 'HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\ncontent-type: application/json\r\n'
const reservation = (method: string, path: string, body?: object) => {
  const json = body === undefined ? '' : JSON.stringify(body)
  return `${method} /reservation/v1${path} ${HEAD}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}

async function makeHost(connection: Connection, at: number): Promise<void> {
  const name = `host-${at}`
  const created = withBody('POST', '/resource_providers', JSON.stringify({ name }))
  const { uuid } = await ask<{ uuid: string }>(connection, created, 200)
  const inventories = { VCPU: { total: 1_000 }, MEMORY_MB: { total: 1_000_000 }, DISK_GB: { total: 10_000 } }
  const body = JSON.stringify({ resource_provider_generation: 0, inventories })
  await ask(connection, withBody('PUT', `/resource_providers/${uuid}/inventories`, body), 200)
  await ask(connection, reservation('POST', '/os-hosts', { name }), 201)
}

export async function leaseOne(connection: Connection): Promise<void> {
  const start = Date.now() + (2 + Math.floor(Math.random() * 200)) * HOUR_MS
  const date = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  const size = { vcpus: 1, memory_mb: 512, disk_gb: 1, amount: 3 }
  const wish = { resource_type: 'virtual:instance', ...size, affinity: null, resource_properties: '' }
  const dates = { start_date: date(start), end_date: date(start + HOUR_MS) }
  const made = reservation('POST', '/leases', { name: `guard-${crypto.randomUUID()}`, ...dates, reservations: [wish] })
  const { lease } = await ask<{ lease: { id: string } }>(connection, made, 201)
  await succeed(connection, reservation('DELETE', `/leases/${lease.id}`))
}

/** With any status that means yes: some have changed between versions. */
async function succeed(connection: Connection, request: string): Promise<void> {
  const { status, text } = await connection.send(request, true)
  if (status >= 300) throw new Error(`answered ${status}: ${text.slice(0, 300)}`)
}
