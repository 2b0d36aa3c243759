// Stops serving without cutting clients off. For a moment all is served as before, but each answer ends its connection:
// a client that sends just as an idle connection is closed can't know what became of its request. Then accepted requests
// get their whole answer, later ones get 503, and after a time limit the remaining connections are closed.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { limits } from '../shared/limits.ts'
import { problem } from '../problems/problem.ts'

interface Draining {
  /** Refuses a request that comes after the end was announced. */
  refuse(): void
  /** Tells the client of an answer that the connection ends with it. */
  tell(reply: FastifyReply): void
}

/** Lets `app.close()` drain. */
export function drainOnClose(app: FastifyInstance, lingerMs: number): Draining {
  const connections = new Connections(app.server)
  app.addHook('preClose', async () => {
    connections.isLeaving = true
    if (lingerMs > 0) await sleep(lingerMs)
    connections.drain()
  })
  return {
    refuse: () => {
      // A problem, so that the client gets the format of its API, and a Retry-After.
      if (connections.isDraining) throw problem('unavailable', { reason: 'the service is stopping' })
    },
    tell: reply => {
      if (connections.isLeaving) void reply.header('connection', 'close')
    },
  }
}

/** What is in flight on a connection. */
interface Traffic {
  /** Requests whose answer is not flushed yet. */
  owed: number
  /** Bytes read when the last answer was flushed: if more were read since, a request has begun. */
  readBefore: number
}

class Connections {
  /** No connection outlives its next answer. */
  isLeaving = false
  /** And nothing new is begun. */
  isDraining = false
  readonly #traffic = new Map<Socket, Traffic>()
  /** All TCP sockets, also those where the TLS handshake isn't finished. */
  readonly #sockets = new Set<Socket>()

  constructor(server: Server) {
    server.on('connection', socket => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    const isTls = 'setSecureContext' in server
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#traffic.set(socket, { owed: 0, readBefore: socket.bytesRead })
      socket.once('close', () => this.#traffic.delete(socket))
    })
    server.on('request', (request, response) => this.#owe(request, response))
    // Node's own version counts an answer as done once it is written, and would cut off what isn't flushed yet.
    server.closeIdleConnections = () => this.#closeIdle()
  }

  drain(): void {
    this.isDraining = true
    this.#closeIdle()
    setTimeout(() => this.#sockets.forEach(socket => socket.destroy()), limits.drainMsMax).unref()
  }

  #owe({ socket }: IncomingMessage, response: ServerResponse): void {
    const traffic = this.#traffic.get(socket)
    if (!traffic) return
    traffic.owed++
    response.on('close', () => {
      traffic.owed--
      traffic.readBefore = socket.bytesRead
      if (this.isDraining && traffic.owed === 0) socket.destroySoon()
    })
  }

  #closeIdle(): void {
    for (const [socket, { owed, readBefore }] of this.#traffic) {
      if (owed === 0 && socket.bytesRead === readBefore) socket.destroySoon()
    }
  }
}
