// A server that answers as it is told, for the client of Nova: each request is kept, and gets the next answer.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface Asked {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: unknown
}

/** Closes the connection without an answer. */
export const LOST = 'lost'
export type Told = { status: number; body?: unknown; text?: string } | typeof LOST

export class Answers {
  readonly asked: Asked[] = []
  /** The next answers, in order. */
  readonly next: Told[] = []
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v2.1`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const { method = '', url = '', headers } = request
    this.asked.push({ method, path: url, headers, body: text === '' ? null : JSON.parse(text) })
    const told = this.next.shift() ?? { status: 200, body: {} }
    if (told === LOST) {
      response.destroy()
      return
    }
    response.writeHead(told.status, { 'content-type': 'application/json' })
    response.end(told.text ?? (told.body === undefined ? '' : JSON.stringify(told.body)))
  }
}
