// Large answers in pieces: sent whole, counted while they are held, and refused when too much is held.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import Fastify from 'fastify'
import { largeAnswers, Pieces, sending } from './pieces.ts'

const PIECE = Buffer.alloc(100_000, 'x')

test('pieces arrive whole and in order, and nothing is held afterwards', async () => {
  const app = Fastify({ forceCloseConnections: true })
  const pieces = new Pieces(Array.from({ length: 200 }, (_, i) => Buffer.from(`${i},`.padEnd(10_000, '.'))))
  app.get('/', async (_, reply) => {
    const { bytes, stream } = await sending(pieces, 'lab', reply)
    return reply.header('content-length', bytes).send(stream)
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const text = await (await fetch(`http://127.0.0.1:${port}/`)).text()
  assert.equal(text, Buffer.concat(pieces.buffers).toString())
  // Though the connection stays open.
  while (largeAnswers.bytes > 0) await new Promise(resolve => setImmediate(resolve))
  await app.close()
})

test('a client that reads nothing holds what it was answered until it leaves, and no more', async () => {
  const app = Fastify({ forceCloseConnections: true })
  const big = new Pieces(Array.from({ length: 1_000 }, () => PIECE))
  let pulled = 0
  app.get('/', async (_, reply) => {
    const { stream } = await sending(big, 'lab', reply)
    stream.on('data', (chunk: Buffer) => (pulled += chunk.length))
    stream.pause()
    return reply.header('content-length', big.bytes).send(stream)
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  while (largeAnswers.bytes === 0) await new Promise(resolve => setImmediate(resolve))
  assert.equal(largeAnswers.bytes, big.bytes)
  // Turns enough to send all, if nothing held it back.
  for (let i = 0; i < 5_000; i++) await new Promise(resolve => setImmediate(resolve))
  assert.ok(pulled < big.bytes / 2, `${pulled} bytes left the answer for a client that reads none`)
  socket.destroy()
  while (largeAnswers.bytes > 0) await new Promise(resolve => setImmediate(resolve))
  await app.close()
})

test('a client that reads nothing for too long is cut off, and its answer is let go', async () => {
  const app = Fastify({ forceCloseConnections: true })
  const big = new Pieces(Array.from({ length: 1_000 }, () => PIECE))
  app.get('/', async (_, reply) => {
    const { bytes, stream } = await sending(big, 'lab', reply, 50)
    return reply.header('content-length', bytes).send(stream)
  })
  await app.listen({ port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.pause().on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  while (largeAnswers.bytes === 0) await new Promise(resolve => setImmediate(resolve))
  while (largeAnswers.bytes > 0) await new Promise(resolve => setTimeout(resolve, 10))
  socket.destroy()
  await app.close()
})
