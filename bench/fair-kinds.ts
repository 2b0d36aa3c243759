// What the clients of the fair bench do, again and again.
import { ask, CLASS, text } from './allocations-fleet.ts'
import type { Connection } from './candidates-client.ts'
import { CLASSES, deleteAllocation, putAllocation } from './requests.ts'

const HOUR_MS = 3_600_000

export interface Kind {
  readonly what: string
  readonly kind: 'read' | 'write'
  /** What a client of that token does, again and again. */
  readonly act: (token: string) => (connection: Connection) => Promise<unknown>
}

const asCaller = (request: string, token: string) => request.replace('x-auth-token: admin', `x-auth-token: ${token}`)
const post = (path: string, body: object) => {
  const json = JSON.stringify(body)
  return (
    `POST /holdfast/v1${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\n` +
    `content-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`
  )
}
// The answer isn't parsed: the clients would be busy with that, and the quiet one would wait for itself.
const asking = (request: () => string) => (token: string) => async (connection: Connection) => {
  const { status } = await connection.send(asCaller(request(), token))
  if (status !== 200) throw new Error(`answered ${status}`)
}

function leaseBody(): object {
  const dateIn = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString().slice(0, 16).replace('T', ' ')
  const reservation = { resource_type: 'physical:node', resource_class: CLASS, min: 1, max: 2 }
  return { name: 'bench', start_date: dateIn(1), end_date: dateIn(3), reservations: [reservation] }
}

export function kinds(provider: string): Kind[] {
  return [
    { what: 'nodes in detail', kind: 'read', act: asking(() => text('GET', '/nodes/detail')) },
    {
      what: 'the status',
      kind: 'read',
      act: asking(() => 'GET /holdfast/v1/status HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\n\r\n'),
    },
    {
      what: 'explain an allocation',
      kind: 'read',
      act: asking(() => post('/explain/allocations', { resource_class: CLASS })),
    },
    { what: 'explain a lease', kind: 'read', act: asking(() => post('/explain/leases', leaseBody())) },
    {
      what: 'an allocation, made and deleted',
      kind: 'write',
      act: token => async connection => {
        const body = { resource_class: CLASS }
        const made = await ask<{ uuid: string }>(connection, asCaller(text('POST', '/allocations', body), token), 201)
        const request = asCaller(text('DELETE', `/allocations/${made.uuid}`), token)
        // A conductor may be at it.
        while ((await connection.send(request)).status !== 204);
      },
    },
    {
      what: 'a claim, made and deleted',
      kind: 'write',
      act: token => async connection => {
        const consumer = crypto.randomUUID()
        await ask(connection, asCaller(putAllocation(consumer, provider, CLASSES.length), token), 204)
        await ask(connection, asCaller(deleteAllocation(consumer), token), 204)
      },
    },
  ]
}
