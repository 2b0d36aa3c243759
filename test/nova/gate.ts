// Stands between Holdfast and the test Nova, and can hold a request: before Nova gets it, or with Nova's answer in hand.
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Hold {
  method: string
  path: RegExp
  /** The answer is held, not the request. */
  isAfter: boolean
  arrived: () => void
  released: Promise<void>
}

export class Gate {
  readonly #target: () => string | undefined
  readonly #holds: Hold[] = []
  readonly #server = createServer((request, response) => void this.#pass(request, response))

  /** The origin of the Nova behind it. */
  constructor(target: () => string | undefined) {
    this.#target = target
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v2.1`
  }

  /** Holds the next such request; `arrived` resolves when it is there. */
  hold(method: string, path: RegExp, isAfter = false): { arrived: Promise<void>; release: () => void } {
    const [arrival, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    this.#holds.push({ method, path, isAfter, arrived: arrival.resolve, released: release.promise })
    return { arrived: arrival.promise, release: release.resolve }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray())
    const at = this.#holds.findIndex(({ method, path }) => method === request.method && path.test(request.url!))
    const [hold] = at < 0 ? [] : this.#holds.splice(at, 1)
    if (hold && !hold.isAfter) {
      hold.arrived()
      await hold.released
    }
    const target = this.#target()
    // Nothing is behind it yet.
    if (target === undefined) return void request.socket.destroy()
    const { hostname, port } = new URL(target)
    const { method, url: path, headers } = request
    const outgoing = send({ hostname, port, method, path, headers: { ...headers, connection: 'close' } })
    outgoing.on('error', () => request.socket.destroy())
    outgoing.on('response', answer => void this.#answer(answer, response, hold))
    outgoing.end(body)
  }

  async #answer(answer: IncomingMessage, response: ServerResponse, hold: Hold | undefined): Promise<void> {
    const body = Buffer.concat(await answer.toArray())
    if (hold?.isAfter) {
      hold.arrived()
      await hold.released
    }
    const { 'transfer-encoding': _, connection: __, ...headers } = answer.headers
    response.writeHead(answer.statusCode!, { ...headers, 'content-length': body.length })
    response.end(body)
  }
}
