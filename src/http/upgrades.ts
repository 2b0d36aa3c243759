// Web sockets: the request goes the way of every other one, with the same checks, and becomes a socket at its end.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { limits } from '../shared/limits.ts'

/** What came behind the headers. Only requests that ask for a socket are here. */
const heads = new WeakMap<IncomingMessage, Buffer>()

/** The protocol of ours that a client may name. A ticket among the protocols is never repeated. */
const PROTOCOL = 'holdfast'

const sockets = new WebSocketServer({
  noServer: true,
  maxPayload: limits.consoleTypedBytesMax,
  // Compression would tell the length of what is typed, and costs memory for each viewer.
  perMessageDeflate: false,
  handleProtocols: offered => (offered.has(PROTOCOL) ? PROTOCOL : false),
})

/** Other upgrades, such as to HTTP/2, are not taken, and the request is served as it is. */
export const asksForSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

export const isUpgrade = ({ raw }: FastifyRequest): boolean => heads.has(raw)

export function takeUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {})
    heads.set(request, head)
    const response = new ServerResponse(request)
    response.assignSocket(socket as never)
    // Refused: the socket has been taken from the server, so nobody else ends it.
    response.once('finish', () => socket.end())
    app.routing(request, response)
  })
}

export function upgrade(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  taken: (socket: WebSocket) => void,
): FastifyReply {
  reply.hijack()
  reply.raw.detachSocket(raw.socket)
  sockets.handleUpgrade(raw, raw.socket, heads.get(raw)!, taken)
  return reply
}
