import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { BlockList, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { networksIn } from '../shared/networks.ts'
import { post } from './post.ts'

test('what is connected to is checked at each try, by address and by name', async () => {
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    response.writeHead(200).end('a\0b\u001b[31m\u009b')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const closed = { allowed: new BlockList(), mailDomains: null }
  const open = { allowed: networksIn('127.0.0.1', word => new Error(word)), mailDomains: null }
  const { signal } = new AbortController()
  const sent = (host: string, rules: typeof open) =>
    post({ url: new URL(`http://${host}:${port}/`), headers: {}, body: '{}', rules, now: 0, stopping: signal })
  try {
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
      const { status, error } = await sent(host, closed)
      assert.equal(status, null)
      assert.match(error!, /inside/)
    }
    assert.equal(requests, 0)
    for (const host of ['127.0.0.1', 'localhost']) {
      const { status, error, text } = await sent(host, open)
      assert.deepEqual([status, error, text], [200, null, 'a b [31m '])
    }
    assert.equal(requests, 2)
  } finally {
    server.close()
  }
  assert.equal((await sent('127.0.0.1', open)).error, 'nothing listens there')
})

test('a receiver that changes the protocol instead of answering is no answer, and holds up nobody', async () => {
  const server = createServer()
  server.on('connection', socket => {
    socket.once('data', () => socket.write('HTTP/1.1 101 No\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const rules = { allowed: networksIn('127.0.0.1', word => new Error(word)), mailDomains: null }
  const { signal } = new AbortController()
  const url = new URL(`http://127.0.0.1:${port}/`)
  try {
    const { status, error } = await post({ url, headers: {}, body: '{}', rules, now: 0, stopping: signal })
    assert.deepEqual([status, error], [null, 'the connection was closed without an answer'])
  } finally {
    server.close()
  }
})
