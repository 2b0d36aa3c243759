// SIGTERM under load: what the server has accepted it still answers, what it answered is kept, and it exits with 0.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clients } from './races/clients.ts'
import { consumerBody, expectStatus, Placement } from './support/placement.ts'
import { spawnServer, startServer } from './support/server.ts'
import { eachDatabase } from './support/stores.ts'

// A server that never exits should fail here, not hang the run.
const TEST_TIMEOUT_MS = 60_000

eachDatabase('a server that is told to stop', databases => {
  test('answers every request that it has accepted', { timeout: TEST_TIMEOUT_MS }, async () => {
    const server = await spawnServer(await databases.create())
    const api = new Placement(server.origin)
    const provider = await api.provider({ VCPU: 100 })
    api.close()
    const started = await clients(8, () => startClaim(server.origin, provider))
    const exit = server.terminate()
    await sleep(100)
    const statuses = await Promise.all(started.map(finish => finish()))
    assert.deepEqual(statuses, Array<number>(8).fill(204))
    const { code, stderr } = await exit
    assert.equal(code, 0, stderr)
  })

  test('keeps what it has answered, and says no or hangs up to the rest', { timeout: TEST_TIMEOUT_MS }, async t => {
    const database = await databases.create()
    const server = await spawnServer(database)
    const api = new Placement(server.origin)
    const provider = await api.provider({ VCPU: 1_000_000 })
    const granted: string[] = []
    let refused = 0
    const load = clients(16, async () => {
      for (;;) {
        const consumer = randomUUID()
        const answer = await api.claim(consumer, { [provider]: { VCPU: 1 } }).catch(() => null)
        if (answer && expectStatus(answer, 204, 503).status === 503) refused++
        if (answer?.status !== 204) return
        granted.push(consumer)
      }
    })
    while (granted.length < 50) await sleep(5)
    const { code } = await server.terminate()
    await load
    api.close()
    assert.equal(code, 0)
    const again = await startServer(database)
    const reader = new Placement(again.origin)
    const { allocations } = (await reader.get(`/resource_providers/${provider}/allocations`)).body
    for (const consumer of granted) assert.ok(consumer in allocations, `lost: ${consumer}`)
    assert.ok(granted.length > 0)
    t.diagnostic(`${granted.length} claims granted, ${refused} of 16 clients refused, the others hung up on`)
    await reader.fsck()
    reader.close()
    await again.stop()
  })
})

describe('a server that is told to stop', () => {
  test('closes connections that wait, and sends elsewhere who is in the middle of a request', async () => {
    const server = await startServer('sqlite::memory:')
    const fresh = await Wire.to(server.origin)
    const [waiting, ...begun] = await inUse(server.origin, 1 + APIS.length)
    for (const [i, wire] of begun.entries()) await wire.send(GET(APIS[i]!.path).slice(0, -2))
    // Once it has answered this, it has read what came before.
    await answered(waiting!)
    const stopped = server.stop()
    await fresh.closed
    await waiting!.closed
    for (const [i, wire] of begun.entries()) {
      await wire.send('\r\n')
      await wire.closed
      assert.match(wire.heard, /^HTTP\/1.1 503 /)
      assert.match(wire.heard, /^retry-after: 1\r$/im)
      assert.match(wire.heard, /^connection: close\r$/im)
      assert.match(wire.heard, APIS[i]!.format)
    }
    await stopped
  })

  test('serves on for a moment, and each answer ends its connection', async () => {
    const server = await startServer('sqlite::memory:', { lingerMs: 1_000 })
    const [used, idle] = (await inUse(server.origin, 2)) as [Wire, Wire]
    const stopped = server.stop()
    await used.send(GET('/placement/resource_providers'))
    await used.closed
    assert.match(used.heard, /HTTP\/1.1 200 OK\r\n(?:(?!HTTP).)*connection: close\r\n(?:(?!HTTP).)*$/is)
    const late = await Wire.to(server.origin)
    await late.send(GET('/placement/resource_providers'))
    await late.closed
    assert.match(late.heard, /^HTTP\/1.1 200 /)
    await idle.closed
    await stopped
    await assert.rejects(Wire.to(server.origin), { code: 'ECONNREFUSED' })
  })

  test('gives a slow reader the whole of a large answer', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-drain-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'holdfast.db')
    const server = await startServer(`sqlite:${file}`)
    // Together more than the system keeps for a connection.
    addTraits(file, 60_000)
    const [slow, other] = (await inUse(server.origin, 2)) as [Wire, Wire]
    slow.pause()
    await slow.send(GET('/placement/traits'))
    // What is asked after it is answered after it has been written.
    for (let i = 0; i < 3; i++) await answered(other)
    const stopped = server.stop()
    await other.closed
    await sleep(100)
    slow.resume()
    await slow.closed
    const [head, body] = slow.heard.split('\r\n\r\n', 2)
    assert.match(head!, /^HTTP\/1.1 200 /)
    assert.equal(body!.length, Number(/content-length: (\d+)/i.exec(head!)![1]))
    assert.ok(body!.length > 10_000_000)
    await stopped
  })

  test('waits for nobody who never ends a request', { timeout: TEST_TIMEOUT_MS }, async () => {
    const server = await spawnServer('sqlite::memory:')
    const [head, body, waiting] = (await inUse(server.origin, 3)) as [Wire, Wire, Wire]
    await head.send('GET /healthz HTTP/1.1\r\nhost: ')
    const sent = 'content-type: application/json\r\ncontent-length: 100\r\n'
    await body.send(`POST /placement/resource_providers HTTP/1.1\r\n${HEADERS}${sent}\r\n{"name":`)
    await answered(waiting)
    const { code, stderr } = await server.terminate()
    assert.equal(code, 0, stderr)
    await Promise.all([head.closed, body.closed])
  })
})

const HEADERS = 'host: localhost\r\nx-auth-token: admin\r\nopenstack-api-version: placement 1.39\r\n'
const GET = (path: string) => `GET ${path} HTTP/1.1\r\n${HEADERS}\r\n`

const APIS = [
  { path: '/readyz', format: /"error":\{"kind":"unavailable"/ },
  { path: '/placement/resource_providers', format: /"errors": ?\[/ },
  { path: '/baremetal/v1/nodes', format: /"error_message"/ },
  { path: '/compute/v2.1/servers', format: /Fault|serviceUnavailable/ },
  { path: '/image/v2/images', format: /503/ },
  { path: '/reservation/v1/leases', format: /"error_message"/ },
  { path: '/identity/v3/users', format: /"error":/ },
]

function addTraits(file: string, count: number): void {
  const database = new DatabaseSync(file)
  database.exec(`
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into traits (name, created_at) select 'CUSTOM_' || i || '_${'X'.repeat(230)}', 0 from n`)
  database.close()
}

/** A bare connection, to say half of what HTTP wants. */
class Wire {
  heard = ''
  readonly closed: Promise<unknown>
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket
    this.closed = new Promise(resolve => socket.once('close', resolve))
    socket.setEncoding('latin1').on('data', text => (this.heard += text))
    socket.on('error', () => {})
  }

  static async to(origin: string): Promise<Wire> {
    const { hostname, port } = new URL(origin)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new Wire(socket)
  }

  send(text: string): Promise<void> {
    return new Promise(sent => this.#socket.write(text, () => sent()))
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  async hears(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.heard)) await once(this.#socket, 'data')
  }
}

async function answered(wire: Wire): Promise<void> {
  wire.heard = ''
  await wire.send(GET('/healthz'))
  await wire.hears(/"alive"/)
  wire.heard = ''
}

/** Connections that the server has accepted and knows. */
async function inUse(origin: string, count: number): Promise<Wire[]> {
  const wires = await clients(count, () => Wire.to(origin))
  for (const wire of wires) await answered(wire)
  return wires
}

/** Begins a claim and waits for the server's word that it has the request; its body follows when asked for. */
async function startClaim(origin: string, provider: string): Promise<() => Promise<number>> {
  const body = JSON.stringify(consumerBody({ [provider]: { VCPU: 1 } }))
  const outgoing = request(`${origin}/placement/allocations/${randomUUID()}`, {
    method: 'PUT',
    headers: {
      expect: '100-continue',
      'content-type': 'application/json',
      'content-length': body.length,
      'x-auth-token': 'admin',
      'openstack-api-version': 'placement latest',
    },
  })
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  return async () => {
    const answered = once(outgoing, 'response')
    outgoing.end(body)
    const [incoming] = await answered
    incoming.resume()
    return incoming.statusCode as number
  }
}
