// A pooler for PostgreSQL in transaction mode: each transaction of a client gets any of its connections. It takes the one
// that was used last, as PgBouncer does.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { connectTo } from './proxy.ts'

interface Backend {
  socket: Socket
  /** Gets what the server says, message by message. */
  heard: (message: Buffer) => void
}

export interface Pooler {
  url: string
  stop(): Promise<void>
}

export async function startPooler(targetUrl: string): Promise<Pooler> {
  const target = new URL(targetUrl)
  const idle: Backend[] = []
  const sockets = new Set<Socket>()

  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    return socket.on('close', () => sockets.delete(socket))
  }

  /** A new connection, and what the server said to greet it. */
  async function open(startup: Buffer): Promise<{ backend: Backend; greeting: Buffer }> {
    const backend: Backend = { socket: keep(connectTo(target)), heard: () => {} }
    backend.socket.on(
      'data',
      inMessages(message => backend.heard(message)),
    )
    const { promise, resolve } = Promise.withResolvers<void>()
    const said: Buffer[] = []
    backend.heard = message => {
      said.push(message)
      if (isReady(message)) resolve()
    }
    backend.socket.write(startup)
    await promise
    return { backend, greeting: Buffer.concat(said) }
  }

  /** All clients are greeted with the same words. */
  let greeted: Promise<Buffer> | null = null
  async function greeting(startup: Buffer): Promise<Buffer> {
    const { backend, greeting } = await open(startup)
    idle.push(backend)
    return greeting
  }

  const server = createServer(client => void serve(keep(client)))

  async function serve(client: Socket): Promise<void> {
    const [startup] = (await once(client, 'data')) as [Buffer]
    greeted ??= greeting(startup)
    const welcome = await greeted
    let mine: Backend | null = null
    let unanswered = 0
    const waiting: Buffer[] = []
    let isTaking = false
    const forward = async () => {
      if (isTaking) return
      isTaking = true
      mine ??= idle.pop() ?? (await open(startup)).backend
      isTaking = false
      const backend = mine
      backend.heard = message => {
        client.write(message)
        if (!isReady(message) || --unanswered > 0 || !isOutside(message)) return
        mine = null
        idle.push(backend)
      }
      for (const message of waiting.splice(0)) {
        // A query, or the end of a burst: each is answered with "ready".
        if (['Q', 'S'].includes(typeOf(message))) unanswered++
        backend.socket.write(message)
      }
    }
    client.on('close', () => mine?.socket.destroy())
    client.on(
      'data',
      inMessages(message => {
        if (typeOf(message) === 'X') return client.end()
        waiting.push(message)
        return void forward()
      }),
    )
    client.write(welcome)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://postgres@127.0.0.1:${port}${target.pathname}`,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const typeOf = (message: Buffer) => String.fromCharCode(message[0]!)
const isReady = (message: Buffer) => typeOf(message) === 'Z'
/** Of a message that says "ready": no transaction is open. */
const isOutside = (message: Buffer) => String.fromCharCode(message[5]!) === 'I'

/** Cuts a stream into messages: a letter, a length and the rest. */
function inMessages(take: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1)
      if (rest.length < length) return
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      take(message)
    }
  }
}
