import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sendTogether } from './together.ts'

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const LAST = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

async function serving(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  sendTogether(server)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    ask: (request: string) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(request)
      return text(socket)
    },
    [Symbol.dispose]: () => server.close(),
  }
}

test('answers of one turn are held until its end, and then leave together', async () => {
  const waiting: ServerResponse[] = []
  const both = Promise.withResolvers<void>()
  using server = await serving((_request, response) => {
    if (waiting.push(response) === 2) both.resolve()
  })
  const answers = [server.ask(LAST), server.ask(LAST)]
  await both.promise
  const sockets = waiting.map(({ socket }) => socket!)
  for (const response of waiting) response.end('here')
  assert.ok(sockets.every(socket => socket.writableLength > 0))
  await nextTurn()
  assert.deepEqual(
    sockets.map(socket => socket.writableLength),
    [0, 0],
  )
  for (const answer of await Promise.all(answers)) assert.match(answer, /\r\n\r\nhere$/)
})

test('answers to requests that were sent without waiting come in their order', async () => {
  let count = 0
  using server = await serving((_request, response) => void response.end(`answer ${++count}.`))
  const answers = await server.ask(GET + GET + LAST)
  assert.deepEqual(answers.match(/answer \d/g), ['answer 1', 'answer 2', 'answer 3'])
})

test('an answer in parts arrives whole', async () => {
  using server = await serving((_request, response) => {
    response.write('a'.repeat(100_000))
    setImmediate(() => {
      response.write('b'.repeat(100_000))
      response.end('c')
    })
  })
  const answer = await server.ask(LAST)
  assert.ok(answer.includes('a'.repeat(100_000)) && answer.includes('b'.repeat(100_000)))
  assert.match(answer, /c\r\n0\r\n\r\n$/)
})

test('a client that sends several requests and closes its half gets all answers', async () => {
  let count = 0
  using server = await serving((_request, response) => void response.end(`answer ${++count}.`))
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(GET.repeat(5))
  const answers = await text(socket)
  socket.destroy()
  assert.deepEqual(answers.match(/answer \d/g), ['answer 1', 'answer 2', 'answer 3', 'answer 4', 'answer 5'])
})
