// Answers that are ready in one turn of the event loop leave together, at its end. A write that finds its client asleep
// pays for waking it, which costs as much as a short answer; the writes right after it don't.
import type { Server } from 'node:http'
import { Socket } from 'node:net'

export function sendTogether(server: Server): void {
  let ready: Socket[] = []
  const send = () => {
    const sent = ready
    ready = []
    for (const socket of sent) Socket.prototype.uncork.call(socket)
  }
  const isTls = 'setSecureContext' in server
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    // Node corks a socket while it writes an answer to it, and uncorks it at the end of the answer.
    socket.uncork = () => {
      if (ready.length === 0) setImmediate(send)
      ready.push(socket)
    }
  })
  // Who sends without waiting for answers may also close its half without waiting: then only what has left is sent.
  server.on('request', ({ socket }, response) => {
    if (response.socket === null) delete (socket as Partial<Socket>).uncork
  })
}
