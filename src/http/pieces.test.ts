// Large answers in pieces: sent whole, counted while they are held, and refused when too much is held.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import Fastify from 'fastify'
import { limits } from '../shared/limits.ts'
import { bytesHeld, Pieces, sending } from './pieces.ts'

const PIECE = Buffer.alloc(100_000, 'x')

test('pieces arrive whole and in order, and nothing is held afterwards', async () => {
  const app = Fastify({ forceCloseConnections: true })
  const pieces = new Pieces(Array.from({ length: 200 }, (_, i) => Buffer.from(`${i},`.padEnd(10_000, '.'))))
  app.get('/', (_, reply) => reply.header('content-length', pieces.bytes).send(sending(pieces, 'lab', reply)))
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const text = await (await fetch(`http://127.0.0.1:${port}/`)).text()
  assert.equal(text, Buffer.concat(pieces.buffers).toString())
  // Though the connection stays open.
  while (bytesHeld() > 0) await new Promise(resolve => setImmediate(resolve))
  await app.close()
})

test('a client that reads nothing holds what it was answered until it leaves, and no more', async () => {
  const app = Fastify({ forceCloseConnections: true })
  const big = new Pieces(Array.from({ length: 1_000 }, () => PIECE))
  let pulled = 0
  app.get('/', (_, reply) => {
    const stream = sending(big, 'lab', reply)
    stream.on('data', (chunk: Buffer) => (pulled += chunk.length))
    stream.pause()
    return reply.header('content-length', big.bytes).send(stream)
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  while (bytesHeld() === 0) await new Promise(resolve => setImmediate(resolve))
  assert.equal(bytesHeld(), big.bytes)
  // Turns enough to send all, if nothing held it back.
  for (let i = 0; i < 5_000; i++) await new Promise(resolve => setImmediate(resolve))
  assert.ok(pulled < big.bytes / 2, `${pulled} bytes left the answer for a client that reads none`)
  socket.destroy()
  while (bytesHeld() > 0) await new Promise(resolve => setImmediate(resolve))
  await app.close()
})

test('a client that reads nothing for too long is cut off, and its answer is let go', async () => {
  const app = Fastify({ forceCloseConnections: true })
  const big = new Pieces(Array.from({ length: 1_000 }, () => PIECE))
  app.get('/', (_, reply) => reply.header('content-length', big.bytes).send(sending(big, 'lab', reply, 50)))
  await app.listen({ port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.pause().on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  while (bytesHeld() === 0) await new Promise(resolve => setImmediate(resolve))
  while (bytesHeld() > 0) await new Promise(resolve => setTimeout(resolve, 10))
  socket.destroy()
  await app.close()
})

test('a caller with a share of all that may be held is refused, and others are when all of it is held', async () => {
  const server = createServer().listen(0)
  const { port } = server.address() as AddressInfo
  const raws = new Set<{ raw: unknown }>()
  server.on('request', (_: IncomingMessage, raw) => raws.add({ raw }))
  const sockets = Array.from({ length: 1 }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(server, 'request')
  const [reply] = raws as unknown as Set<Parameters<typeof sending>[2]>
  const half = { buffers: [], bytes: limits.answersBytesMax / 2 } as unknown as Pieces
  sending(half, 'one', reply!)
  assert.throws(() => sending(half, 'one', reply!), { kind: 'too_many_requests' })
  sending(half, 'two', reply!)
  assert.throws(() => sending(new Pieces([PIECE]), 'three', reply!), { kind: 'unavailable' })
  for (const socket of sockets) socket.destroy()
  while (bytesHeld() > 0) await new Promise(resolve => setImmediate(resolve))
  server.close()
})
