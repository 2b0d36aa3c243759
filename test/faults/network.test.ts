// The network between a server and its PostgreSQL, and between clients and the server, under load.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inParallel } from '../races/clients.ts'
import { waitFor } from '../support/baremetal.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { nothingIsLost } from './load.ts'
import { type FaultyProcess, startServing } from './processes.ts'

const SILENT_MS = 4_000
const SOCKETS = 200
const ANSWER_TRAITS = 200

describe('a network', () => {
  let databases: Awaited<ReturnType<typeof sharedPostgres>>
  let proxy: Proxy
  let server: FaultyProcess
  before(async () => {
    databases = await sharedPostgres()
    proxy = await startProxy(await databases.createDatabase())
    server = await startServing('serve', proxy.url)
  })
  after(async () => {
    await server?.end()
    await proxy?.stop()
    await databases?.stop()
  })

  test('to the database that falls silent, for new connections too', t =>
    nothingIsLost(t, [server], async () => {
      proxy.silence()
      await sleep(SILENT_MS)
      proxy.pass()
    }))

  test('to the database that forgets its connections without a word: they are half open', t =>
    nothingIsLost(t, [server], async () => {
      for (let round = 0; round < 3; round++) {
        proxy.silence()
        proxy.pass()
        await sleep(SILENT_MS / 2)
      }
    }))

  test('to the database that cuts all connections, again and again', t =>
    nothingIsLost(t, [server], async () => {
      for (let round = 0; round < 30; round++) {
        proxy.cut()
        await sleep(50)
      }
    }))

  test(`of clients: ${SOCKETS} who never end a request, never read their answer, or go in the middle of it`, async t => {
    const api = new Placement(server.origin)
    t.after(() => api.close())
    await inParallel(16, ANSWER_TRAITS, n => api.put(`/traits/CUSTOM_${n}_${'X'.repeat(200)}`))
    const descriptors = () => readdirSync(`/proc/${server.pid()}/fd`).length
    const before = descriptors()
    let sockets: Socket[] = []
    await nothingIsLost(t, [server], async () => {
      sockets = await inParallel(32, SOCKETS, index => badClient(server.origin, index))
      await sleep(SILENT_MS)
      for (const socket of sockets) socket.resetAndDestroy()
    })
    assert.ok(sockets.length === SOCKETS)
    await waitFor('all that they had is free again', async () => descriptors() < before + SOCKETS / 4)
    expectStatus(await api.get('/traits'), 200)
  })
})

/** Others than those of the load, and from elsewhere: what one takes too much of is their own share. */
const WHO = 'x-auth-token: mallory:elsewhere\r\nx-roles: admin'
const ELSEWHERE = '127.0.0.2'
const HEAD = `host: localhost\r\n${WHO}\r\nopenstack-api-version: placement 1.39\r\n`
const READS = `GET /placement/traits HTTP/1.1\r\n${HEAD}\r\n`

/** In turn: half a head, half a body, many questions whose answers are not read, and one who says goodbye and stays. */
async function badClient(origin: string, index: number): Promise<Socket> {
  const { hostname, port } = new URL(origin)
  const socket = connect({ port: Number(port), host: hostname, localAddress: ELSEWHERE, allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  const says = [
    () => socket.write('GET /placement/traits HTTP/1.1\r\nhost: '),
    () => socket.write(`POST /placement/resource_providers HTTP/1.1\r\n${HEAD}content-length: 100\r\n\r\n{"name":`),
    () => socket.pause() && socket.write(READS.repeat(50)),
    () => socket.end(READS),
  ]
  says[index % says.length]!()
  return socket
}
