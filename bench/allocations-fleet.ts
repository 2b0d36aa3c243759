// Creates nodes for the allocations bench, as fast as the API allows, and sends its requests.
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from './candidates-client.ts'

export const CLASS = 'bench'
const FILLERS = 32
/** With this old version a new node is available at once. */
const OLD = '1.10'
const NEW = '1.83'

export function text(method: string, path: string, body?: unknown, version = NEW): string {
  const json = body === undefined ? '' : JSON.stringify(body)
  return (
    `${method} /baremetal/v1${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\n` +
    `x-openstack-ironic-api-version: ${version}\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
  )
}

/** Sends a request and returns the JSON of the answer. Throws on any other status. */
export async function ask<T>(connection: Connection, request: string, status: number): Promise<T> {
  const answer = await connection.send(request, true)
  if (answer.status !== status) throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 300)}`)
  return (answer.text === '' ? null : JSON.parse(answer.text)) as T
}

async function inParallel(port: number, count: number, act: (connection: Connection) => Promise<void>): Promise<void> {
  let left = count
  const one = async () => {
    const connection = new Connection(port)
    while (left-- > 0) await act(connection)
    connection.close()
  }
  await Promise.all(Array.from({ length: FILLERS }, one))
}

async function makeNode(connection: Connection, changes: Record<string, string>): Promise<string> {
  const node = { driver: 'fake-hardware', properties: { cpus: 64, memory_mb: 262_144, cpu_arch: 'x86_64' } }
  const { uuid } = await ask<{ uuid: string }>(connection, text('POST', '/nodes', node, OLD), 201)
  const patch = Object.entries(changes).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
  await ask(connection, text('PATCH', `/nodes/${uuid}`, patch), 200)
  return uuid
}

/** Creates free nodes. Returns their uuids once they can be allocated. */
export async function makeFree(port: number, count: number): Promise<string[]> {
  const nodes: string[] = []
  await inParallel(port, count, async connection => {
    const uuid = await makeNode(connection, { resource_class: CLASS })
    // A node without a power state is never allocated.
    await ask(connection, text('PUT', `/nodes/${uuid}/states/power`, { target: 'power on' }), 202)
    nodes.push(uuid)
  })
  const waiting = [...nodes]
  await inParallel(port, count, async connection => {
    const path = `/nodes/${waiting.pop()}?fields=power_state,reservation`
    for (;;) {
      const shown = await ask<{ power_state: string | null; reservation: string | null }>(
        connection,
        text('GET', path),
        200,
      )
      if (shown.power_state !== null && shown.reservation === null) return
      await sleep(5)
    }
  })
  return nodes
}

/** Creates nodes with these fields. Returns their uuids. */
export async function makeNodes(port: number, count: number, fields: () => Record<string, string>): Promise<string[]> {
  const nodes: string[] = []
  await inParallel(port, count, async connection => {
    nodes.push(await makeNode(connection, fields()))
  })
  return nodes
}

/** Creates nodes of the same class that are in use. */
export async function makeTaken(port: number, count: number): Promise<void> {
  await makeNodes(port, count, () => ({ resource_class: CLASS, instance_uuid: crypto.randomUUID() }))
}

/** Allocates a node and waits until it is active. Returns the allocation's path. */
export async function allocate(connection: Connection): Promise<string> {
  const { uuid } = await ask<{ uuid: string }>(connection, text('POST', '/allocations', { resource_class: CLASS }), 201)
  const path = `/allocations/${uuid}`
  for (;;) {
    const { state, last_error } = await ask<{ state: string; last_error: string | null }>(
      connection,
      text('GET', `${path}?fields=state,last_error`),
      200,
    )
    if (state === 'active') return path
    if (state === 'error') throw new Error(`no node: ${last_error}`)
  }
}

/** Holds the first free one of these nodes. Returns the hold's path. */
export async function hold(connection: Connection, nodes: readonly string[]): Promise<string> {
  const body = { instance_uuid: crypto.randomUUID(), node_uuid: nodes }
  const { reservation } = await ask<{ reservation: { uuid: string } }>(
    connection,
    text('POST', '/reservations', body),
    201,
  )
  return `/reservations/${reservation.uuid}`
}

export async function release(connection: Connection, path: string): Promise<void> {
  await ask(connection, text('DELETE', path), 204)
}
